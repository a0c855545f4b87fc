"""λ̂ of an exact sampler at the same nβ and γ: blocked Gibbs sampling, quadrature, or Hamiltonian Monte Carlo."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import torch

from llc_core.diagnostics.convergence import plateau_drift
from llc_core.engine.run import Run
from llc_core.potentials.deep_linear.blocked_gibbs import BlockedGibbs
from llc_core.potentials.deep_linear.network import DeepLinearNetwork
from llc_core.potentials.line.landscape import Landscape
from llc_core.studies.explain.comparisons import seed_of
from llc_core.studies.explain.ledger import REFERENCE, Ledger, Level
from llc_core.studies.explain.subject import Subject

DOING = "The exact reference"
"""What is being measured, for people."""
USUAL_BUDGET = 4.0
"""A reference is longer or shorter than usual as the budget is larger or smaller than this."""
CHAINS = 8
FEWEST_SWEEPS, MOST_SWEEPS, STEPS_PER_SWEEP = 200, 2000, 20
"""A Gibbs sweep of a small network takes as long as some 20 steps."""
FEWEST_TRAJECTORIES, STEPS_PER_TRAJECTORY = 400, 10


def measure_reference(subject: Subject, budget: float, ledger: Ledger) -> Iterator[float]:
    """The share done while the reference is made; its number is then in the ledger, where there is one.

    The exact sampler depends on the problem: Gibbs for a deep linear network, quadrature for a landscape on the line, HMC
    for others. Without localisation the posterior of a network need not exist, so there is no reference.
    """
    problem, localization = subject.problem, subject.localization
    wished = subject.estimate.steps * budget / USUAL_BUDGET
    how = ""
    if isinstance(problem, DeepLinearNetwork) and localization > 0:
        how = "blocked Gibbs sampling"
        yield from _gibbs(subject, problem, wished / STEPS_PER_SWEEP, ledger)
    elif isinstance(problem, Landscape) and localization == 0:
        how = "quadrature"
        exact = problem.expected_llc(subject.estimate.n_beta)
        if exact is not None:
            ledger.measured[REFERENCE] = (exact, 0.0)
    elif subject.can_be_full and localization > 0:
        how = "Hamiltonian Monte Carlo"
        yield from _hmc(subject, wished / STEPS_PER_TRAJECTORY, ledger)
    if REFERENCE in ledger.measured:
        ledger.levels["mixing"] = Level({REFERENCE: 1.0}, f"the value as ε → 0 against {how} at the same nβ and γ")


def _gibbs(subject: Subject, problem: DeepLinearNetwork, wished: float, ledger: Ledger) -> Iterator[float]:
    """As `gibbs_reference`, in pieces. If the loss still drifts after the first half, the drift counts as an error."""
    sweeps = int(min(MOST_SWEEPS, max(FEWEST_SWEEPS, wished)))
    n_beta = subject.estimate.n_beta
    chains = BlockedGibbs(problem, CHAINS, n_beta, subject.localization, seed_of(subject.config, "gibbs"))
    losses = []
    try:
        for sweep in range(sweeps):
            losses.append(chains.sweep().numpy())
            chains.gauge_moves(adapt=sweep < sweeps // 2)
            yield (sweep + 1) / sweeps
    except torch.linalg.LinAlgError:
        return
    kept = n_beta * np.stack(losses)[sweeps // 2 :]
    ledger.record_chains(REFERENCE, kept.mean(axis=0))
    drift, drift_se = plateau_drift(kept)
    if REFERENCE in ledger.measured and abs(drift) > 4 * drift_se:
        value, se = ledger.measured[REFERENCE]
        ledger.measured[REFERENCE] = (value, math.hypot(se, drift))


def _hmc(subject: Subject, wished: float, ledger: Ledger) -> Iterator[float]:
    config = subject.config.replace(
        sampler={"name": "HMC"},
        metric_gradient=None,
        steps=max(FEWEST_TRAJECTORIES, int(wished)),
        burn_in=0.5,
        dtype="float64",
        chains=CHAINS,
        seed=seed_of(subject.config, "hmc"),
    )
    current = Run(config, subject.problem)
    for snapshot in current:
        yield snapshot.steps / snapshot.total_steps
    ledger.record_chains(REFERENCE, current.llc_per_chain())
