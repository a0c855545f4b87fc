"""What each method says of the function at the held-out inputs of a semi-synthetic task: draws [S, m].

The methods are worked out in pieces: each is a generator that yields after every piece, and returns what the method says.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from llc_core.compute.precision import EXACT
from llc_core.compute.streams import torch_stream
from llc_core.config import RunConfig
from llc_core.diagnostics.convergence import r_hat
from llc_core.engine.run import Run
from llc_core.potentials.bayesian.collapsed import CollapsedChains
from llc_core.potentials.bayesian.network import BayesianNetwork
from llc_core.references.functions.laplace import LaplaceChains, nngp_laplace
from llc_core.references.functions.nngp import nngp_posterior
from llc_core.studies.risk.task import SemiSynthetic

PRINTED = 0.025
"""The paper's step of MALA is this over n·H, in its convention (ours is twice that)."""
HALF_OF_ALL = 0.5
LEAPFROGS = 20
THINNED = 5
AGREED, LONGER = 1.1, 4
"""The chains of the exact posterior go on until their R-hat is below the first, but no more than so many times as long."""
PIECE = 10
"""Iterations, or moves, of a piece."""
DESCENT_STEPS = (0.1, 0.4, 1.6)
"""Steps that gradient descent tries, in units of what MALA at half the printed step drifts by: the printed step over 2."""
TRIED = 10
"""Each has this share of all gradients, one part of so many, before the best one goes on alone."""


@dataclass(frozen=True)
class Effort:
    """chains of each method, gradients of each chain, and moves of the chains behind the exact posterior, at least.

    exact_chains: how many these are. Their mean errs by one part of so many of what they disagree by."""

    chains: int = 16
    gradients: int = 1_000
    moves: int = 1_500
    exact_chains: int = 16


@dataclass(frozen=True)
class Said:
    """draws: [S, m].  r_hat: of f, the largest over the held-out inputs; nan where there are no chains.  acceptance: nan: none."""

    draws: np.ndarray
    r_hat: float = float("nan")
    acceptance: float = float("nan")


Pieces = Generator[None, None, Said]


def printed_step(problem: BayesianNetwork) -> float:
    """ε of MALA at half the printed step, which is what accepts often enough."""
    return PRINTED / (problem.n * problem.widths[1])


def mala_samplers(problem: BayesianNetwork) -> Mapping[str, Mapping[str, Any]]:
    """MALA in three ways, of which the best one counts."""
    return {
        "MALA, half the printed step": {"name": "MALA", "step_size": printed_step(problem)},
        "MALA, adapted": {"name": "MALA"},
        "MALA, prior coordinates": {"name": "MALA", "coordinates": "prior"},
    }


def sampled(task: SemiSynthetic, sampler: Mapping[str, Any], effort: Effort, seed: int) -> Pieces:
    """Chains from draws of the prior; the second half of their iterations, of all of them."""
    each = LEAPFROGS if sampler["name"] == "SplitHMC" else 1
    steps = max(4, effort.gradients // each)
    config = RunConfig(sampler=dict(sampler), chains=effort.chains, steps=steps, burn_in=HALF_OF_ALL, seed=seed)
    run = Run(config, task.problem)
    every, kept = max(1, steps // 100), []
    while not run.finished:
        run.advance(every)
        if run.steps_done > steps // 2:
            kept.append(task.problem.predict(torch.from_numpy(run.displacements), task.test_inputs).numpy())
        yield
    return _said(np.stack(kept), float(run.state["accepted"].mean()))


def descended(task: SemiSynthetic, effort: Effort, seed: int) -> Pieces:
    """An ensemble of gradient descent on U from draws of the prior. Three steps are tried for a tenth of the gradients; each member
    goes on with the one that is lowest by then. Raises ValueError where a member diverged with all three.
    """
    problem, factors = task.problem, torch.tensor(DESCENT_STEPS, **EXACT)
    delta = problem.prior_draws(effort.chains, torch_stream(seed, "descent")).repeat(len(factors), 1)
    step = printed_step(problem) / 2 * factors.repeat_interleave(effort.chains)[:, None]
    for number in range(effort.gradients):
        if number == effort.gradients // TRIED:
            # A step that was too long has no energy, and loses.
            energy = problem.n * problem.excess_loss_and_grad(delta)[0]
            energy = torch.nan_to_num(energy + (delta.square() / problem.variances).sum(dim=1) / 2, nan=torch.inf)
            best = energy.view(len(factors), -1).argmin(dim=0) * effort.chains + torch.arange(
                effort.chains, device="cpu"
            )
            delta, step = delta[best], step[best]
        delta = downhill(problem, delta, step)
        if number % PIECE == 0:
            yield
    if not delta.isfinite().all():
        raise ValueError("Gradient descent diverged with all its steps; standardise the inputs.")
    return Said(problem.predict(delta, task.test_inputs).numpy())


def downhill(
    problem: BayesianNetwork, delta: torch.Tensor, step: torch.Tensor | float, prior: float = 1.0
) -> torch.Tensor:
    """One step [C, D] of gradient descent on U. prior: its share; 0 leaves the loss alone."""
    return delta - step * (problem.n * problem.excess_loss_and_grad(delta)[1] + prior * delta / problem.variances)


def infinitely_wide(task: SemiSynthetic, seed: int) -> Pieces:
    """The Gaussian process of the same network: in closed form, or by Gibbs draws under a Laplace likelihood."""
    yield
    if task.problem.likelihood == "laplace":
        return Said(nngp_laplace(task.problem, task.test_inputs, seed=seed))
    return Said(nngp_posterior(task.problem, task.test_inputs).mean[None])


def exact(task: SemiSynthetic, effort: Effort, seed: int) -> Pieces:
    """The posterior of the width that made the targets, by chains of the hidden layers alone: the second half of their moves.

    Where they do not agree after `effort.moves` they go on twice as long, and again.
    """
    problem = task.problem
    if problem.likelihood == "laplace":
        chains: CollapsedChains = LaplaceChains(problem, effort.exact_chains, seed)
    else:
        chains = CollapsedChains(problem, torch.full((effort.exact_chains, 1), float(problem.n), **EXACT), seed)
        chains.place_at_prior()
    burn_in, kept, done, most = effort.moves // 2, [], 0, effort.moves
    while True:
        while done < most:
            chains.move(adapt=done < burn_in)
            if done >= burn_in and done % THINNED == 0:
                kept.append(problem.predict(chains.delta, task.test_inputs).numpy())
            done += 1
            if done % PIECE == 0:
                yield
        said = _said(np.stack(kept[-max(4, most // 2 // THINNED) :]), float(chains.accepted.mean()))
        if said.r_hat < AGREED or most >= LONGER * effort.moves:
            return said
        most *= 2


def _said(trace: np.ndarray, acceptance: float) -> Said:
    """trace: [T, C, m]."""
    spread = [r_hat(trace[:, :, p]) for p in range(trace.shape[2])]
    known = [each for each in spread if not np.isnan(each)]
    return Said(trace.reshape(-1, trace.shape[2]), max(known, default=float("nan")), acceptance)
