"""Risk by iteration: descent is that of the posterior's energy, all begin at the same places, and the step is the grid's nearest."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from llc_core import semi_synthetic
from llc_core.studies.risk.comparison import DESCENT
from llc_core.studies.risk.courses import (
    LOSS_ALONE,
    MALA,
    TRIAL_CHAINS,
    WANTED,
    acceptance_of,
    chains_of,
    courses,
    nearest_step,
)

ROWS = np.random.default_rng(1).standard_normal((40, 2))
ETA, CHAINS, LOOKS = 0.1, 6, (1, 4, 9)


def outputs(problem, w: torch.Tensor) -> torch.Tensor:
    """f [C, n] at the data by torch alone, which can differentiate it."""
    a = torch.from_numpy(problem.data.x.T.copy())
    for layer, (weights, bias) in enumerate(problem.layout.parts(w)):
        a = weights @ (torch.selu(a) if layer else a) + bias
    return a.squeeze(1)


@pytest.mark.parametrize("likelihood", ["gaussian", "laplace"])
def test_descent_follows_the_energy_from_where_the_chains_begin(likelihood):
    task = semi_synthetic(ROWS, width=5, likelihood=likelihood, seed=3)
    problem = task.problem
    found = courses(task, ETA, CHAINS, LOOKS, 0, 7)
    y, scale = torch.from_numpy(problem.data.y), problem.noise_variance
    for way, prior in ((DESCENT, 1.0), (LOSS_ALONE, 0.0)):
        w = torch.from_numpy(chains_of(problem, ETA, CHAINS, LOOKS[-1], 7).displacements).clone()
        risks = []
        for step in range(1, LOOKS[-1] + 1):
            w.requires_grad_(True)
            off = outputs(problem, w) - y
            fit = off.square() / (2 * scale) if likelihood == "gaussian" else off.abs() / (scale / 2) ** 0.5
            energy = fit.sum() + prior * (w.square() / problem.variances).sum() / 2
            (slope,) = torch.autograd.grad(energy, w)
            w = w.detach() - ETA / (2 * problem.n * 5) * slope
            if step in LOOKS:
                risks.append(task.risk(problem.predict(w, task.test_inputs).mean(dim=0).numpy()))
        assert found.risks[way] == pytest.approx(risks, rel=1e-10)
    assert not np.allclose(found.risks[MALA], found.risks[DESCENT], rtol=1e-3), "MALA has noise"
    assert found.gaps == {} and np.isnan(found.bayes) and 0 < found.acceptance <= 1


@pytest.mark.slow
def test_the_step_is_the_nearest_of_the_grid():
    problem, grid = semi_synthetic(ROWS, width=5, seed=3).problem, (0.02, 0.05, 0.1, 0.2, 0.4)
    every = [acceptance_of(chains_of(problem, eta, TRIAL_CHAINS, 30, 0), 30) for eta in grid]
    assert every == sorted(every, reverse=True) and every[0] > WANTED > every[-1]
    assert nearest_step(problem, grid, 30, 0) == grid[int(np.abs(np.array(every) - WANTED).argmin())]
    assert nearest_step(problem, grid[:1], 30, 0) == grid[0]


def test_a_step_that_is_too_long_for_descent_is_one_sentence():
    with pytest.raises(ValueError, match="diverged at η = 1000") as error:
        courses(semi_synthetic(ROWS, width=5), 1000.0, 2, (1, 60), 0, 0)
    assert "\n" not in str(error.value)
