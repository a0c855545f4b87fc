"""What one comparison on the page "Stationary bias" is made of: a target, two samplers, and how long they run."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from json import dumps
from typing import Any

from llc_core.fields import number, short, whole
from llc_core.samplers.base import Sampler
from llc_core.samplers.registry import build

SIDES = ("left", "right")
STEP = 1e-3
DECAY = 0.55
"""Exponent of the decreasing steps of Rensmeyer & Niggemann 2025: ε_n = ε/n^0.55."""
MAX_CHAINS, MAX_STEPS = 100_000, 10_000_000
CHAIN_BYTES = 2 * 8 * 16
"""Of one chain on both sides: its state, what the samplers remember, and what counting it takes."""


def _psgld() -> dict[str, Any]:
    return {"name": "PSGLD", "step_size": STEP, "alpha": 0.9, "stability": 0.1}


def _corrected() -> dict[str, Any]:
    # A memory short enough for the correction to work at this step: ε ≪ stability³·(1 − α).
    return {"name": "CorrectedPSGLD", "step_size": STEP, "alpha": 0.5, "stability": 0.1}


@dataclass(frozen=True)
class BiasConfig:
    """JSON-able; equal configurations give equal numbers.

    target: description of a landscape.  left, right: descriptions of samplers; step_size None means 1e-3.
    burn_in: share of the steps.  step_decay: exponent by which steps shrink, 0 for constant ones.
    Raises ValueError with a sentence for the user.
    """

    target: Mapping[str, Any] = field(default_factory=lambda: {"kind": "landscape", "name": "normal"})
    left: Mapping[str, Any] = field(default_factory=_psgld)
    right: Mapping[str, Any] = field(default_factory=_corrected)
    chains: int = 4_000
    steps: int = 60_000
    burn_in: float = 0.08
    step_decay: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "chains", whole("chains", self.chains, 100, MAX_CHAINS))
        put(self, "steps", whole("steps", self.steps, 100, MAX_STEPS))
        put(self, "seed", whole("seed", self.seed, 0))
        for name, high in (("burn_in", 0.95), ("step_decay", 0.95)):
            value = number(name, getattr(self, name))
            if not 0 <= value <= high:
                raise ValueError(f"{name} is {value:g}; it must be at least 0 and at most {high:g}.")
            put(self, name, value)
        put(self, "target", dict(self.target))
        for side in SIDES:
            sampler = build(getattr(self, side))
            if getattr(sampler, "step_size", None) is None:
                sampler = sampler.replace(step_size=STEP)
            if sampler.line() is None:
                raise ValueError(f"{sampler.label} has no form on the line; choose another sampler.")
            put(self, side, sampler.to_dict())

    @classmethod
    def from_dict(cls, data: Any) -> BiasConfig:
        """From parsed JSON; ValueError for anything that is not a comparison."""
        if not isinstance(data, Mapping):
            raise ValueError(f"A comparison must be a JSON object, not a {type(data).__name__}.")
        known = [f.name for f in dataclasses.fields(cls)]
        unknown = sorted(str(key) for key in data if key not in known)
        if unknown:
            raise ValueError(
                f"Unknown key {short(unknown[0])} in the comparison; known keys: {', '.join(sorted(known))}."
            )
        for name in ("target", *SIDES):
            value = data.get(name, {})
            if not isinstance(value, Mapping) or not isinstance(value.get("name", ""), str):
                raise ValueError(f"{name} must be a mapping of names to values.")
        return cls(**data)

    @property
    def burn_in_steps(self) -> int:
        return int(self.burn_in * self.steps)

    @property
    def memory(self) -> float:
        """Bytes that the run takes."""
        return CHAIN_BYTES * self.chains

    def sampler(self, side: str) -> Sampler:
        return build(getattr(self, side))

    def replace(self, **changes: Any) -> BiasConfig:
        return dataclasses.replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    def key(self) -> str:
        return dumps(self.to_dict(), sort_keys=True)


def on_the_line(samplers: Mapping[str, type[Sampler]]) -> dict[str, type[Sampler]]:
    """Those that have a form on the line, in the order of the page's list."""
    first = ("PSGLD", "CorrectedPSGLD", "FrozenPSGLD", "MongeSGLD", "ShampooSGLD", "DriftAdamSGLD", "SGLD")
    found = {name: cls for name, cls in samplers.items() if "step_size" in _fields(cls) and cls().line() is not None}
    return dict(sorted(found.items(), key=lambda item: (first + (item[0],)).index(item[0])))


def _fields(cls: type[Sampler]) -> set[str]:
    return {f.name for f in dataclasses.fields(cls)}
