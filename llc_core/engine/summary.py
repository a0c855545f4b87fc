"""The one place that makes an `Estimate`: of a run, and of the references."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from llc_core.config import RunConfig
from llc_core.diagnostics import convergence as diagnostics
from llc_core.diagnostics.confirmation import drawn_value, exact_value
from llc_core.diagnostics.errors import MeanError, mean_error
from llc_core.diagnostics.evidence import Evidence
from llc_core.diagnostics.spread import without_idle
from llc_core.diagnostics.verdict import hangs_on_spread, judge, worth_an_answer
from llc_core.engine.chains import Chains, grouped
from llc_core.engine.idle import Idle
from llc_core.engine.predictive import predictive
from llc_core.observables.base import Mean
from llc_core.potentials.base import Potential
from llc_core.results import Estimate
from llc_core.verdicts import Verdict

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
