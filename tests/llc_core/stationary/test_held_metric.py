"""A metric that is held: without an update for long the target, renewed at once the target over the metric, in between as chains have it."""

from __future__ import annotations

import pytest

from llc_core.bins import Bins
from llc_core.stationary.distances import total_variation
from llc_core.stationary.held_metric import held_masses
from llc_core.stationary.limit import limit_law, target_law
from llc_core.studies.papers.adaptive_samplers.late_metrics import held_chains

TARGET = target_law("normal").masses()


def test_both_ends_are_known():
    moving = limit_law({"name": "PSGLD", "stability": 0.1, "gamma_term": "dropped"}, "normal").masses()
    assert total_variation(held_masses(1e-3, 0.1), moving) < 2e-3
    assert total_variation(held_masses(1000.0, 0.1), TARGET) < 1e-3
    assert total_variation(moving, TARGET) > 0.25


@pytest.mark.parametrize("time", [0.01, 1.0, 30.0])
def test_a_metric_that_is_nearly_constant_leaves_the_target(time):
    assert held_masses(time * 1e4, 1e4) == pytest.approx(TARGET, abs=2e-4)
    assert held_masses(time, 0.1, Bins(count=40)).sum() == pytest.approx(1)


@pytest.mark.slow
@pytest.mark.parametrize("time", [0.1, 1.0])
def test_chains_have_it(time):
    """2,000 chains: their distance is that of chance, some .02, while the ends are .13 and .15 away at T = 1."""
    counts = held_chains(time, 2_000, 3, Bins()).sum(axis=0)
    assert total_variation(counts, held_masses(time, 0.1)) < 0.02
    assert total_variation(counts, TARGET) > 0.1


def test_a_time_that_is_too_short_is_refused():
    with pytest.raises(ValueError, match="time is 0.0001"):
        held_masses(1e-4, 0.1)
