"""The answer key: its values are those of the literature, and each problem is built by one call."""

from __future__ import annotations

import numpy as np
import pytest
from cases import few

from llc_core import answers, estimate
from llc_core.potentials.base import Potential
from llc_core.theory.quadrature import posterior

KEY = answers()
STATED = {  # by hand from the sources
    "bowl": (1, 1),
    "line": (1 / 2, 1),
    "crossing": (1 / 2, 2),
    "flatter crossing": (1 / 4, 1),
    "flattest crossing": (1 / 6, 1),
    "equal powers": (1 / 6, 2),
    "beside a crossing": (1 / 2, 1),
    "crossing with a prior": (2 / 3, 1),
    "one layer": (24, 1),
    "two layers": (7.5, 1),
    "2-2-2, ranks 2 and 0": (2, 1),
    "2-2-2, ranks 0 and 0": (1.5, 1),
    "2-2-2, ranks 1 and 1": (2, 2),
    "8-8-8, ranks 8 and 3": (32, 1),
    "10-10-10, ranks 2 and 2": (42, 1),
    "four layers": (20, 1),
    "wide": (18, 1),
    "adapter": (6, 1),
    "linear regression": (3, 1),
    "a unit too many": (1 / 2, 2),
    "quadratic": (2.5, 1),
    "quadratic, spare units": (3.25, 1),
    "quadratic, full rank": (3, 1),
    "ReLU, scaling": (3.5, 1),
    "ReLU, a dead unit": (3.5, 1),
    "ReLU, a unit that is always on": (4.5, 1),
    "ReLU, two units that are always on": (4.5, 1),
    "ReLU, elimination": (4, 1),
    "ReLU, overlap": (3.5, 1),
    "pentagon": (7, 1),
    "pentagon and a mean": (8.5, 1),
    "hexagon": (8.5, 1),
}


def test_every_value_is_the_stated_one():
    assert set(KEY) == set(STATED)
    for name, (value, multiplicity) in STATED.items():
        assert KEY[name].learning_coefficient == pytest.approx(value)
        assert KEY[name].coefficient.multiplicity == multiplicity


@pytest.mark.parametrize("name", KEY)
def test_every_problem_is_built_and_has_as_many_parameters(name):
    answer = KEY[name]
    problem = answer.problem()
    assert isinstance(problem, Potential) and problem.dim == answer.parameters
    assert answer.learning_coefficient <= answer.parameters / 2
    assert answer.source and answer.words
    own = problem.local_learning_coefficient
    assert own is None or own == answer.coefficient


def test_it_is_a_table():
    assert repr(KEY).count("\n") == len(KEY) == len(KEY.rows())
    with pytest.raises(ValueError, match="name is 'heptagon'; choose one of bowl, line"):
        KEY["heptagon"]


@pytest.mark.slow
@pytest.mark.parametrize("name", few(["quadratic, spare units", "quadratic", "quadratic, full rank"], 1))
def test_networks_of_squares_read_their_lambda(name):
    """The form of degree four has λ = N/4 at every nβ, so that chains should read all of it."""
    answer = KEY[name]
    found = estimate(answer.problem(), chains=8, steps=20_000, localization=1.0, progress=False)
    assert found.r_hat < 1.05 and abs(found.llc - answer.learning_coefficient) < 4 * found.llc_se + 0.02


@pytest.mark.slow
def test_a_unit_too_many_reads_what_quadrature_says():
    """λ = ½ with m = 2 is far away at any n: the mean of nβ·K over the plane is what chains should read."""
    answer = KEY["a unit too many"]
    problem = answer.problem()
    found = estimate(problem, chains=8, steps=20_000, localization=1.0, progress=False)
    x = np.linspace(-2, 2, 101)
    a = np.sinh(np.linspace(-12, 12, 1201)) / np.sinh(12) * 6  # close together at 0
    b, width = a, np.gradient(a)
    spread = np.array([(np.tanh(x * each) ** 2).mean() for each in b])
    cost = found.n_beta * a[:, None] ** 2 * spread[None, :]
    mass = width[:, None] * width[None, :] * np.exp(-cost - (a[:, None] ** 2 + b[None, :] ** 2) / 2)
    expected = float((mass * cost).sum() / mass.sum())
    assert 0.3 < expected < 0.45
    assert abs(found.llc - expected) < 4 * found.llc_se + 0.01
    assert found.llc_se < 0.03


def test_beside_a_crossing_the_posterior_stays_where_the_answer_is_of():
    answer = KEY["beside a crossing"]
    near, far = (posterior(answer.problem(), localization=pull).llc.mean() for pull in (answer.localization, 1.0))
    assert abs(near - 0.5) < 0.05 and far < 0.25
