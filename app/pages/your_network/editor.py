"""Which network on the page "Your network": in the bar the network and its checkpoint, in the side bar the rest and files."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import panel as pn
import panel_material_ui as pmui
from torch import Tensor

from app.controls.uploads import taken
from app.pages.your_network.config import ALL_PARTS, NETWORKS, OPTIMIZERS, NetworkChoice, parts
from app.style.layout import Viewed, cell
from llc_core.fields import one_line
from llc_core.networks import build_model, load_state
from llc_core.networks.files import SUFFIXES

UPLOAD = "Open weights…"
LARGEST_FILE = 64_000_000
MOST_TOLD = 6
"""Tensors that a sentence names."""
OTHER_KINDS = {
    ".txt": "is a text, and numbers in words are not read",
    ".pkl": "is a pickle, which may hold Python objects and run code when it is opened",
    ".pth": "may hold Python objects; save model.state_dict() as .safetensors",
}
"""Endings of files that people try, and what is to be said of them."""
FROM_FILE = -1
"""In the list of checkpoints: the parameters of the file that was opened."""


class CheckpointEditor(Viewed):
    """`choice` is what `show` or the visitor selected last, `weights` the parameters of an opened file, or None.

    choices: for the bar.  listener: called after another selection.  on_weights: called with the name of a file whose weights are selected now.
    complain: called with one sentence on a file that cannot be used.
    """

    choice: NetworkChoice

    def __init__(self) -> None:
        super().__init__()
        self.listener: Callable[[], None] = lambda: None
        self.on_weights: Callable[[str], None] = lambda name: None
        self.complain: Callable[[str], None] = lambda message: None
        self.weights: Mapping[str, Tensor] | None = None
        self._quiet = False
        self.network = self._select("Network", {offered.title: key for key, offered in NETWORKS.items()})
        self.optimizer = self._select("Trained by", {name: name for name in OPTIMIZERS})
        self.checkpoint = self._select("Checkpoint", {})
        self.part = self._select("What moves", {})
        self.upload = pmui.FileInput(
            label=UPLOAD, uploaded_label=UPLOAD, accept=",".join((*SUFFIXES, *OTHER_KINDS)), sizing_mode="stretch_width",
            margin=(6, 0),
        )  # fmt: skip
        self.upload.param.watch(self._on_upload, "value")
        self.choices = self.network, self.checkpoint
        self._view = cell(self.optimizer, self.part, self.upload)

    def show(self, choice: NetworkChoice, weights: Mapping[str, Tensor] | None = None) -> None:
        """Select this, without reporting a change."""
        self.choice, self.weights = choice, weights
        steps: dict[str, int] = {f"after {step:,} steps": step for step in NETWORKS[choice.network].checkpoints}
        if weights is not None:
            steps = {"the file’s weights": FROM_FILE, **steps}
        self._quiet = True
        try:
            self.network.value, self.optimizer.value = choice.network, choice.optimizer
            self.checkpoint.param.update(options=steps, value=FROM_FILE if weights is not None else choice.checkpoint)
            self.part.param.update(options=parts(choice.network), value=choice.part)
        finally:
            self._quiet = False

    def _select(self, label: str, options: dict[str, Any]) -> pmui.Select:
        select = pmui.Select(
            label=label, options=options, size="small", sizing_mode="stretch_width", margin=(8, 0),
            value=next(iter(options.values()), None),
        )  # fmt: skip
        select.param.watch(self._on_select, "value")
        return select

    def _on_select(self, event: Any) -> None:
        if self._quiet:
            return
        network = self.network.value
        offered, changed = NETWORKS[network], network != self.choice.network
        from_file = not changed and self.checkpoint.value == FROM_FILE
        step = self.checkpoint.value if self.checkpoint.value in offered.checkpoints else offered.steps
        part = self.part.value if not changed and self.part.value in parts(network).values() else ALL_PARTS
        with pn.io.hold():
            choice = NetworkChoice(network, self.optimizer.value, self.choice.train_seed, step, part)
            self.show(choice, self.weights if from_file else None)
            self.listener()

    def _on_upload(self, event: Any) -> None:
        """Weights from a file: plain tensors that fit the network, or one sentence."""
        content, name = taken(self.upload)
        if not content:
            return
        with pn.io.hold():
            try:
                network, weights = read_weights(content, name, self.choice.network)
            except ValueError as error:
                self.complain(str(error))
                return
            choice = self.choice
            if network != choice.network:
                choice = replace(choice, network=network, checkpoint=NETWORKS[network].steps, part=ALL_PARTS)
            self.show(choice, weights)
            self.on_weights(name)


def read_weights(content: bytes, name: str, network: str) -> tuple[str, dict[str, Tensor]]:
    """The network that the weights in the file `name` belong to, `network` if they fit it, and the weights.

    A multilayer perceptron is known by the shapes of its tensors, whatever they are called. Raises ValueError, one sentence,
    where the file is none of weights, or fits no network of the page.
    """
    ending, name = Path(name).suffix, one_line(name)
    if ending not in SUFFIXES:
        why = OTHER_KINDS.get(ending.lower(), "is of another kind")
        raise ValueError(f"{name} {why}; weights must end in one of {', '.join(SUFFIXES)}.")
    if len(content) > LARGEST_FILE:
        raise ValueError(f"{name} has {len(content) / 1e6:.0f} MB; weights for this page have at most 64 MB.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"weights{ending}"
        path.write_bytes(content)
        try:
            weights = load_state(path)
        except ValueError as error:
            raise ValueError(str(error).replace(path.name, name)) from None
    for key in (network, *(key for key in NETWORKS if key != network)):
        expected = shapes(build_model(NETWORKS[key].model).state_dict())
        if shapes(weights) == expected:
            return key, weights
        if NETWORKS[key].model["kind"] == "mlp" and list(shapes(weights).values()) == list(expected.values()):
            return key, dict(zip(expected, weights.values(), strict=True))
    raise ValueError(misfit(name, weights, network))


def shapes(weights: Mapping[str, Tensor]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(tensor.shape) for name, tensor in weights.items()}


def misfit(name: str, weights: Mapping[str, Tensor], network: str) -> str:
    """A sentence on which tensors of which shapes were expected, and which are there."""
    expected = shapes(build_model(NETWORKS[network].model).state_dict())
    return (
        f"The weights in {name} fit no network of this page: “{NETWORKS[network].title}” has {_listed(expected)}; "
        f"the file has {_listed(shapes(weights))}."
    )


def _listed(found: Mapping[str, tuple[int, ...]]) -> str:
    words = [
        f"{one_line(name)[:40]} ({' × '.join(map(str, shape)) or 'a number'})"
        for name, shape in [*found.items()][:MOST_TOLD]
    ]
    rest = len(found) - len(words)
    return ", ".join(words) + (f" and {rest} more" if rest > 0 else "") if words else "none"
