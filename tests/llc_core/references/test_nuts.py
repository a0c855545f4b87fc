"""NUTS agrees with quadrature, keeps each chain's data set apart, and its test of turns is the one that is written down."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from llc_core import DeepLinearNetwork, nuts_reference, planar_landscape, posterior
from llc_core.references import nuts
from llc_core.references.nuts import nuts_draws, turns

torch.set_num_threads(1)


def test_nuts_agrees_with_quadrature():
    problem = planar_landscape("quadratic", data_sets=2)
    result = nuts_reference(problem, chains=4, steps=250, warmup=100)
    exact = posterior(problem).llc
    assert abs(result.llc - exact.mean()) < 4 * result.llc_se + 0.05
    assert result.expected == pytest.approx(exact.mean()) and result.trace.shape == (250, 4)
    assert result.diagnostics["divergences"] >= 0 and result.config.sampler["name"] == "NUTS"
    # each chain has its own data set
    assert abs(result.per_chain[:2].mean() - exact[0]) < 0.35 and abs(result.per_chain[2:].mean() - exact[1]) < 0.35


def off(sets: int = 40, steps: int = 300) -> np.ndarray:
    """λ̂ of the cross less quadrature, in standard errors over data sets."""
    problem = planar_landscape("normal_crossing", k=[1, 1], data_sets=sets)
    draws = nuts_draws(problem, chains=sets, steps=steps, warmup=100)
    difference = problem.n_beta * draws.losses.mean(axis=0) - posterior(problem).llc
    return np.abs(difference.mean()) / (difference.std(ddof=1) / sets**0.5)


@pytest.mark.slow
def test_nuts_walks_along_a_cross():
    assert off() < 4


@pytest.mark.slow
def test_a_law_of_another_temperature_is_found_out(monkeypatch):
    own = nuts.Law.__call__

    def hotter(self, places):
        potential, force, loss = own(self, places)
        return potential / 2, force / 2, loss

    monkeypatch.setattr(nuts.Law, "__call__", hotter)
    assert off(steps=100) > 4


@pytest.mark.slow
def test_second_moments_of_a_normal_law():
    """nβ of almost nothing leaves N(0, 1/γ)."""
    problem = DeepLinearNetwork.random(widths=[2, 2], n=100, seed=0)
    draws = nuts_draws(problem, chains=8, steps=400, warmup=100, n_beta=1e-12, localization=4.0)
    square = np.square(draws.places).mean(axis=0)
    se = square.mean(axis=1).std(ddof=1) / len(square) ** 0.5
    assert abs(square.mean() - 0.25) < 4 * se < 0.05
    assert draws.divergences == 0 and draws.places.shape == (400, 8, problem.dim)


def test_a_stretch_turns_where_an_end_moves_towards_the_other():
    one, other = np.array([[1.0, 0.0], [1.0, 0.0], [-1.0, 0.0]]), np.array([[1.0, 1.0], [-1.0, 0.0], [1.0, 0.0]])
    middle = np.array([[1.0, 0.5], [1.0, 0.0], [1.0, 0.0]])
    assert turns(one, other, one + middle + other).tolist() == [False, True, True]


def test_counts_of_ones():
    assert nuts.ONES[[0, 5, 7]].tolist() == [0, 2, 3] and nuts.TAIL[[0, 5, 7, 11]].tolist() == [0, 1, 3, 2]
