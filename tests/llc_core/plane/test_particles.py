"""Particles on the plane: each step is that of Liu & Wang's eq. 8, whatever the blocks."""

from __future__ import annotations

import math

import numpy as np
import pytest

import llc_core
from llc_core.interactions import SteinVariational
from llc_core.plane import ParticleRun

WIDTH = 0.7


def run(steps: int, noise: float = 0.0, **own) -> ParticleRun:
    interaction = SteinVariational(bandwidth=WIDTH, spread=0.8, **own)
    return ParticleRun(
        llc_core.SGLD(step_size=0.05),
        llc_core.surface(noise=noise),
        interaction,
        chains=6,
        trials=2,
        steps=steps,
        seed=2,
    )


def slopes(place: np.ndarray) -> np.ndarray:
    return 0.4 * place + 4 * math.pi * np.sin(2 * math.pi * place)


def test_a_step_is_that_of_the_paper():
    """By a double loop: φ_i = mean_j [k(x_j, x_i)·∇U(x_j) − ∇_{x_j}k(x_j, x_i)], w ← w − (ε/2)·φ."""
    trail = run(2).advance(2).trail
    assert trail.shape == (2, 2, 6, 2)
    for before, after in trail:
        for i in range(6):
            phi = np.zeros(2)
            for j in range(6):
                gap = before[j] - before[i]
                near = math.exp(-gap @ gap / WIDTH)
                phi += (near * slopes(before[j]) + 2 / WIDTH * near * gap) / 6
            wanted = before[i] - 0.025 * phi
            stays = (np.abs(wanted) > 2.5).any()
            assert after[i] == pytest.approx(before[i] if stays else wanted, abs=1e-12)


def test_numbers_do_not_depend_on_blocks():
    def last(block: int) -> tuple[np.ndarray, np.ndarray]:
        made = run(150, noise=0.25, temperature=0.3)
        while not made.finished:
            seen = made.advance(block)
        return seen.counts, seen.trail[:, -1]

    for whole, cut in zip(last(150), last(37), strict=True):
        assert np.array_equal(whole, cut)
    counts, places = last(150)
    assert (counts.sum(axis=(1, 2)) == 6 * 150).all() and np.abs(places).max() <= 2.5


def test_particles_that_do_not_reach_each_other_descend():
    far = ParticleRun(
        llc_core.SGLD(step_size=0.02),
        llc_core.surface(),
        SteinVariational(bandwidth=1e-4, spread=0.3),
        chains=2,
        steps=1000,
    )
    assert np.abs(slopes(far.advance(1000).trail[0, -1])).max() < 1e-6


@pytest.mark.parametrize(
    ("interaction", "more", "words"),
    [
        (llc_core.ReplicaExchange(), {}, "has no particles; use PlaneRun"),
        (SteinVariational(members=3), {}, "members is 3; on the plane all 100 particles are one group"),
        (SteinVariational(), {"starts": [[0, 0]]}, "leave starts out"),
    ],
)
def test_what_does_not_fit_is_said(interaction, more, words):
    with pytest.raises(ValueError, match=words):
        ParticleRun(llc_core.SGLD(step_size=0.05), "modes25", interaction, steps=10, **more)
