"""The acceptance of a test that is not used, the virial, and what is claimed of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from llc_core import planar_landscape
from llc_core.engine.target import Target
from llc_core.studies.keeping import Kept
from llc_core.studies.papers.learning_coefficient import checks
from llc_core.studies.papers.learning_coefficient.checks import Checks, looked
from llc_core.studies.papers.study import Place

GAMMA, SIZE, ROWS = 3.0, 0.01, [{"k": [0, 1]}]


def energy(problem, place: np.ndarray, n_beta: float) -> float:
    loss, _ = problem.excess_loss_and_grad(torch.as_tensor(place)[None])
    return n_beta * float(loss) + GAMMA / 2 * float(np.square(place).sum())


def slope(problem, place: np.ndarray, n_beta: float) -> np.ndarray:
    steps = 1e-6 * np.eye(len(place))
    return np.array([(energy(problem, place + e, n_beta) - energy(problem, place - e, n_beta)) / 2e-6 for e in steps])


def test_acceptance_is_the_ratio_of_densities():
    """By the two normal densities of the step there and back, with slopes by differences."""
    problem = planar_landscape("normal_crossing", k=[1, 1])
    random = np.random.default_rng(3)
    before, after = random.normal(0, 0.3, (2, 5, 2))
    n_beta = np.full(5, 80.0)
    found = looked(problem, before, after, n_beta, GAMMA, np.full(5, SIZE)).acceptance

    def log_density(there: np.ndarray, here: np.ndarray) -> float:
        return -float(np.square(there - here + SIZE / 2 * slope(problem, here, 80.0)).sum()) / (2 * SIZE)

    for a, b, rate in zip(before, after, found, strict=True):
        gain = energy(problem, a, 80.0) - energy(problem, b, 80.0) + log_density(a, b) - log_density(b, a)
        assert rate == pytest.approx(math.exp(min(0.0, gain)), rel=1e-6, abs=1e-12)


def test_the_virial_of_chains_at_rest_is_the_dimension():
    """On a normal law SGLD's own law is known at every ε: variance 1/(c(1 − εc/4)) in a direction of curvature c."""
    problem = planar_landscape("quadratic")
    target = Target(
        problem, torch.full((1, 1), 1e-9, dtype=torch.float64), torch.full((1, 1), GAMMA, dtype=torch.float64)
    )
    assert float(target.evaluate(torch.ones(1, 2, dtype=torch.float64), None).force[0, 0]) == pytest.approx(
        GAMMA, abs=1e-6
    )
    size, count = 0.5, 200_000
    places = np.random.default_rng(0).normal(0, (1 / (GAMMA * (1 - size * GAMMA / 4))) ** 0.5, (count, 2))
    seen = looked(problem, places, places, np.full(count, 1e-9), GAMMA, np.full(count, size))
    se = seen.virial.std(ddof=1) / count**0.5
    assert abs(seen.virial.mean() - 2) < 4 * se < 0.05
    assert seen.pull == pytest.approx(GAMMA**2 * np.square(places).sum(axis=1))


def claims(tmp_path) -> dict[str, bool | None]:
    study = Checks(rows=ROWS, step_sizes=[1e-3, 5e-3], temperatures=[0.5, 1.0], repeats=20, steps=1500, looks=50)
    done = study.run(Place(Kept(None), tmp_path))
    assert len(done.table) == 5 and done.draw is not None
    return {claim.text.partition(": ")[2]: claim.holds for claim in done.claims}


def test_claims_of_a_ridge_hold_and_a_wrong_gradient_norm_is_found(tmp_path, monkeypatch):
    found = claims(tmp_path)
    assert found["a test would take fewer steps at the larger ε (acceptance)"] is True
    balance = "gradients balance noise and growth (virial and growth of ‖w − w0‖², all ε and nβ)"
    assert found[balance] is not False, "a run as short as this leaves it open"
    own = looked

    def planted(*given):
        seen = own(*given)
        return checks.Looked(1 - seen.acceptance, seen.gradient, seen.pull, 1.3 * seen.virial)

    monkeypatch.setattr(checks, "looked", planted)
    found = claims(tmp_path)
    assert found["a test would take fewer steps at the larger ε (acceptance)"] is False
    assert found[balance] is False
