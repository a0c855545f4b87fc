"""Chains that still move away from w0 are seen, and those that stand are not."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from llc_core import DeepLinearNetwork, estimate
from llc_core.observables.look import Group, Look, RunShape
from llc_core.observables.spreading import MOST_ROWS, Travel
from llc_core.potentials.base import Potential

CHAINS = 6


def seen(radius, steps: int) -> Travel:
    """What is kept of chains whose w − w0 has the length radius(t) and noise of a tenth, t from 0 to 1."""
    problem, device = Potential(), torch.device("cpu")
    travel = Travel(every=1)
    travel.begin(RunShape(problem, None, CHAINS, 1, torch.float64, device))
    random = np.random.default_rng(0)
    for step in range(steps):
        length = radius(step / steps) * (1 + 0.1 * random.standard_normal((CHAINS, 1)))
        delta = torch.from_numpy(length * np.array([[0.6, 0.8]]))
        travel.look(Look(step, 1.0, slice(0, CHAINS), delta, torch.ones(CHAINS, dtype=torch.float64), problem))
    return travel


def group(living=None) -> Group:
    return Group(slice(0, CHAINS), np.ones(CHAINS, dtype=bool) if living is None else living, 1.0)


def test_a_diffusion_rises_as_time_does_and_chains_at_rest_do_not():
    rise, error = seen(lambda t: (0.001 + t) ** 0.5, 3000).drift(group())
    assert abs(rise - 1) < 4 * error + 0.05 and error < 0.1, (
        "‖w − w0‖² ∝ t has means ¼ and ¾ in its halves, 1 apart in units of ½"
    )
    rise, error = seen(lambda t: 2.0, 3000).drift(group())
    assert abs(rise) < 4 * error and error < 0.05


def test_memory_does_not_grow_and_little_says_nothing():
    travel = seen(lambda t: 1.0, 40 * MOST_ROWS)
    assert MOST_ROWS // 2 <= len(travel._rows) < MOST_ROWS
    assert np.isnan(seen(lambda t: 1.0, 20).drift(group())).all()


@pytest.mark.slow
def test_chains_that_spread_along_a_valley_are_told_from_those_that_have_arrived():
    """At the zero network the default chains of Langevin sampling reach .5 of the 4.3 that their squared distance should be."""
    zeros = DeepLinearNetwork([np.zeros((3, 3))] * 2, noise_std=0)
    short = estimate(zeros, "UnderdampedLangevin", steps=4000, chains=8, progress=False)
    arrived = estimate(zeros, "Gibbs", steps=400, chains=8, progress=False)
    assert short.diagnostics["distance_drift"] > 0.1
    assert abs(arrived.diagnostics["distance_drift"]) < 0.1 and arrived.converged
