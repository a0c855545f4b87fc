"""The one place that makes an `Estimate`: of a run, and of the references. Long, since what is known of chains, and what of it errors
count, comes with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from llc_core.config import RunConfig
from llc_core.diagnostics import convergence as diagnostics
from llc_core.diagnostics.chances import without_idle
from llc_core.diagnostics.confirmation import drawn_value, exact_value
from llc_core.diagnostics.convergence import MeanError, mean_error
from llc_core.diagnostics.evidence import Evidence
from llc_core.diagnostics.predictive import Drawn, Predictive
from llc_core.diagnostics.verdict import hangs_on_spread, judge, worth_an_answer
from llc_core.engine.spreading import Idle
from llc_core.observables.base import Mean
from llc_core.potentials.base import Potential
from llc_core.results import Estimate
from llc_core.verdicts import Verdict


@dataclass(frozen=True)
class Chains:
    """What was seen of the C chains of one problem at one setting.

    per_chain: λ̂ [C], nan for diverged chains.  living: [C].
    trace: nβ·ΔL [T, C] at the steps trace_steps [T], burn-in included.
    weights: [T, C] of the trace's states in averages; None: all the same.  effective_share: [C] by Kish, of these weights.
    total_weight: [C] of all states of each chain.  members: so many chains in a row interact and are one draw for errors.
    n_beta, localization: nβ and γ.  steps: done so far, the first `burn_in` of them as burn-in.
    seconds: of the whole run.  steps_per_second: of all its chains together.
    """

    per_chain: np.ndarray
    living: np.ndarray
    trace: np.ndarray
    trace_steps: np.ndarray
    n_beta: float
    localization: float
    steps: int
    burn_in: int
    seconds: float
    steps_per_second: float
    weights: np.ndarray | None = None
    effective_share: np.ndarray | None = None
    total_weight: np.ndarray | None = None
    members: int = 1

    @property
    def dead(self) -> int:
        return int((~self.living).sum())

    @property
    def kept_steps(self) -> int:
        return max(0, self.steps - self.burn_in)

    @property
    def kept_trace(self) -> np.ndarray:
        """Of the chains that count, after burn-in."""
        return self.trace[self.trace_steps >= self.burn_in][:, self.counted]

    @property
    def kept_weights(self) -> np.ndarray | None:
        """Of the states of `kept_trace`."""
        return None if self.weights is None else self.weights[self.trace_steps >= self.burn_in][:, self.counted]

    @property
    def counted(self) -> np.ndarray:
        """Chains that live and whose states do not all weigh nothing, [C]."""
        return self.living if self.effective_share is None else self.living & np.isfinite(self.effective_share)

    @property
    def usable(self) -> bool:
        """Whether there is an estimate at all: not where more than half of the chains diverged."""
        return self.dead <= len(self.living) / 2 and self.kept_steps > 0 and bool(np.isfinite(self.per_chain).any())


def grouped(chains: Chains) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, float]:
    """What errors count: λ̂ [G], the trace after burn-in [T, G], its weights [T, G] or None, and Kish's share of all weights.

    Chains that interact are one draw: a group's loss at a step is the weighted mean of its members', and its weight their sum.
    Source of the share: Kish 1965, "Survey Sampling", section 11.7.
    """
    kept, weights, counted = chains.kept_trace, chains.kept_weights, chains.counted
    share = math.nan
    if chains.effective_share is not None and chains.total_weight is not None and counted.any():
        total, own = chains.total_weight[counted], chains.effective_share[counted]
        # A chain's own share is W²/(n·Q); of all states it is (ΣW)²/(n·C·ΣQ).
        share = (
            float(own.mean())
            if chains.members == 1
            else float(total.sum() ** 2 / (len(total) * (total**2 / own).sum()))
        )
    if chains.members == 1 or not counted.any():
        return chains.per_chain[np.isfinite(chains.per_chain)], kept, weights, share
    group = (np.arange(len(chains.per_chain)) // chains.members)[counted]
    belongs = (group[:, None] == np.unique(group)).astype(float)
    each = np.ones_like(kept) if weights is None else weights
    sums = each @ belongs
    trace = np.divide(
        (each * kept) @ belongs,
        sums,
        out=np.repeat(kept.mean(axis=1, keepdims=True), belongs.shape[1], 1),
        where=sums > 0,
    )
    total = np.ones(len(group)) if chains.total_weight is None else chains.total_weight[counted]
    per_group = ((total * chains.per_chain[counted]) @ belongs) / (total @ belongs)
    return per_group, trace, None if weights is None else sums, share


Observed = Mapping[str, Mapping[str, np.ndarray]]


def predictive(
    config: RunConfig, observed: Observed | None, counted: np.ndarray, members: int, share: float, loss: np.ndarray
) -> Predictive | None:
    """From what the observables kept to what an estimate says of the network's function; None where no outputs were kept.

    counted: [C] the chains that live and weigh something.  members: so many chains in a row interact.
    share: what the draws are worth by their weights (Kish), nan: all the same.  loss: [T', G] of groups, after burn-in.
    """
    kept = (observed or {}).get("Predictions")
    if observed is None or not kept or not counted.any():
        return None
    asked = next(each for each in config.observables if isinstance(each, Mapping) and each["name"] == "Predictions")
    group = None if members == 1 else (np.arange(len(counted)) // members)[counted]
    worth = 1.0 if np.isnan(share) else share

    def drawn(found: Mapping[str, np.ndarray]) -> Drawn:
        weights = found["weights"][:, counted] if "weights" in found else None
        return Drawn(found["draws"][:, counted], weights, group, worth)

    weights = observed.get("WeightDraws")
    return Predictive(asked["inputs"], kept["steps"], drawn(kept), drawn(weights) if weights else None, loss)


Weighed = tuple[Evidence, np.ndarray, float]


def weigh(problem: Potential, chains: Chains, found: Evidence) -> Weighed:
    """What speaks for the estimate and against it, the trace after burn-in [T, G], and Kish's share of all weights.

    found: what is known beside the chains' losses.
    """
    alive, kept, weights, share = grouped(chains)
    llc = r_hat = ess = math.nan
    error = MeanError()
    if chains.usable:
        llc, error = float(alive.mean()), mean_error(alive, kept, weights)
        r_hat, ess = diagnostics.r_hat(kept), diagnostics.ess(kept)
        if chains.effective_share is not None:
            ess *= share
    worth = share if share < 1 else math.nan  # states that weigh the same need no word
    drift, drift_se = diagnostics.plateau_drift(kept)
    expected = problem.expected_llc_at(chains.n_beta, chains.localization)
    evidence = replace(
        found,
        llc=llc,
        se=error.se,
        chains=len(chains.living),
        kept_steps=chains.kept_steps,
        dead=chains.dead,
        r_hat=r_hat,
        ess=ess,
        chain_offset=error.offset,
        chain_chance=error.chance,
        drift=drift,
        drift_se=drift_se,
        spikes=diagnostics.spike_share(kept) if found.exact_losses else math.nan,
        expected=math.nan if expected is None else expected,
        localization=chains.localization,
        n_beta=chains.n_beta,
        reference=exact_value(problem, chains.n_beta, chains.localization),
        effective_share=worth,
        truth_known=problem.local_learning_coefficient is not None,
        movable=type(problem).moved is not Potential.moved,
    )
    return evidence, kept, share


def judged(
    problem: Potential,
    chains: Chains,
    evidence: Evidence,
    largest_drawn: int,
    idle: Callable[[float], Idle] | None = None,
) -> tuple[Evidence, Verdict]:
    """The verdict on an estimate, and the evidence with what else was looked for.

    What costs comes once it would decide: idle directions where nothing but the spread along flat ones is open, and exact draws
    where no more than doubts speak against the estimate.
    """
    verdict = judge(evidence)
    if idle is not None and not verdict and hangs_on_spread(evidence):
        found = idle(evidence.llc)
        evidence = without_idle(evidence, *found)
        verdict = judge(evidence)
    if largest_drawn and math.isnan(evidence.reference) and worth_an_answer(evidence):
        drawn, drawn_se = drawn_value(problem, chains.n_beta, chains.localization, largest_drawn)
        evidence = replace(evidence, reference=drawn, reference_se=drawn_se)
        verdict = judge(evidence)
    return evidence, verdict


def make_estimate(
    problem: Potential,
    config: RunConfig,
    chains: Chains,
    found: Evidence | None = None,
    *,
    setting: Mapping[str, Any] | None = None,
    measured: Mapping[str, float] | None = None,
    fluctuation: Mean | None = None,
    observed: Mean | None = None,
    observables: Mapping[str, Mapping[str, np.ndarray]] | None = None,
    largest_drawn: int = 0,
    idle: Callable[[float], Idle] | None = None,
    weighed: Weighed | None = None,
) -> Estimate:
    """The mean over living chains with its error, R-hat, ESS and drift, and the verdict on them.

    measured: further diagnostics, by name.  fluctuation: ν̂.  observed: λ̂ of the second problem.  observables: what was seen.
    largest_drawn: parameters of the largest network that is drawn exactly, if no more than doubts remain (`drawn_value`).
    idle: looks for directions that the loss does not depend on, given λ̂; None: that is not looked for.
    weighed: what `weigh` has said of these chains, where it was asked already.
    """
    fluctuation, observed = fluctuation or Mean(), observed or Mean()
    evidence, kept, share = weighed or weigh(problem, chains, found or Evidence())
    evidence, verdict = judged(problem, chains, evidence, largest_drawn, idle)
    return Estimate(
        llc=evidence.llc,
        llc_se=evidence.se,
        per_chain=chains.per_chain,
        r_hat=evidence.r_hat,
        ess=evidence.ess,
        diverged=chains.dead,
        chains=len(chains.living),
        converged=verdict,
        expected=None if math.isnan(evidence.expected) else evidence.expected,
        learning_coefficient=problem.learning_coefficient,
        local_learning_coefficient=problem.local_learning_coefficient,
        trace=chains.trace,
        trace_steps=chains.trace_steps,
        n_beta=chains.n_beta,
        steps=chains.steps,
        burn_in=chains.burn_in,
        seconds=chains.seconds,
        steps_per_second=chains.steps_per_second,
        config=config,
        setting=dict(setting or {}),
        evidence=evidence,
        diagnostics={**evidence.numbers(), **(measured or {})},
        n=problem.n,
        dim=problem.dim,
        baseline_loss=problem.baseline_loss,
        singular_fluctuation=fluctuation.value,
        singular_fluctuation_se=fluctuation.se,
        llc_from_variance=evidence.from_variance,
        llc_from_variance_se=evidence.from_variance_se,
        observed_llc=observed.value,
        observed_llc_se=observed.se,
        observed_per_chain=observed.parts,
        observables=observables or {},
        reference=evidence.reference,
        reference_se=evidence.reference_se,
        predictive=predictive(config, observables, chains.counted, chains.members, share, kept),
    )
