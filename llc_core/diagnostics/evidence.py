"""What a verdict is made of: all numbers that are known of an estimate, in one record from the engine to the page."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from llc_core.samplers.base import Sampler
from llc_core.verdicts import KEPT_BY_GAMMA, NOWHERE, SHORT, Advice

NUMBERS = {
    "drift": "drift", "drift_se": "drift_se", "chain_offset": "chain_offset", "above_minimum": "above", "of_gamma": "of_gamma",
    "of_gamma_se": "of_gamma_se", "step_size": "step_size", "stability_limit": "stable_step", "noise_inflation": "noise_inflation",
    "step_bias": "step_bias", "rounding": "rounding", "law_bias": "law_bias", "law_bias_se": "law_bias_se",
    "law_rest_se": "law_rest_se", "unspread": "unspread", "unspread_se": "unspread_se", "bursts": "bursts",
    "acceptance": "acceptance",
}  # fmt: skip
"""Name in `Estimate.diagnostics` → field."""


@dataclass(frozen=True)
class Evidence:
    """All that `verdict.judge` weighs. What is not known, or does not apply, stays as it is here.

    llc, se: λ̂ and its error (`errors.mean_error`).  chains, dead: how many there are, and how many of them ran away.
    kept_steps: after burn-in.  r_hat, ess: of the losses.
    chain_offset, chain_chance: what single chains have of their own, in units of λ̂, and the probability that chance alone
        puts their means so far apart (`errors.MeanError`).
    drift, drift_se: of nβ·ΔL between the halves after burn-in.
    step_size, stable_step: in use, and the largest stable one.  acceptance: of a Metropolis test.
    step_bias, noise_inflation: what the step's size and minibatch noise are expected to add to λ̂.
    law_bias, law_bias_se: what the sampler's distribution was measured to add to λ̂; it holds the two above.
    law_rest_se: the error of λ̂ − law_bias, without the chance that both share.
    unspread, unspread_se: of the D directions, how many the chains have not spread along as far as γ lets them.
    idle: along how many directions the loss was found not to change (`engine.spreading.idle`); those of them are off `unspread`.
    pull: the mean of γ‖w − w0‖².  localization: γ.
    exact_law: whether the sampler's distribution as step_size → 0 is the target, and formulas say what steps of usual size add.
    rounding: how far nβ·ΔL is off by the precision, without sign.
    spikes: `convergence.spike_share`, if the losses are exact.  bursts: how often a chain was put back after burn-in.
    undone: the share of the kept steps that this cost.
    exact_losses: whether losses are those of all data, and those of w0 too.
    expected: what λ̂ should be at this n, nβ and γ.  parameters: D, for the bound on λ; 0: the bound is not checked.
    truth_known: whether the exact coefficient at w0 is known, and shown beside λ̂.
    movable: whether w0 can be moved (`Potential.moved`), so that polishing can be advised.
    polished: whether polishing w0 ended at a minimum; None: it was not asked for.
    endless: whether the form of the loss lets it fall for ever (`Potential.endless`); None: not known.
    of_a_posterior: whether w0 is the centre of a prior, so that λ̂ is no learning coefficient and has either sign.
    caveat: what is known against the sampler's settings.
    reference, reference_se: the posterior's own mean of nβ·ΔL, by quadrature or exact draws.
    effective_share: of weighted states, by Kish; nan: all weigh the same.
    above: how far w0 lies above the lowest loss found near it, in units of λ̂ (`engine.above_minimum`).
    unlooked: whether that was not looked for, since it would have cost too much, or the run is `unfinished`.
    from_variance, from_variance_se: λ̂ from the variance of the losses; variance_unknown: why it is not known.
    gap, gap_se: λ̂ less that, with the error of the difference.
    of_gamma, of_gamma_se: by how much λ̂ falls where log γ rises by 1 (all of `variance.FromVariance`).
    data_variance, data_variance_se: of λ̂ over data sets of this size, with its error (`observables.data_noise`).  n_beta: nβ.
    sampler: what moved the chains, by which remedies are chosen; None: not known.
    """

    llc: float = math.nan
    se: float = math.nan
    chains: int = 0
    kept_steps: int = 0
    dead: int = 0
    r_hat: float = math.nan
    ess: float = math.nan
    chain_offset: float = math.nan
    chain_chance: float = math.nan
    drift: float = math.nan
    drift_se: float = math.nan
    step_size: float = math.nan
    stable_step: float = math.nan
    acceptance: float = math.nan
    step_bias: float = 0.0
    noise_inflation: float = 0.0
    law_bias: float = math.nan
    law_bias_se: float = math.nan
    law_rest_se: float = math.nan
    unspread: float = math.nan
    unspread_se: float = math.nan
    idle: int = 0
    pull: float = math.nan
    localization: float = math.nan
    exact_law: bool = True
    rounding: float = 0.0
    spikes: float = math.nan
    bursts: int = 0
    undone: float = 0.0
    exact_losses: bool = False
    expected: float = math.nan
    parameters: int = 0
    of_a_posterior: bool = False
    truth_known: bool = False
    movable: bool = True
    polished: bool | None = None
    endless: bool | None = None
    caveat: str = ""
    reference: float = math.nan
    reference_se: float = 0.0
    effective_share: float = math.nan
    above: float = math.nan
    unlooked: bool = False
    unfinished: bool = False
    from_variance: float = math.nan
    from_variance_se: float = math.nan
    variance_unknown: str = ""
    gap: float = math.nan
    gap_se: float = math.nan
    of_gamma: float = math.nan
    of_gamma_se: float = math.nan
    data_variance: float = math.nan
    data_variance_se: float = math.nan
    n_beta: float = math.nan
    sampler: Sampler | None = None

    @classmethod
    def from_numbers(cls, numbers: Mapping[str, float], **known: Any) -> Evidence:
        """What an estimate that was kept as text knows of its evidence.  numbers: its diagnostics."""
        kept = {field: numbers[name] for name, field in NUMBERS.items() if name in numbers}
        return cls(**{**kept, **known})

    def numbers(self) -> dict[str, float]:
        """By their names in `Estimate.diagnostics`."""
        found = {name: float(getattr(self, field)) for name, field in NUMBERS.items()}
        found |= {"held_by_gamma": self.held, "data_se": self.data_error}
        found |= {"idle": float(self.idle)} if self.idle else {}
        return found | ({"effective_share": self.effective_share} if math.isfinite(self.effective_share) else {})

    @property
    def can_polish(self) -> bool:
        """Whether w0 can be polished; whoever has done it is not told to do it."""
        return self.movable and self.polished is None

    @property
    def without_minimum(self) -> Advice:
        """What is said, and advised, where polishing led to no minimum."""
        return SHORT if self.endless is False else NOWHERE

    @property
    def held(self) -> float:
        """How many directions γ holds and the loss does not: E[γ‖w − w0‖²] once chains have spread, to which each adds γ's share of
        its curvature; nan where it is not known. Where the lowest place of U lies beside w0, the pull there counts too: at most 2 · `above`."""
        if not math.isfinite(self.pull):
            return math.nan
        left = max(self.unspread, 0.0) if math.isfinite(self.unspread) else 0.0
        return min(self.pull + left, float(self.parameters))

    @property
    def data_error(self) -> float:
        """The standard error of λ̂ over data sets; nan where it is not known."""
        return math.sqrt(max(self.data_variance, 0.0)) if math.isfinite(self.data_variance) else math.nan

    @property
    def smaller_change(self) -> Mapping[str, Any]:
        """The setting that `smaller_step` names: half the largest stable step, or a quarter of one that is below it."""
        if not (math.isfinite(self.stable_step) and self.stable_step > 0):
            return {}
        limit = self.step_size / 2 if self.step_size < self.stable_step else self.stable_step
        return {"step_size": float(f"{limit / 2:.2g}")}

    @property
    def smaller_step(self) -> str:
        """The remedy where a step is too large."""
        if not (math.isfinite(self.stable_step) and self.stable_step > 0):
            return "Use a smaller step size."
        wanted = self.smaller_change["step_size"]
        if self.step_size < self.stable_step:  # the limit was measured elsewhere
            return f"Use a smaller step size, such as {wanted:.2g}, a quarter of the present one."
        return f"Use half the largest stable step size, {wanted:.2g}, or leave it automatic."


@dataclass(frozen=True)
class Cause:
    """Something that puts λ̂ off by `size`, in units of λ̂ and with its sign; causes add up.

    kind: as in `remedies`.  name: of a sentence "… makes about 3% of this estimate".  measured: or expected, by a formula of
    first order.
    """

    size: float
    kind: str
    name: str
    measured: bool = False


def kept_by_gamma(held: float, parameters: int) -> str:
    """How many directions γ holds (`Evidence.held`), in a sentence; empty where that is not known, or none."""
    known = math.isfinite(held) and round(held) >= 1
    return KEPT_BY_GAMMA.format(held=held, parameters=parameters) if known else ""
