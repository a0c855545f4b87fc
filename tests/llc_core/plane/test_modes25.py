"""Chains that interact on the 25-mode plane, against its exact cell masses (paper 002, section 5.1)."""

from __future__ import annotations

import numpy as np
import pytest

import llc_core
from llc_core.plane import PlaneRun, plane_law
from llc_core.plane.exact import kl_of_cells

pytest.importorskip("numba")

TRIALS = 16
BUDGET = 60_000
"""Gradients of one trial."""


@pytest.fixture(scope="module")
def surface():
    return llc_core.surface(noise=0.25)


@pytest.fixture(scope="module")
def masses(surface):
    return plane_law(surface).cells(5)


def kl(surface, masses, interaction, step_size: float, chains: int, seed: int = 3) -> np.ndarray:
    """KL over the 25 cells, one number a trial."""
    steps = BUDGET // chains
    run = PlaneRun(
        llc_core.SGLD(step_size=step_size), surface, interaction, steps=steps, trials=TRIALS, seed=seed,
        count_from=steps // 10,
    )  # fmt: skip
    while not run.finished:
        seen = run.advance(steps)
    return kl_of_cells(masses, seen.masses())


def test_the_exact_masses_are_those_of_the_paper_s_target(masses):
    assert masses.sum() == pytest.approx(1, abs=1e-9)
    centre = [masses[2, 2], masses[2, 3], masses[2, 4], masses[3, 3], masses[3, 4], masses[4, 4]]
    assert centre == pytest.approx([0.0796, 0.0653, 0.0360, 0.0535, 0.0295, 0.0163], abs=1e-4)  # SPEC's four digits
    assert masses == pytest.approx(masses.T, abs=1e-9) and masses == pytest.approx(masses[::-1], abs=1e-9)


@pytest.mark.slow
def test_at_equal_gradients_replica_exchange_finds_the_modes_that_plain_chains_miss(surface, masses):
    """A tenth of the paper's budget. Medians of 16 trials, compared by the spread of their logarithms."""
    hot = kl(surface, masses, llc_core.ReplicaExchange(temperatures=(1, 3.46, 12), step_power=2), 4e-3, 3)
    plain = kl(surface, masses, None, 6e-3, 1)
    logs = np.log(plain), np.log(hot)
    error = np.sqrt(sum(each.var(ddof=1) / TRIALS for each in logs))
    assert logs[0].mean() - logs[1].mean() > np.log(4) + 3 * error
