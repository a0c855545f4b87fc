"""The cells that a calibration tried: one estimate for each step size × localisation × nβ, and whether to trust it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from llc_core.diagnostics.signals import health
from llc_core.results import Estimate

PLATEAU_SHARE = 0.05
"""Share of λ̂ that does not count: neighbours may differ by it, and a step may be expected to add it."""
SERIOUS = ("diverged chains", "drift", "sign", "spikes", "gradient term")
R_HAT, ESS = 1.1, 40.0
"""Looser than for a final estimate: a trial only has to show where the plateau is, and its errors are counted."""


@dataclass(frozen=True)
class Trials:
    """Arrays are indexed [step size, localisation, nβ].

    cells: all estimates, nβ first to change.  step_sizes, localizations, n_betas: the values tried, ascending.
    own_localization: the γ that is asked about.  usual_n_beta: n / log n, to which the pick shall be near.
    limit: the stability limit, measured where all chains diverged; else nan.
    """

    cells: list[Estimate]
    step_sizes: list[float]
    localizations: list[float]
    n_betas: list[float]
    own_localization: float
    usual_n_beta: float
    limit: float

    @property
    def shape(self) -> tuple[int, int, int]:
        return len(self.step_sizes), len(self.localizations), len(self.n_betas)

    @property
    def own(self) -> int:
        """Index of the γ that is asked about, or of the one nearest to it."""
        return int(np.argmin(self.localization_distance))

    def cell(self, at: tuple[int, int, int]) -> Estimate:
        return self.cells[int(np.ravel_multi_index(at, self.shape))]

    def table(self, values: list[Any], kind: Any = float) -> np.ndarray:
        """One value for each cell as an array of `shape`."""
        return np.array(values, dtype=kind).reshape(self.shape)

    @cached_property
    def llc(self) -> np.ndarray:
        return self.table([cell.llc for cell in self.cells])

    @cached_property
    def llc_se(self) -> np.ndarray:
        return self.table([cell.llc_se for cell in self.cells])

    @cached_property
    def diverged_fraction(self) -> np.ndarray:
        return self.table([cell.diverged / cell.chains for cell in self.cells])

    @cached_property
    def _judged(self) -> list[tuple[bool, str]]:
        return [judge_trial(cell) for cell in self.cells]

    @cached_property
    def ok(self) -> np.ndarray:
        """Whether a cell may be on a plateau."""
        return self.table([fine for fine, _ in self._judged], bool)

    @cached_property
    def reason(self) -> np.ndarray:
        """Sentences: why a cell is or is not to be trusted."""
        return self.table([text for _, text in self._judged], object)

    @cached_property
    def expected_error(self) -> np.ndarray:
        return self.table([expected_error(cell) for cell in self.cells])

    @cached_property
    def localization_distance(self) -> np.ndarray:
        """|log| of every localisation over the one asked about."""
        own = max(self.own_localization, 1e-300)
        return np.array([abs(math.log(max(value, 1e-300) / own)) for value in self.localizations])

    @cached_property
    def n_beta_distance(self) -> np.ndarray:
        """|log| of every nβ over n / log n."""
        return np.array([abs(math.log(value / self.usual_n_beta)) for value in self.n_betas])


def judge_trial(cell: Estimate) -> tuple[bool, str]:
    """Whether a cell may be on a plateau, and the first sentence against it."""
    for signal in health(cell):
        if signal.name in SERIOUS and not signal.ok:
            return False, signal.sentence
    if cell.r_hat > R_HAT:
        text = f"R-hat is {cell.r_hat:.2f}, above {R_HAT}: the chains tell different stories, so take more steps."
        return False, text
    if cell.ess < ESS:
        return False, f"The chains hold only {cell.ess:.0f} independent draws, below {ESS:.0f}: take more steps."
    step, limit = cell.diagnostics["step_size"], cell.diagnostics["stability_limit"]
    if math.isnan(cell.diagnostics["acceptance"]) and step > limit:
        return False, f"The step size {step:.2g} is above the stability limit {limit:.2g}: λ̂ is inflated."
    added = expected_bias(cell) / cell.llc
    if added > PLATEAU_SHARE:
        return False, f"Step size and minibatch noise are expected to add {added:.0%} to λ̂: reduce step_size."
    return True, "The chains agree and have settled."


def expected_bias(cell: Estimate) -> float:
    """What step size and minibatch noise are expected to add to λ̂."""
    return cell.diagnostics["step_bias"] + cell.diagnostics["noise_inflation"]


def expected_error(cell: Estimate) -> float:
    """Noise and bias of λ̂ together.

    A spread over few chains is itself uncertain. The noise is therefore at least √(λ̂/ESS), since nβ·ΔL has variance near λ.
    """
    noise = math.sqrt(abs(cell.llc) / cell.ess) if cell.ess > 0 else math.inf
    return math.hypot(max(noise, np.nan_to_num(cell.llc_se)), expected_bias(cell))
