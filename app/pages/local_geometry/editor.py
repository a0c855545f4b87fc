"""Which network: in the bar its layers and ranks, drawn and typed; in the side bar a random one of a size class, the seed and the data.
Long, since one description is typed, dragged on a drawing, and drawn at random."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Any

import panel as pn
import panel_material_ui as pmui

from app.components.drawings.net import Net
from app.controls.fields import ChoiceField, NumberField
from app.controls.parsing import parse_numbers
from app.pages.local_geometry.config import CLASSES, check_size, class_price, price_words
from app.pages.local_geometry.pictures import SIDE, draw_network
from app.style import theme
from app.style.layout import cell, complain, complaint, prose
from llc_core import DeepLinearNetwork
from llc_core.fields import FieldError, Hyper
from llc_core.potentials.deep_linear.random_networks import RANKS, check_architecture, check_layer_ranks

BY_HAND, RANDOM = "By hand", "Random"
DATA = {name: signature(DeepLinearNetwork.random).parameters[name].default for name in ("n", "noise_std")}
"""Samples and noise of a network whose description says nothing of them."""
NET = {"width": 240, "height": 88}
"""Of the drawing, in the units of SVG."""
RANK_LABELS = {
    "equal": "equal in all layers (local = global)",
    "full": "full (no reduction)",
    "paper": "as in the paper (local ≥ global)",
}


class NetworkEditor(pn.viewable.Viewer):
    """`problem` is the last valid description; bad input leaves it as it was and shows a sentence under the entry.

    `choices` are for the bar. `listener` is called when the user has made a new valid problem.
    """

    def __init__(self, problem: Mapping[str, Any]):
        super().__init__()
        self.listener: Callable[[], None] = lambda: None
        self.problem: dict[str, Any] = dict(problem)
        self._quiet = False
        self._mode = pmui.RadioButtonGroup(
            options=[BY_HAND, RANDOM],
            value=BY_HAND,
            size="small",
            sizing_mode="stretch_width",
            margin=(0, 0, 8, 0),
            sx=theme.AS_WRITTEN,
        )
        self.net = Net(edge=SIDE / NET["width"], sizing_mode="stretch_width", margin=0)
        self.net.listener, self.net.dragged = self._on_net, self._on_drag
        self._held: tuple[list[int], list[int]] | None = None
        self.widths = _entry("Layer sizes", "8, 6, 8")
        self.ranks = _entry("Layer ranks (empty: full)", "full")
        self.ranks.styles = {"order": "2"}
        self.message = complaint(margin=0)
        self._class = ChoiceField("size_class", Hyper(choices=CLASSES), "1K", label="Size (parameters)")
        self._prices = prose(margin=(0, 0, 8, 0))
        self._rule = ChoiceField("ranks", Hyper(choices=RANKS), "equal", RANK_LABELS, label="Ranks")
        self._seed = NumberField(
            "seed",
            Hyper(0, 999_999, help="Seed of the network's weights and of its data."),
            0,
            integer=True,
            label="Network seed",
            span=(0, 100),
        )
        samples = Hyper(10, 10**8, log=True, help="How many rows of data there are. nβ follows it: n / log n.")
        self._data = {
            "n": NumberField("n", samples, DATA["n"], integer=True, label="Samples n", span=(100, 10**7)),
            "noise_std": NumberField(
                "noise_std", Hyper(0, 100, help="Standard deviation of the noise on the outputs."), DATA["noise_std"],
                label="Noise σ", span=(0, 2),
            ),
        }  # fmt: skip
        self.choices = self.net, cell(self.widths, self.ranks, self.message)
        self._random = cell(visible=False)
        self._view = cell(self._mode, self._random, self._seed, *self._data.values())
        self._mode.param.watch(self._on_mode, "value")
        self.widths.param.watch(self._on_text, "value")
        self.ranks.param.watch(self._on_text, "value")
        for field in (self._class, self._rule, self._seed, *self._data.values()):
            field.listener = self._on_change
        self.show(problem)

    def __panel__(self) -> pn.viewable.Viewable:
        return self._view

    def show(self, problem: Mapping[str, Any]) -> None:
        """Set the entries to a problem, without reporting a change."""
        self._quiet = True
        try:
            by_hand = "widths" in problem
            self._mode.value = BY_HAND if by_hand else RANDOM
            self._seed.set(problem.get("seed", 0))
            for name, field in self._data.items():
                field.set(problem.get(name, DATA[name]))
            if by_hand:
                self.widths.value = ", ".join(map(str, problem["widths"]))
                ranks = problem.get("layer_ranks")
                if ranks is None:  # drawn by a rule, as in a sweep over an architecture
                    self.ranks.value = problem.get("ranks", "").replace("full", "")
                else:
                    self.ranks.value = "" if ranks == _full(problem["widths"]) else ", ".join(map(str, ranks))
            else:
                self._class.set(problem["size_class"])
                self._rule.set(problem["ranks"])
        finally:
            self._quiet = False
        self.problem = dict(problem)
        self._held = None
        self._arrange()
        self._complain(None)

    def draw(self, widths: Sequence[int], ranks: Sequence[int]) -> None:
        """Show the network that is run now; of a random one the entries say what it has become."""
        if self._mode.value == RANDOM:
            self._write(list(widths), list(ranks))
        self.net.param.update(picture=draw_network(widths, ranks, **NET), widths=list(widths), ranks=list(ranks))

    def read(self) -> dict[str, Any]:
        """The problem that the entries describe; ValueError with one sentence."""
        data = {name: field.value for name, field in self._data.items() if field.value != DATA[name]}
        data = {"seed": self._seed.value, **data}
        if self._mode.value == RANDOM:
            return {"kind": "dln", "size_class": self._class.value, "ranks": self._rule.value, **data}
        widths = check_architecture(parse_numbers(self.widths.value, "Widths"))
        check_size({"kind": "dln", "widths": widths, **data})
        ranks = _full(widths)
        rule = self.ranks.value.strip().lower()
        if rule in RANKS and rule != "full":
            return {"kind": "dln", "widths": widths, "ranks": rule, **data}
        if rule not in ("", "full"):
            ranks = check_layer_ranks(widths, parse_numbers(self.ranks.value, "Layer ranks"))
        return {"kind": "dln", "widths": widths, "layer_ranks": ranks, **data}

    def _arrange(self) -> None:
        random = self._mode.value == RANDOM
        if random and not self._random.objects:
            self._random.objects = [
                self._class,
                self._prices,
                self._rule,
            ]  # not built before they are wanted: the page loads sooner
        self._random.visible = random
        if random:
            self._show_prices()

    def _show_prices(self) -> None:
        """What networks of these seed and data take, and which classes are too large for here."""
        prices = {name: class_price({**self.read(), "size_class": name}) for name in CLASSES}
        self._class.leave_out([name for name, found in prices.items() if found.room is not None])
        self._prices.object = price_words(prices, self._class.value)

    def _write(self, widths: list[int], ranks: list[int]) -> None:
        """Set the two entries, without reporting a change."""
        quiet, self._quiet = self._quiet, True
        try:
            self.widths.value = ", ".join(map(str, widths))
            self.ranks.value = "" if ranks == _full(widths) else ", ".join(map(str, ranks))
        finally:
            self._quiet = quiet

    def _on_net(self, deed: str, place: int, by: int) -> None:
        self._held = None
        with pn.io.hold():
            self._write(*changed(self.net.widths, self.net.ranks, deed, place, by))
            self._on_text()

    def _on_drag(self, deed: str, place: int, to: int, done: bool) -> None:
        """A layer or a rank is held. It is drawn on the way, from what it was before, and run once it is let go."""
        if self._held is None:
            self._held = list(self.net.widths), list(self.net.ranks)
        widths, ranks = self._held
        with pn.io.hold():
            self._write(
                *changed(widths, ranks, deed, place, to - (widths if deed == "layer" else ranks)[place], step=1)
            )
            self._on_text(run=done)
        if done:
            self._held = None

    def _on_text(self, event: Any = None, run: bool = True) -> None:
        """What is typed is a network by hand, whatever was there before."""
        if self._quiet:
            return
        self._quiet = True
        self._mode.value = BY_HAND
        self._quiet = False
        self._arrange()
        self._on_change(run=run)

    def _on_mode(self, event: Any) -> None:
        if not self._quiet:
            self._arrange()
            self._on_change()

    def _on_change(self, event: Any = None, run: bool = True) -> None:
        if self._quiet:
            return
        try:
            problem = self.read()
        except ValueError as error:
            self._complain(error)
            return
        self._complain(None)
        if self._mode.value == RANDOM:
            self._show_prices()
        if "layer_ranks" in problem:  # at once, and not with its run: the next press is on what it shows
            self.draw(problem["widths"], problem["layer_ranks"])
        if run and problem != self.problem:
            self.problem = problem
            self.listener()

    def _complain(self, error: ValueError | None) -> None:
        in_ranks = isinstance(error, FieldError) and error.field in ("layer_ranks", "Layer ranks")
        self.widths.error_state = error is not None and not in_ranks
        self.ranks.error_state = in_ranks
        self.message.styles = {"order": "3" if in_ranks else "1"}  # under its own entry
        complain(self.message, "" if error is None else for_people(error))


def changed(
    widths: Sequence[int], ranks: Sequence[int], deed: str, place: int, by: int, step: int | None = None
) -> tuple[list[int], list[int]]:
    """Widths and ranks after a press on the drawing, see `Net`. Ranks that were full stay so; others are as high as they may be.

    step: units of a layer for one of `by`; None: a tenth of those that it has.
    """
    widths, ranks, full = list(widths), list(ranks), list(ranks) == _full(widths)
    inner = 0 < place < len(widths) - 1
    if deed == "rank":
        ranks[place], full = max(ranks[place] + by, 0), False
    elif deed == "add":
        widths.insert(place + 1, min(widths[place : place + 2]))
        ranks.insert(place, ranks[place])
    elif deed == "remove" or (widths[place] == 1 and by < 0):
        if inner:
            del widths[place], ranks[place]
    else:
        widths[place] += by * (step or max(1, widths[place] // 10))
    most = _full(widths)
    return widths, most if full else [min(each) for each in zip(ranks, most, strict=True)]


def for_people(error: ValueError) -> str:
    """The engine's sentence in the words of this page: "widths[1] is -6; …" → "Width number 2 is -6; …"."""
    if not isinstance(error, FieldError):
        return str(error)
    one = {"widths": "Width number", "layer_ranks": "The rank of layer"}
    if error.field in one and error.places:
        return error.about(f"{one[error.field]} {error.places[0] + 1}")
    return error.about(
        {"widths": "The list of widths", "layer_ranks": "Layer ranks: the list"}.get(error.field, error.label)
    )


def _entry(label: str, placeholder: str) -> pmui.TextInput:
    return pmui.TextInput(
        label=label, placeholder=placeholder, size="small", sizing_mode="stretch_width", margin=(5, 0, 2, 0)
    )


def _full(widths: Sequence[int]) -> list[int]:
    return [min(a, b) for a, b in zip(widths, widths[1:], strict=False)]
