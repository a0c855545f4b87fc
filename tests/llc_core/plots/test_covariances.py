"""Figures of covariances hold the numbers that were found, in the order in which they are drawn."""

from __future__ import annotations

import numpy as np
import pytest

from llc_core import influence, loss_kernel
from llc_core.results import Estimate
from llc_core.studies.covariances.parts import Susceptibilities

hv = pytest.importorskip("holoviews")


@pytest.fixture(scope="module")
def losses() -> np.ndarray:
    """[draws, chains, rows]: rows 0, 2, 4 go together, and so do 1, 3, 5, against the others."""
    random = np.random.default_rng(0)
    both = random.normal(size=(400, 4, 1))
    return random.normal(size=(400, 4, 6)) * 0.5 + both * np.array([1, -1, 1, -1, 1, -1])


def test_a_kernel_is_drawn_by_its_clusters(losses):
    for correlations in (True, False):
        found = loss_kernel(losses, correlations)
        drawn = found.plot()
        hv.render(drawn)
        order = found.order()
        assert np.allclose(drawn.dimension_values("z", flat=False), found.values[np.ix_(order, order)][::-1])
    assert {frozenset(order[:3] % 2), frozenset(order[3:] % 2)} == {frozenset({0}), frozenset({1})}


def test_influence_is_drawn_with_its_errors(losses):
    found = influence(losses, [3])
    drawn = found.plot()
    hv.render(drawn)
    (dots,) = drawn.traverse(lambda each: each, [hv.Scatter])
    top = found.top()
    assert np.allclose(dots.dimension_values(1), [each["influence"] for each in top]) and len(top) == 6
    (bars,) = drawn.traverse(lambda each: each, [hv.ErrorBars])
    assert np.allclose(bars.dimension_values(2), [2 * each["se"] for each in top])


def test_susceptibilities_say_what_is_not_clear():
    values, se = np.array([[2.0, 0.1], [-3.0, 0.0]]), np.array([[0.5, 0.2], [0.1, 0.1]])
    estimates: dict[str, Estimate] = {}
    found = Susceptibilities(("a", "b"), ("probe 0", "probe 1"), values, se, values, se, estimates, ("", ""))
    drawn = found.plot()
    hv.render(drawn)
    (texts,) = drawn.traverse(lambda each: each, [hv.Labels])
    assert list(texts.dimension_values(2)) == ["2", "(0.1)", "-3", "(0)"]
