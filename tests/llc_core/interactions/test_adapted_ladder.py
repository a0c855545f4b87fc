"""Temperatures are moved to where neighbours refuse each other equally often."""

from __future__ import annotations

import numpy as np
import pytest

import llc_core
from llc_core import ReplicaExchange

SHAPE, DRAWS = 1.5, 40_000
UNEVEN = (1.0, 1.1, 1.3, 1.6, 12.0)


def rates(temperatures: tuple[float, ...]) -> np.ndarray:
    """Of swaps between exact draws of a regular minimum with three parameters, whose nβ·ΔL has a Gamma distribution of shape 3/2."""
    levels = 1 / np.array(temperatures)
    loss = np.random.default_rng(0).gamma(SHAPE, size=(DRAWS, len(levels))) / levels
    return np.minimum(1, np.exp((levels[:-1] - levels[1:]) * (loss[:, :-1] - loss[:, 1:]))).mean(axis=0)


def test_two_rounds_make_the_rates_equal():
    """On a regular minimum equal rates belong to equal ratios of temperatures. Rates of DRAWS have errors below 1/√DRAWS/2."""
    ladder = ReplicaExchange(temperatures=UNEVEN, interval=3)
    assert np.ptp(rates(UNEVEN)) > 0.3
    for _ in range(3):
        ladder = ladder.adapted(rates(ladder.temperatures))
    assert np.ptp(rates(ladder.temperatures)) < 0.02
    assert ladder.temperatures == pytest.approx(np.geomspace(1, 12, 5), rel=0.05)
    assert (ladder.temperatures[0], ladder.temperatures[-1], ladder.interval) == (1.0, 12.0, 3)


def test_what_a_run_saw_is_taken():
    config = llc_core.RunConfig(
        sampler={"name": "SGLD", "step_size": 6e-3},
        interaction=ReplicaExchange(temperatures=UNEVEN).to_dict(),
        gradient="full",
        chains=4,
        steps=200,
        burn_in=100,
    )
    seen = llc_core.Run(config, llc_core.surface(noise=0.0)).advance(200).observables["swap_rate"]
    found = ReplicaExchange(temperatures=UNEVEN).adapted(seen)
    assert seen.shape == (4, 4) and found.temperatures[3] > UNEVEN[3], "the gap that refuses most is made smaller"


@pytest.mark.parametrize("rate", [[0.5], [0.5, 0.5, 0.5, 1.5], [0.5, 0.5, 0.5, np.nan], np.zeros((0, 4))])
def test_rates_of_another_ladder_are_one_sentence(rate):
    with pytest.raises(
        ValueError, match=r"^swap_rate must be 4 numbers from 0 to 1, one for each pair of neighbours\.$"
    ):
        ReplicaExchange(temperatures=UNEVEN).adapted(rate)
