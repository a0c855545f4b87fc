"""The one place that makes an `Estimate`: of a run, and of the references."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from llc_core.config import RunConfig
from llc_core.diagnostics import convergence as diagnostics
from llc_core.diagnostics.confirmation import drawn_value, exact_value
from llc_core.diagnostics.errors import MeanError, mean_error
from llc_core.diagnostics.evidence import Evidence
from llc_core.diagnostics.minimum import data_error, held
from llc_core.diagnostics.spread import without_idle
from llc_core.diagnostics.verdict import hangs_on_spread, judge, worth_an_answer
from llc_core.engine.chains import Chains, grouped
from llc_core.engine.idle import Idle
from llc_core.engine.predictive import predictive
from llc_core.observables.base import Mean
from llc_core.potentials.base import Potential
from llc_core.results import Estimate
from llc_core.samplers.base import Sampler
from llc_core.types import Verdict


@dataclass(frozen=True)
class Findings:
    """What the verdict weighs beside the chains' losses. What is not known, or does not apply, stays as it is here.

    step_size, stable_step: in use, and the largest stable one.
    noise_inflation, step_bias, rounding: what is expected to be in λ̂ beside the answer and chance.
    law_bias, law_bias_se, law_rest_se: what the chains' law adds to λ̂, with its errors (`engine.law.Measured`); nan: not measured.
    unspread, unspread_se, pull: whether the chains have spread along flat directions (`engine.law.Measured`).
    exact_law: whether the law as step_size → 0 is the target, and formulas say what steps of usual size add.
    exact_losses: whether losses are those of all data, of chains that move at every step.
    bursts: how often a chain was put back after burn-in.  undone: the share of the kept steps that this took.
    acceptance: of a Metropolis test.  caveat: what is known against the sampler's settings.
    parameters: D, for the bound on λ; 0: the bound is not checked.
    of_a_posterior: whether w0 is the centre of a prior and not a minimum of the loss: λ̂ may then have either sign.
    sampler: what moved the chains.
    above, unlooked, unfinished, from_variance, from_variance_se, gap, gap_se, of_gamma, of_gamma_se, data_variance,
        data_variance_se: as in `Evidence`.
    """

    step_size: float = math.nan
    stable_step: float = math.nan
    noise_inflation: float = 0.0
    step_bias: float = 0.0
    rounding: float = 0.0
    law_bias: float = math.nan
    law_bias_se: float = math.nan
    law_rest_se: float = math.nan
    unspread: float = math.nan
    unspread_se: float = math.nan
    pull: float = math.nan
    exact_law: bool = True
    exact_losses: bool = False
    bursts: int = 0
    undone: float = 0.0
    acceptance: float = math.nan
    caveat: str = ""
    parameters: int = 0
    of_a_posterior: bool = False
    sampler: Sampler | None = None
    above: float = math.nan
    unlooked: bool = False
    unfinished: bool = False
    from_variance: float = math.nan
    from_variance_se: float = math.nan
    gap: float = math.nan
    gap_se: float = math.nan
    of_gamma: float = math.nan
    of_gamma_se: float = math.nan
    data_variance: float = math.nan
    data_variance_se: float = math.nan


Weighed = tuple[Evidence, np.ndarray, float]


def weigh(problem: Potential, chains: Chains, findings: Findings) -> Weighed:
    """What speaks for the estimate and against it, the trace after burn-in [T, G], and Kish's share of all weights."""
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
    evidence = Evidence(
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
        spikes=diagnostics.spike_share(kept) if findings.exact_losses else math.nan,
        expected=math.nan if expected is None else expected,
        localization=chains.localization,
        n_beta=chains.n_beta,
        reference=exact_value(problem, chains.n_beta, chains.localization),
        effective_share=worth,
        truth_known=problem.local_learning_coefficient is not None,
        movable=type(problem).moved is not Potential.moved,
        **vars(findings),
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
    findings: Findings | None = None,
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
    findings, fluctuation, observed = findings or Findings(), fluctuation or Mean(), observed or Mean()
    evidence, kept, share = weighed or weigh(problem, chains, findings)
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
        diagnostics={
            "drift": evidence.drift,
            "drift_se": evidence.drift_se,
            "chain_offset": evidence.chain_offset,
            "above_minimum": evidence.above,
            "held_by_gamma": held(evidence),
            "of_gamma": evidence.of_gamma,
            "of_gamma_se": evidence.of_gamma_se,
            "data_se": data_error(evidence),
            **({"idle": float(evidence.idle)} if evidence.idle else {}),
            **({"effective_share": evidence.effective_share} if math.isfinite(evidence.effective_share) else {}),
            **(measured or {}),
        },
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
