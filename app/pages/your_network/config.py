"""Which network, which checkpoint, which part of it, and how to sample: what a link of the page "Your network" holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from llc_core.fields import choice, whole

ALL_PARTS = "all"
DEFAULTS: dict[str, Any] = {
    "sampler": {"name": "SGLD"},
    "gradient": "minibatch",
    "chains": 4,
    "steps": 2000,
    "burn_in": 0.5,
    "continued_from": None,
    "localization": 100.0,
    "n_beta": None,
    "batch_size": 256,
    "seed": 0,
    "dtype": None,
}
"""Of the estimate. γ = 100 as in Lau, Murfet & Wei."""


@dataclass(frozen=True)
class Choice:
    """checkpoint: after so many training steps.  part: "all", "layer:name" or "head:layer.head"."""

    network: str
    optimizer: str
    train_seed: int
    checkpoint: int
    part: str

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def read_choice(values: Mapping[str, Any]) -> tuple[Choice, dict[str, Any]]:
    """The choice and the settings of the estimate in a link or file; ValueError, one sentence, for anything else."""
    from app.pages.your_network.scene import OPTIMIZERS, ZOO, check_run, parts

    if not isinstance(values, Mapping):
        raise ValueError("The configuration must be a mapping of names to values.")
    known = [*Choice.__dataclass_fields__, *DEFAULTS]
    for name in values:
        if name not in known:
            raise ValueError(f"This page has no setting {name!r}; it has {', '.join(known)}.")
    network = choice("network", values.get("network", next(iter(ZOO))), tuple(ZOO))
    checkpoint = whole("checkpoint", values.get("checkpoint", ZOO[network].steps))
    if checkpoint not in ZOO[network].checkpoints:
        kept = ", ".join(map(str, ZOO[network].checkpoints))
        raise ValueError(f"checkpoint is {checkpoint}; this network was kept after {kept} steps.")
    found = Choice(
        network,
        choice("optimizer", values.get("optimizer", next(iter(OPTIMIZERS))), tuple(OPTIMIZERS)),
        whole("train_seed", values.get("train_seed", 0), 0, 999_999),
        checkpoint,
        choice("part", values.get("part", ALL_PARTS), tuple(parts(network).values())),
    )
    settings = {**DEFAULTS, **ZOO[network].settings, **{k: v for k, v in values.items() if k in DEFAULTS}}
    return found, check_run(found, settings)
