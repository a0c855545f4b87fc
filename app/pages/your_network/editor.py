"""The side bar's first half on the page "Your network": which network, checkpoint and part, and weights from a file."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import panel as pn
import panel_material_ui as pmui
from torch import Tensor

from app.pages.your_network.config import ALL_PARTS, NETWORKS, OPTIMIZERS, NetworkChoice, parts
from llc_core.fields import one_line
from llc_core.networks import build_model, load_state
from llc_core.networks.files import SUFFIXES

LARGEST_FILE = 64_000_000
FROM_FILE = -1
"""In the list of checkpoints: the parameters of the file that was opened."""


class CheckpointEditor(pn.viewable.Viewer):
    """`choice` is what `show` or the visitor selected last, `weights` the parameters of an opened file, or None.

    listener: called after another selection.  on_weights: called with the name of a file whose weights are selected now.
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
            label="Open weights", accept=".safetensors,.pt", sizing_mode="stretch_width", margin=(6, 0)
        )
        self.upload.param.watch(self._on_upload, "value")
        selects = (self.network, self.optimizer, self.checkpoint, self.part)
        self._view = pn.Column(*selects, self.upload, sizing_mode="stretch_width", margin=0)

    def __panel__(self) -> pn.viewable.Viewable:
        return self._view

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
        content, name = self.upload.value, str(self.upload.filename or "")
        if not content:
            return
        self.upload.value = None  # so that the same file can be opened again
        with pn.io.hold():
            try:
                weights = read_weights(content, name, self.choice.network)
            except ValueError as error:
                self.complain(str(error))
                return
            self.show(self.choice, weights)
            self.on_weights(name)


def read_weights(content: bytes, name: str, network: str) -> dict[str, Tensor]:
    """Parameters in the file `name`. Raises ValueError, one sentence, where they are none of this network."""
    ending, name = Path(name).suffix, one_line(name)
    if ending not in SUFFIXES:
        raise ValueError(f"{name} is of another kind; weights must end in one of {', '.join(SUFFIXES)}.")
    if len(content) > LARGEST_FILE:
        raise ValueError(f"{name} has {len(content) / 1e6:.0f} MB; weights for this page have at most 64 MB.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"weights{ending}"
        path.write_bytes(content)
        try:
            weights = load_state(path)
        except ValueError as error:
            raise ValueError(str(error).replace(path.name, name)) from None
    offered = NETWORKS[network]
    try:
        build_model(offered.model).load_state_dict(weights)
    except RuntimeError:
        raise ValueError(
            f"The weights in {name} are not of “{offered.title}”; choose the network that they belong to."
        ) from None
    return weights
