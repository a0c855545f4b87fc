"""Which network, which checkpoint, which part of it, and how to sample: what a link of the page "Your network" holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.controls.run_fields import DEFAULTS
from llc_core.fields import FieldError, Settings, choice, hyper
from llc_core.networks import build_model
from llc_core.networks.parts import NamedPart

ALL_PARTS = str(NamedPart())
ESTIMATE_DEFAULTS: dict[str, Any] = {
    **DEFAULTS,
    "sampler": {"name": "SGLD"},
    "gradient": "minibatch",
    "chains": 4,
    "steps": 2000,
    "localization": 100.0,
    "batch_size": 256,
}
"""Settings of the estimate where a configuration says nothing. γ = 100 as in Lau, Murfet & Wei."""


OPTIMIZERS: dict[str, dict[str, Any]] = {
    "SGD with momentum": {"name": "MomentumSGD", "learning_rate": 0.05},
    "Entropy-SGD": {"name": "EntropySGD"},
    "Adam": {"name": "Adam"},
}


@dataclass(frozen=True)
class OfferedNetwork:
    """A network that the page trains.

    steps: of its training.  checkpoints: after how many of them it is kept.
    settings: of RunConfig, where they differ from the page's defaults.  rates: fields of optimisers that differ, by name.
    """

    title: str
    model: Mapping[str, Any]
    data: str
    steps: int
    checkpoints: tuple[int, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    rates: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


TEXT = {"sequences": 512, "length": 16, "vocabulary": 12}
"""Arguments of `synthetic_text`, which is the data set "text"."""

NETWORKS = {
    "small": OfferedNetwork(
        "Digits, one hidden layer of 32",
        {"kind": "mlp", "widths": [64, 32, 10]},
        "digits",
        1000,
        (0, 30, 100, 200, 400, 700, 1000),
    ),
    "deep": OfferedNetwork(
        "Digits, two hidden layers of 64",
        {"kind": "mlp", "widths": [64, 64, 64, 10]},
        "digits",
        1500,
        (0, 50, 150, 300, 600, 1000, 1500),
    ),
    "heads": OfferedNetwork(
        "Tokens, two layers of four attention heads",
        {"kind": "transformer", "vocabulary": 12, "length": 16, "dim": 16, "layers": 2, "heads": 4},
        "text",
        600,
        (0, 100, 200, 400, 600),
        {"steps": 400, "batch_size": 32},
        {"MomentumSGD": {"learning_rate": 0.1}},
    ),
}


@dataclass(frozen=True)
class NetworkChoice(Settings):
    """checkpoint: after so many training steps, all of them where nothing is said.  part: name of a `NamedPart`."""

    network: str = hyper(next(iter(NETWORKS)), choices=tuple(NETWORKS))
    optimizer: str = hyper(next(iter(OPTIMIZERS)), choices=tuple(OPTIMIZERS))
    train_seed: int = hyper(0, 0, 999_999)
    checkpoint: int | None = hyper(None)
    part: str = hyper(ALL_PARTS, read=lambda label, value: value)

    def agree(self) -> None:
        offered = NETWORKS[self.network]
        if self.checkpoint is None:
            self._put("checkpoint", offered.steps)
        if self.checkpoint not in offered.checkpoints:
            kept = ", ".join(map(str, offered.checkpoints))
            raise FieldError("checkpoint", f"is {self.checkpoint}; this network was kept after {kept} steps.")
        choice("part", self.part, tuple(parts(self.network).values()))

    @property
    def moves(self) -> NamedPart:
        return NamedPart.read(self.part)


def parts(network: str) -> dict[str, str]:
    """What may move: words → the value of `NetworkChoice.part`."""
    model = build_model(NETWORKS[network].model)
    found = {"all parameters": ALL_PARTS}
    names = dict.fromkeys(name.rsplit(".", 1)[0] for name, _ in model.named_parameters())
    found.update({f"layer {name}": str(NamedPart(name)) for name in names})
    blocks = getattr(model, "blocks", ())
    for layer, block in enumerate(blocks):
        for head in range(block.attention.heads):
            found[f"layer {layer + 1}, head {head + 1}"] = str(NamedPart(head=(layer, head)))
    return found


def pattern(layer: str) -> str:
    """A pattern for the names of all parameters of a layer. The parameter "positions" belongs to no layer."""
    return layer if layer == "positions" else f"{layer}.*"
