"""Risk by iteration: chains of MALA, and gradient descent from the places where they began, with one step for all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from llc_core.config import RunConfig
from llc_core.engine.run import Run
from llc_core.potentials.bayesian.network import BayesianNetwork
from llc_core.studies.risk.comparison import DESCENT
from llc_core.studies.risk.predictors import Effort, Pieces, Said, downhill, exact
from llc_core.studies.risk.task import SemiSynthetic

WANTED = 0.7
"""Acceptance that the step size of a table is chosen for."""
TRIAL_CHAINS, EXACT_CHAINS = 16, 32
"""Chains that try a step, and those behind the exact posterior: twice as many as elsewhere, since risks here differ by .003."""
MALA, LOSS_ALONE = "MALA", "gradient descent of the loss alone"
"""What is followed beside DESCENT, which is the drift of MALA without noise: MALA, and that drift without the prior."""


@dataclass(frozen=True)
class Courses:
    """risks: way → [K], at K looks.  gaps: way → [K], what a way loses above the Bayes risk on average over the exact posterior;
    empty where that is not known.  acceptance: of MALA, over the second half of its iterations.
    bayes: Bayes risk, and r_hat of the chains behind it; nan where it is not known."""

    risks: Mapping[str, np.ndarray]
    gaps: Mapping[str, np.ndarray]
    acceptance: float
    bayes: float
    r_hat: float


def step_of(problem: BayesianNetwork, eta: float) -> float:
    """ε of MALA here, where the paper's step is η/(2nH): its convention has half of ours."""
    return eta / (problem.n * problem.widths[1])


def chains_of(problem: BayesianNetwork, eta: float, chains: int, iterations: int, seed: int) -> Run:
    """Chains of MALA at the start, which are draws of the prior."""
    sampler = {"name": MALA, "step_size": step_of(problem, eta)}
    return Run(RunConfig(sampler=sampler, chains=chains, steps=iterations, burn_in=0.5, seed=seed), problem)


def acceptance_of(run: Run, iterations: int) -> float:
    """Over the second half of so many iterations; the run is at its beginning, and is moved."""
    half = iterations // 2
    run.advance(half)
    before = float(run.state["accepted"].mean())
    run.advance(iterations - half)
    return _later(run, before, half)


def _later(run: Run, before: float, done: int) -> float:
    """The mean acceptance since `done` iterations, when it was `before`."""
    return (float(run.state["accepted"].mean()) * run.steps_done - before * done) / (run.steps_done - done)


def nearest_step(problem: BayesianNetwork, grid: Sequence[float], iterations: int, seed: int) -> float:
    """The η of a rising `grid` whose acceptance is nearest to WANTED.

    Acceptance falls with the step, so that the grid is halved again and again and only a few of its steps are tried.
    """
    known: dict[int, float] = {}

    def of(place: int) -> float:
        if place not in known:
            known[place] = acceptance_of(chains_of(problem, grid[place], TRIAL_CHAINS, iterations, seed), iterations)
        return known[place]

    low, high = 0, len(grid) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if of(middle) >= WANTED else (low, middle)
    return grid[min((low, high), key=lambda place: abs(of(place) - WANTED))]


def courses(task: SemiSynthetic, eta: float, chains: int, looks: Sequence[int], moves: int, seed: int) -> Courses:
    """All ways on one task at the same looks, which are numbers of iterations in rising order. Predictions are means over the chains
    at one iteration, under a Laplace likelihood too, as printed.

    moves: of the chains behind the exact posterior, as in `Effort`; 0: without it.
    Raises ValueError where gradient descent diverges.
    """
    problem, half = task.problem, looks[-1] // 2
    run = chains_of(problem, eta, chains, looks[-1], seed)
    start = torch.from_numpy(run.displacements).clone()
    said: dict[str, list[np.ndarray]] = {MALA: [], DESCENT: [], LOSS_ALONE: []}
    before = 0.0
    for look in sorted({*looks, half}):
        run.advance(look - run.steps_done)
        before = float(run.state["accepted"].mean()) if look == half else before
        if look in looks:
            said[MALA].append(_mean(task, torch.from_numpy(run.displacements)))
    for way, prior in ((DESCENT, 1.0), (LOSS_ALONE, 0.0)):
        said[way] = [_mean(task, delta) for delta in _descents(problem, start, step_of(problem, eta) / 2, looks, prior)]
        if not np.isfinite(said[way][-1]).all():
            raise ValueError(f"{way.capitalize()} diverged at η = {eta:g}; give a grid of smaller steps.")
    risks = {way: np.array([task.risk(each) for each in found]) for way, found in said.items()}
    if not moves:
        return Courses(risks, {}, _later(run, before, half), float("nan"), float("nan"))
    truth = _ended(exact(task, Effort(moves=moves, exact_chains=EXACT_CHAINS), seed))
    bayes = task.expected_risk(task.best_of(truth.draws), truth.draws)
    gaps = {
        way: np.array([task.expected_risk(each, truth.draws) - bayes for each in found]) for way, found in said.items()
    }
    return Courses(risks, gaps, _later(run, before, half), bayes, truth.r_hat)


def _descents(
    problem: BayesianNetwork, start: Tensor, step: float, looks: Sequence[int], prior: float
) -> Iterator[Tensor]:
    """Weights [C, D] at the looks. prior: 1, or 0 to leave it out."""
    delta, done = start, 0
    for look in looks:
        for _ in range(look - done):
            delta = downhill(problem, delta, step, prior)
        done = look
        yield delta


def _mean(task: SemiSynthetic, delta: Tensor) -> np.ndarray:
    """[m], over the chains."""
    return np.asarray(task.problem.predict(delta, task.test_inputs).mean(dim=0).numpy())


def _ended(pieces: Pieces) -> Said:
    """What a method says when all its pieces are done."""
    while True:
        try:
            next(pieces)
        except StopIteration as end:
            said: Said = end.value
            return said
