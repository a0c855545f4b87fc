"""Pairs in order, counted by sorting, are those that all pairs give."""

from __future__ import annotations

import numpy as np
import pytest

from llc_core.sweeps.series import counted_pairs


def every_pair(truths, guesses):
    upper = np.triu_indices(len(truths), 1)
    right = np.sign(truths[:, None] - truths[None, :])[upper]
    shown = np.sign(guesses[:, None] - guesses[None, :])[upper]
    return int(((right != 0) & (right == shown)).sum()), int((right != 0).sum())


@pytest.mark.parametrize("values", [1, 2, 5, 1000])
@pytest.mark.parametrize("count", [1, 2, 3, 7, 64, 65, 300])
def test_pairs_are_those_of_all_pairs_ties_included(count, values):
    random = np.random.default_rng(10 * count + values)
    for _ in range(10):
        truths = random.integers(values, size=count) - values / 2
        guesses = random.integers(values, size=count) * -0.5  # zeros of both signs are equal
        assert counted_pairs(truths, guesses) == every_pair(truths, guesses)
        assert counted_pairs(truths, truths**3) == every_pair(truths, truths**3)
        assert counted_pairs(truths, -truths)[0] == 0


def test_pairs_of_extreme_numbers():
    extreme = np.array([5e-324, 0.0, -0.0, 1.7e308, -1.7e308, 1e-308, 1.0, np.nextafter(1.0, 2.0)])
    random = np.random.default_rng(0)
    for _ in range(20):
        truths, guesses = random.permutation(extreme), random.permutation(extreme)
        with np.errstate(over="ignore"):
            assert counted_pairs(truths, guesses) == every_pair(truths, guesses)


def test_a_hundred_thousand_problems_need_no_matrix_of_pairs():
    """All pairs of them would be 80 GB."""
    truths = np.arange(100_000) / 7
    assert counted_pairs(truths, truths) == (100_000 * 99_999 // 2,) * 2
    assert counted_pairs(truths, truths[::-1]) == (0, 100_000 * 99_999 // 2)
