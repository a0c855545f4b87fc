"""The card with the network's weights: at w0, where the first chain is now, and what of them may move."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import panel as pn
from torch import nn

from app.components.drawings.layers import Layers, packed
from app.pages.your_network.config import NETWORKS
from app.pages.your_network.scene import NetworkConfig, state_of, untrained
from app.style.layout import card, prose
from app.style.legend import heading
from llc_core import NetworkPotential
from llc_core.networks import build_model

WAITS = "The weights are drawn once the network has been trained."
ELSEWHERE = "This run has moved w0 to the minimum first, so the chain is not drawn."
DIVERGED = "Chain 1 has diverged; its weights are not drawn."


class DrawingPanel:
    """`show` tells what is run, `move` where the first chain is, `update` draws that: as often as the page's words change."""

    def __init__(self) -> None:
        self._drawing = Layers(sizing_mode="stretch_width", margin=(8, 0, 0, 0), visible=False)
        self._words = prose(margin=(6, 0, 0, 0))
        self._config: NetworkConfig | None = None
        self._problem: NetworkPotential | None = None
        self._place: np.ndarray | None = None
        self.view: pn.Column = card(heading("The weights, and what moves"), self._drawing, self._words)

    def show(self, config: NetworkConfig) -> None:
        """A run begins. What it may move is known at once, the weights once they have been trained."""
        choice = config.choice
        self._config, self._place = config, None
        self._problem = untrained(choice.network, choice.part, config.settings["batch_size"])
        self._drawing.displaced = b""
        self._draw()

    def move(self, displacement: np.ndarray | None) -> None:
        """w − w0 of the first chain [D], or None where nothing is known of it."""
        self._place = displacement

    def update(self) -> None:
        if not self._drawing.visible:
            self._draw()
        if self._problem is None or self._place is None or not self._drawing.visible or self._polished:
            return
        if not np.isfinite(self._place).all():
            self._drawing.displaced = b""
            self._say(DIVERGED)
            return
        self._drawing.displaced = packed(spread_out(self._problem, self._place))

    @property
    def _polished(self) -> bool:
        return self._config is not None and self._config.complete.polish

    def _draw(self) -> None:
        config, problem = self._config, self._problem
        state = None if config is None else state_of(config)
        if config is None or problem is None or state is None:
            self._drawing.visible = False
            self._say(WAITS)
            return
        model = build_model(NETWORKS[config.choice.network].model)
        names = [name for name, _ in model.named_parameters()]
        moves = moving(problem, model)
        self._drawing.param.update(
            tensors=[described(model, name, int(moves[name].sum())) for name in names],
            widths=list(NETWORKS[config.choice.network].model.get("widths", ())),
            w0=packed([state[name].numpy() for name in names]),
            moves=np.concatenate([moves[name].ravel() for name in names]).astype(np.uint8).tobytes(),
            displaced=b"",
            visible=True,
        )
        self._say(ELSEWHERE if self._polished else "")

    def _say(self, words: str) -> None:
        self._words.param.update(object=f'<p class="small muted">{words}</p>', visible=bool(words))


def moving(problem: NetworkPotential, model: nn.Module) -> dict[str, np.ndarray]:
    """Which entries of each parameter may move."""
    found = {name: np.zeros(tuple(tensor.shape), dtype=bool) for name, tensor in model.named_parameters()}
    for piece in problem.pieces:
        found[piece.name].ravel()[... if piece.chosen is None else piece.chosen.numpy()] = True
    return found


def spread_out(problem: NetworkPotential, displacement: np.ndarray) -> list[np.ndarray]:
    """The displacement [D] as one array for each parameter of the network; 0 where nothing moves."""
    found = {name: np.zeros(tensor.numel()) for name, tensor in problem.module.named_parameters()}
    for piece in problem.pieces:
        found[piece.name][... if piece.chosen is None else piece.chosen.numpy()] = displacement[
            piece.start : piece.stop
        ]
    return list(found.values())


def described(model: nn.Module, name: str, moves: int) -> dict[str, Any]:
    """What `Layers` knows of a parameter. The heads of an attention share the rows of what they read, and the columns of `out`."""
    path, _, kind = name.rpartition(".")
    shape = tuple(model.get_parameter(name).shape)
    module = model.get_submodule(path)
    box, heads, title = path or name, 0, "bias" if kind == "bias" else "weights"
    above, _, last = path.rpartition(".")
    if hasattr(model.get_submodule(above), "heads"):
        box, heads, title = above, model.get_submodule(above).heads, last
    words = (
        f"{shape[1]} → {shape[0]}" if isinstance(module, nn.Linear) and len(shape) == 2 else " × ".join(map(str, shape))
    )
    return {
        "name": title,
        "part": f"layer {box}" + (f", {heads} heads" if heads else ""),
        "shape": words,
        "rows": shape[0],
        "columns": math.prod(shape[1:]),
        "moves": moves,
        "heads": heads,
        "along": "columns" if title == "out" else "rows",
    }
