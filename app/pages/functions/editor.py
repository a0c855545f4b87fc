"""The side bar's first half: the network, the noise of its data, and the data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import panel as pn
import panel_material_ui as pmui

from app.controls.fields import Field, NumberField, field_of
from app.controls.uploads import taken
from app.pages.functions.cases import CASES
from app.pages.functions.config import (
    DEEP,
    DEEPEST,
    KIND,
    MOST_POINTS,
    WIDEST,
    FunctionsConfig,
    checked_problem,
    network_of,
)
from app.style.layout import Viewed, complain, complaint, folded, prose
from llc_core.fields import Hyper, one_line
from llc_core.networks.data.tables import read_table
from llc_core.potentials.bayesian.network import NoiseAndPrior

PLAIN = ("activation", "likelihood", "noise_variance", "weight_variance", "bias_variance")
"""Keys of the problem that one field each shows."""
LABELS = {"selu": "SELU", "relu": "ReLU", "erf": "erf", "tanh": "tanh", "gaussian": "Gaussian", "laplace": "Laplace"}
DEEP_LABEL = "a deep linear network, 8-8-8 with layers of rank 4: 128 weights, and the product of its layers"
SHARPEST, DIGITS = 10.0, 3
FARTHEST = 1_000.0
"""Of a point that is typed in, from 0."""
LARGEST_FILE = 100_000
"""Bytes of a file of data: 64 points take two thousand."""


class NetworkEditor(Viewed):
    """`problem` is the last valid description; what is wrong leaves it as it was and shows a sentence.

    `listener` is called when the visitor has made another valid problem.
    """

    def __init__(self, problem: Mapping[str, Any]):
        super().__init__()
        self.listener: Callable[[], None] = lambda: None
        self.problem: dict[str, Any] = dict(problem)
        self.fields = _fields()
        for name, field in self.fields.items():
            field.listener = lambda name=name: self._on_field(name)
        self.back = pmui.Button(
            label="Back to the paper’s points", size="small", variant="outlined", margin=(4, 0), visible=False
        )
        self.back.on_click(lambda event: self._take({**self.problem, "data": _wave(7)}))
        self.upload = pmui.FileInput(
            label="Open data (CSV: x, y)", accept=".csv,.txt", sizing_mode="stretch_width", margin=(6, 0)
        )
        self.upload.param.watch(self._on_upload, "value")
        self.place = _place()
        self.add = pmui.Button(label="Add this point", size="small", variant="outlined", margin=(8, 0))
        self.add.on_click(lambda event: self.add_point(*(float(field.value) for field in self.place)))
        self.message = complaint(margin=0)
        self.words = prose(margin=0, visible=False)
        first = ("width", "layers", "activation", "likelihood", "noise_variance", "points")
        self._network = pn.Column(
            *(self.fields[name] for name in first),
            self.upload,
            self.back,
            folded(*self.place, self.add, title="Add a point"),
            folded(self.fields["weight_variance"], self.fields["bias_variance"]),
            sizing_mode="stretch_width",
            margin=0,
        )
        self._view = pn.Column(self.words, self._network, self.message, sizing_mode="stretch_width", margin=0)
        self.show(problem)

    def show(self, problem: Mapping[str, Any]) -> None:
        """Set the fields to a problem, without reporting a change."""
        self.problem = dict(problem)
        self._complain("")
        self._network.visible = problem["kind"] == KIND
        self.words.visible = not self._network.visible
        if self.words.visible:
            label = DEEP_LABEL if problem["kind"] == DEEP else CASES[problem["kind"]]().label
            self.words.object = (
                f'<p class="small">This is {label}. It has nothing to set; other presets are networks.</p>'
            )
            return
        hidden = problem["widths"][1:-1]
        data = problem["data"]
        self.fields["width"].set(hidden[0])
        self.fields["layers"].set(len(hidden))
        self.fields["points"].set(data["n"] if "n" in data else len(data["x"]))
        for name in PLAIN:
            self.fields[name].set(problem[name])
        self.back.visible = "x" in data

    def add_point(self, x: float, y: float) -> None:
        """One more point of the data, where the visitor has tapped, or typed in who uses no pointer."""
        if self.problem["kind"] != KIND:
            self._complain("This case has data of its own; choose a network to add points.")
            return
        data = network_of(self.problem).data
        xs, ys = [*data.x[:, 0].tolist(), round(x, DIGITS)], [*data.y.tolist(), round(y, DIGITS)]
        self._take({**self.problem, "data": {"x": xs, "y": ys}})

    def _on_upload(self, event: Any) -> None:
        """Points from a file, in place of those that are there; what is wrong with it is one sentence."""
        content, name = taken(self.upload)
        if not content:
            return
        with pn.io.hold():
            try:
                data = read_points(content, name)
            except ValueError as error:
                self._complain(str(error))
                return
            self._take({**self.problem, "data": data})

    def _on_field(self, name: str) -> None:
        value = self.fields[name].value
        hidden = self.problem["widths"][1:-1]
        if name == "width":
            self._take({**self.problem, "widths": [1, *[value] * len(hidden), 1]})
        elif name == "layers":
            self._take({**self.problem, "widths": [1, *[hidden[0]] * value, 1]})
        elif name == "points":
            self._take({**self.problem, "data": _wave(value)})
        else:
            self._take({**self.problem, name: value})

    def _take(self, wanted: Mapping[str, Any]) -> None:
        try:
            problem = checked_problem("problem", wanted)
        except ValueError as error:
            self._complain(str(error))
            return
        changed = problem != self.problem
        self.show(problem)
        if changed:
            self.listener()

    def _complain(self, message: str) -> None:
        complain(self.message, message)


def read_points(content: bytes, name: str) -> dict[str, Any]:
    """Data of a network with one input, from CSV with columns x and y. Raises ValueError, one sentence, naming the file."""
    name = one_line(name) or "The file"
    if len(content) > LARGEST_FILE:
        raise ValueError(
            f"{name} has {len(content) / 1000:,.0f} kB; {MOST_POINTS} points of this page take far less than {LARGEST_FILE // 1000}."
        )
    try:
        table = read_table(content.decode("utf-8-sig"), name)
    except UnicodeDecodeError:
        raise ValueError(f"{name} is no text in UTF-8; save it as CSV.") from None
    if table.values.shape[1] != 2:
        raise ValueError(f"{name} has {table.values.shape[1]} column(s); give two, x and y.")
    if len(table) > MOST_POINTS:
        raise ValueError(f"{name} has {len(table):,} points; this page takes up to {MOST_POINTS}: leave some out.")
    return {"x": table.values[:, 0].tolist(), "y": table.values[:, 1].tolist()}


def _wave(points: int) -> dict[str, Any]:
    return {"name": "wave", "n": points, "seed": 0}


def _fields() -> dict[str, Field]:
    problem = FunctionsConfig().problem
    assert problem["kind"] == KIND
    own = partial(field_of, NoiseAndPrior)
    return {
        "width": NumberField("width", Hyper(1, WIDEST, log=True, help="Neurons in each hidden layer."), 20, label="Width", integer=True),
        "layers": NumberField("layers", Hyper(1, DEEPEST, help="Hidden layers."), 2, label="Hidden layers", integer=True),
        "activation": own("activation", labels=LABELS),
        "likelihood": own("likelihood", labels=LABELS),
        "noise_variance": own("noise_variance", "Noise variance", (0.005, 1.0)),
        "points": NumberField(
            "points", Hyper(2, MOST_POINTS, help="Points of the paper's curve. A tap on the figure adds one of your own."), 7,
            label="Data points", integer=True,
        ),
        "weight_variance": own("weight_variance", "Weight variance", (0.1, SHARPEST)),
        "bias_variance": own("bias_variance", "Bias variance", (0.01, SHARPEST)),
    }  # fmt: skip


def _place() -> tuple[NumberField, NumberField]:
    """Where another point of the data is to be: what a tap on the figure says at once."""
    reach = Hyper(-FARTHEST, FARTHEST, help="Of the point to add. A tap on the figure adds one at once.")
    return (
        NumberField("point_x", reach, 0.0, label="Input x of the point", span=(-3.0, 3.0)),
        NumberField("point_y", reach, 0.0, label="Its target y", span=(-4.0, 4.0)),
    )
