"""What one comparison on the page "Stationary bias" is made of: a target, two samplers, and how long they run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from llc_core.config import json_table
from llc_core.fields import Settings, field_names, hyper, short
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


def _target(label: str, given: Any) -> dict[str, Any]:
    found = json_table(label, given)
    if not isinstance(found.get("name", ""), str):
        raise ValueError(f"{label}.name is {short(found['name'])}; give the name of a landscape.")
    return found


def _side(label: str, given: Any) -> dict[str, Any]:
    sampler = build(json_table(label, given))
    if getattr(sampler, "step_size", None) is None:
        sampler = sampler.replace(step_size=STEP)
    if sampler.line() is None:
        raise ValueError(f"{sampler.label} has no form on the line; choose another sampler.")
    return sampler.to_dict()


@dataclass(frozen=True)
class BiasConfig(Settings):
    """JSON-able; equal configurations give equal numbers.

    target: description of a landscape.  left, right: descriptions of samplers; step_size None means 1e-3.
    burn_in: share of the steps.  step_decay: exponent by which steps shrink, 0 for constant ones.
    Raises ValueError with a sentence for the user.
    """

    what = "comparison"

    target: Mapping[str, Any] = hyper(lambda: {"kind": "landscape", "name": "normal"}, read=_target)
    left: Mapping[str, Any] = hyper(_psgld, read=_side)
    right: Mapping[str, Any] = hyper(_corrected, read=_side)
    chains: int = hyper(
        4_000, 100, MAX_CHAINS, log=True, help="Independent chains on each side; they start in the target."
    )
    steps: int = hyper(60_000, 100, MAX_STEPS, log=True, help="Steps of each chain.")
    burn_in: float = hyper(0.08, 0.0, 0.95, help="Share of the steps that is not counted while the chains settle.")
    step_decay: float = hyper(0.0, 0.0, 0.95)
    seed: int = hyper(0, 0, help="Seed of the chains' starting points and noise.")

    @property
    def burn_in_steps(self) -> int:
        return int(self.burn_in * self.steps)

    @property
    def memory(self) -> float:
        """Bytes that the run takes."""
        return CHAIN_BYTES * self.chains

    def sampler(self, side: str) -> Sampler:
        return build(getattr(self, side))


def on_the_line(samplers: Mapping[str, type[Sampler]]) -> dict[str, type[Sampler]]:
    """Those that have a form on the line, in the order of the page's list."""
    first = ("PSGLD", "CorrectedPSGLD", "FrozenPSGLD", "MongeSGLD", "ShampooSGLD", "DriftAdamSGLD", "SGLD")
    found = {
        name: cls for name, cls in samplers.items() if "step_size" in field_names(cls) and cls().line() is not None
    }
    return dict(sorted(found.items(), key=lambda item: (first + (item[0],)).index(item[0])))
