"""Chains that interact on the 25-mode plane, against its exact cell masses (paper 002, section 5.2)."""

from __future__ import annotations

import numpy as np
import pytest
import torch

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


def test_far_from_the_box_the_energy_grows_as_printed_and_slopes_follow_it(surface):
    """Points on both sides of x² + y² = 20. Central differences of step h miss a slope by U‴h²/6 ≤ 16π³h²/6, 1e-8 here."""
    x, y, h = np.array([0.3, 2.2, 3.1, 4.4, 4.7, -5.3]), np.array([-0.7, 2.4, 3.2, 0.5, -1.1, 2.6]), 1e-5
    r = x**2 + y**2
    assert ((r > 20) == [False, False, False, False, True, True]).all()
    printed = 0.2 * r - 2 * (np.cos(2 * np.pi * x) + np.cos(2 * np.pi * y)) + np.where(r > 20, r - 20, 0)
    assert surface.energy(x, y) + surface.bottom == pytest.approx(printed, abs=1e-12)
    found = [
        (surface.energy(x + h * a, y + h * b) - surface.energy(x - h * a, y - h * b)) / (2 * h)
        for a, b in ((1, 0), (0, 1))
    ]
    loss, slopes = surface.excess_loss_and_grad(torch.from_numpy(np.stack([x, y], axis=1)))
    assert loss.numpy() == pytest.approx(surface.energy(x, y), abs=1e-12)
    moved = slopes.numpy().T
    assert moved == pytest.approx(np.array(found), abs=1e-7)
    scalar = [surface.shape.with_slopes(*place, surface.parameters) for place in zip(x, y, strict=True)]
    assert np.array(scalar)[:, 1:] == pytest.approx(slopes.numpy(), abs=1e-12)
    assert np.array(scalar)[:, 0] == pytest.approx(printed, abs=1e-12)


@pytest.mark.slow
def test_at_equal_gradients_replica_exchange_finds_the_modes_that_plain_chains_miss(surface, masses):
    """A tenth of the paper's budget. Medians of 16 trials, compared by the spread of their logarithms."""
    hot = kl(surface, masses, llc_core.ReplicaExchange(temperatures=(1, 3.46, 12), step_power=2), 4e-3, 3)
    plain = kl(surface, masses, None, 6e-3, 1)
    logs = np.log(plain), np.log(hot)
    error = np.sqrt(sum(each.var(ddof=1) / TRIALS for each in logs))
    assert logs[0].mean() - logs[1].mean() > np.log(4) + 3 * error


def corrections(pieces: int, seed: int = 5) -> np.ndarray:
    """What the replicas of 24 trials take for the variance of their energies after 20,000 steps, from 0.1."""
    ladder = llc_core.ReplicaExchange(temperatures=(1, 2, 4), correction=0.1, energy_samples=10)
    run = PlaneRun(
        llc_core.SGLD(step_size=2e-3), llc_core.surface(noise=0.25), ladder, steps=20_000, trials=24, seed=seed
    )
    while not run.finished:
        seen = run.advance(pieces)
    return seen.shared[:, 1]


def test_replicas_learn_the_variance_of_their_energies():
    """Its mean is known, since the sample variances are unbiased: those of n in place of n − 1 would be a tenth lower."""
    left = np.prod([1 - 1 / (k**0.6 + 100) for k in range(1, 200)])
    wanted = 0.25**2 + (0.1 - 0.25**2) * left
    found = corrections(20_000)
    error = found.std(ddof=1) / len(found) ** 0.5
    assert abs(found.mean() - wanted) < 4 * error
    assert 8 * error < (wanted - 0.9 * 0.25**2) * (1 - left), "the test could not tell"
    assert np.array_equal(found, corrections(777)), "how a run is cut changes nothing"


def test_energies_are_drawn_again_on_the_plane_alone():
    with pytest.raises(ValueError, match="give energy_variance"):
        llc_core.estimate(
            llc_core.planar_landscape("quadratic"), llc_core.SGLD(step_size=0.01), steps=10, chains=1,
            interaction=llc_core.ReplicaExchange(levels=3, correction=1.0, energy_samples=10),
        )  # fmt: skip
    with pytest.raises(ValueError, match="at least 2, a correction above 0"):
        llc_core.ReplicaExchange(energy_samples=10)
