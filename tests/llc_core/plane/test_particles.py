"""Particles on the plane: each step is that of Liu & Wang's eq. 8, whatever the blocks."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
import torch

import llc_core
from llc_core.interactions import SteinVariational
from llc_core.plane import ParticleRun
from llc_core.plane.pushing import pusher

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


@pytest.mark.parametrize(
    "count, bandwidth, temperature", [(2, 0.0, 0.0), (7, 0.0, 0.5), (8, 0.3, 0.0), (101, 0.0, 0.0)]
)
def test_the_compiled_force_is_that_of_the_interaction(count, bandwidth, temperature):
    random = np.random.default_rng(count)
    places, slopes = random.normal(size=(3, count, 2)), random.normal(size=(3, count, 2))
    places[1, 0, 1] = np.inf  # a particle that is lost pushes nobody
    own = SteinVariational(bandwidth=bandwidth, temperature=temperature)
    wanted = own.force(torch.from_numpy(places), torch.from_numpy(slopes)).numpy()
    found = pusher()(places, slopes, bandwidth, temperature)
    assert np.abs(found - wanted)[[0, 2]].max() < 1e-12 and np.abs(found - wanted)[1, 1:].max() < 1e-12


def test_two_particles_push_each_other_apart():
    """h = (d²/2)/log 3, numpy's median of 0, 0, d², d²: φ of the left one is d/h·exp(−d²/h), d = 2."""
    places = np.array([[[-1.0, 0.0], [1.0, 0.0]]])
    width = 2 / np.log(3)
    found = pusher()(places, np.zeros_like(places), 0.0, 0.0)
    assert found[0, 0, 0] == pytest.approx(2 / width * np.exp(-4 / width)) and found[0, 1, 0] == -found[0, 0, 0]


def test_groups_do_not_see_each_other_and_adagrad_divides_by_the_root_of_the_mean():
    """Two groups of three and two: each step is φ of the own group over √v, v ← m·v + (1 − m)·φ², v_0 = φ²."""
    made = ParticleRun(
        llc_core.SGLD(step_size=0.02), llc_core.surface(), SteinVariational(bandwidth=WIDTH, members=3),
        chains=6, steps=3, starts="box", memory=0.75, seed=5,
    )  # fmt: skip
    trail = made.advance(3).trail[0]
    assert np.abs(trail[0]).max() > 1, "they begin all over the box"
    square = None
    for before, after in pairwise(trail):
        phi = pusher()(before.reshape(2, 3, 2), slopes(before).reshape(2, 3, 2), WIDTH, 0.0).reshape(6, 2)
        square = phi**2 if square is None else 0.75 * square + 0.25 * phi**2
        wanted = before - 0.01 * phi / (1e-6 + np.sqrt(square))
        stays = (np.abs(wanted) > 2.5).any(axis=1, keepdims=True)
        assert after == pytest.approx(np.where(stays, before, wanted), abs=1e-12)


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
        (SteinVariational(members=3), {}, "chains is 100, and groups have 3 members"),
        (SteinVariational(), {"starts": [[0, 0]]}, "particles begin around w0, or give 'box'"),
        (SteinVariational(), {"memory": 1.0}, "memory is 1"),
    ],
)
def test_what_does_not_fit_is_said(interaction, more, words):
    with pytest.raises(ValueError, match=words):
        ParticleRun(llc_core.SGLD(step_size=0.05), "modes25", interaction, steps=10, **more)
