"""What one staircase is made of: a network and its teacher, and how long λ̂ is measured at each rest."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from llc_core.fields import Settings, hyper, is_list, number, short, whole

MAX_WIDTH, MAX_LAYERS, MAX_PARAMETERS = 40, 6, 2000
OWN, REAL = "own", "real"
TEACHERS = (OWN, REAL)
ACTIVE = 8 * 40
"""Bytes of a run for each chain and parameter, with room for what a sampler keeps."""


def _widths(label: str, value: Any) -> tuple[int, ...]:
    if not is_list(value) or not 3 <= len(value) <= MAX_LAYERS + 1:
        raise ValueError(f"{label} is {short(value)}; give 3 to {MAX_LAYERS + 1} layer sizes, such as 10, 4, 10.")
    return tuple(whole(label, each, 1, MAX_WIDTH) for each in value)


def _values(label: str, value: Any) -> tuple[float, ...]:
    if not is_list(value) or not 1 <= len(value) <= MAX_WIDTH:
        raise ValueError(f"{label} is {short(value)}; give the teacher's singular values, such as 4, 2, 1, 0.5.")
    found = tuple(number(label, each, 0.05, 100) for each in value)
    if any(after >= before for before, after in pairwise(found)):
        raise ValueError(
            f"{label} are {', '.join(f'{each:g}' for each in found)}; give the largest first, all different."
        )
    return found


@dataclass(frozen=True)
class StagesConfig(Settings):
    """JSON-able; equal configurations give equal numbers. Raises ValueError with a sentence for the visitor."""

    what = "staircase"

    widths: tuple[int, ...] = hyper((10, 4, 10), read=_widths)
    singular_values: tuple[float, ...] = hyper((4.0, 2.0, 1.0, 0.5), read=_values)
    teacher: str = hyper(
        OWN,
        choices=TEACHERS,
        help="Whose data λ̂ is measured on: the network's own, of what it has learned so far, or the real teacher's.",
    )
    steps: int = hyper(500, 100, 20_000, log=True, help="Steps of each chain at each rest. The first fifth is burn-in.")
    chains: int = hyper(8, 2, 32, help="Chains at each rest.")
    seed: int = hyper(0, 0, 10**9, help="Seed of the first weights, of the teacher's directions, and of the chains.")

    def agree(self) -> None:
        if len(self.singular_values) > min(self.widths):
            raise ValueError(
                f"There are {len(self.singular_values)} singular values, and the narrowest layer has {min(self.widths)} units; "
                "give fewer values, or wider layers."
            )
        if self.parameters > MAX_PARAMETERS:
            raise ValueError(
                f"These layers have {self.parameters:,} weights; this page takes up to {MAX_PARAMETERS:,}. Give smaller layers."
            )

    @property
    def parameters(self) -> int:
        return sum(a * b for a, b in pairwise(self.widths))

    @property
    def rests(self) -> int:
        return len(self.singular_values) + 1

    @property
    def memory(self) -> float:
        """Bytes that the run takes at most: one rest after the other."""
        return float(ACTIVE * self.chains * self.parameters + 8 * self.steps * self.chains * self.rests)
