"""The error of a mean along chains covers: ± 2 of it holds the truth as often as ± 2 errors of a normal number do."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.special import ndtr, ndtri

from llc_core.diagnostics import convergence
from llc_core.diagnostics.convergence import FEWEST, correlation_time, ess, mean_error, plateau_drift, standard_error

NOMINAL = 0.9545
RUNS = 200
CHANCE = 4 * math.sqrt(NOMINAL * (1 - NOMINAL) / RUNS)
"""Four standard errors of a share of RUNS."""


def walk(rng: np.random.Generator, phi: float, rows: int, chains: int) -> np.ndarray:
    """AR(1) with variance 1 from its own distribution, [T, C]."""
    noise = rng.normal(size=(rows, chains))
    noise[1:] *= math.sqrt(1 - phi * phi)
    return lfilter([1], [1, -phi], noise, axis=0)


def skewed(normal: np.ndarray) -> np.ndarray:
    """As nβ·ΔL where λ = 1/2: mean 1/2, skewness 2.8.

    The inverse of the Gamma distribution of shape 1/2 is half the square of a normal quantile, at a fifteenth of gammaincinv's price.
    """
    return np.square(ndtri(ndtr(-normal) / 2)) / 2


def coverage(
    error: Callable[[np.ndarray], float], phi: float, rows: int, chains: int, shape: str = "normal"
) -> tuple[float, float]:
    """The share of runs whose ± 2 errors hold the mean, of those whose error is known; and the share of these."""
    rng = np.random.default_rng([int(1000 * phi), rows, chains])
    held = []
    for _ in range(RUNS):
        trace = walk(rng, phi, rows, chains)
        trace, mean = (skewed(trace), 0.5) if shape == "gamma" else (trace, 0.0)
        found = error(trace)
        if math.isfinite(found):
            held.append(abs(trace.mean() - mean) < 2 * found)
    return float(np.mean(held)) if held else math.nan, len(held) / RUNS


def mine(trace: np.ndarray) -> float:
    return standard_error(trace.mean(axis=0), trace)


@pytest.mark.slow
@pytest.mark.parametrize("chains", [1, 2, 4, 8])
@pytest.mark.parametrize("phi, shape", [(0.0, "normal"), (0.9, "normal"), (0.9, "gamma"), (0.99, "normal")])
def test_two_errors_cover(phi, shape, chains):
    held, known = coverage(mine, phi, 4000, chains, shape)
    if known < 0.9:  # one chain or two of 20 independent draws each
        assert phi == 0.99 and chains <= 2
    assert abs(held - NOMINAL) < CHANCE


def test_what_is_slow_and_small_is_covered_too(monkeypatch):
    """One chain, 5% of whose variance changes thirty times as slowly as the rest: the time that is measured leaves most of it out."""

    def share() -> float:
        rng = np.random.default_rng(7)
        held = []
        for _ in range(600):
            trace = math.sqrt(0.95) * walk(rng, 0.8, 1000, 1) + math.sqrt(0.05) * walk(rng, 0.995, 1000, 1)
            held.append(abs(trace.mean()) < 2 * mine(trace))
        return float(np.mean(held))

    limit = 0.9 - 2 * math.sqrt(0.9 * 0.1 / 600)
    assert share() > limit
    monkeypatch.setattr(convergence, "BATCH_TIMES", 8)  # planted: batches that are as short as they may be
    assert share() < limit


@pytest.mark.slow
@pytest.mark.parametrize("chains", [4, 8])
def test_of_slow_chains_the_chains_alone_are_counted(chains):
    """At φ = .999 a chain of 4,000 steps is worth two draws."""
    held, known = coverage(mine, 0.999, 4000, chains)
    assert known == 1 and abs(held - NOMINAL) < CHANCE


def test_fixed_batches_do_not_cover():
    """Planted: √T batches in each of two chains, which are much shorter than the correlation."""

    def fixed(trace: np.ndarray) -> float:
        batches = int(math.sqrt(len(trace)))
        width = len(trace) // batches
        means = trace[: batches * width].reshape(batches, width, -1).mean(axis=1)
        return float(math.sqrt((means.var(axis=0, ddof=1) / batches).sum()) / trace.shape[1])

    held, _ = coverage(fixed, 0.99, 4000, 2)
    assert held < NOMINAL - CHANCE - 0.1


def test_the_spread_of_four_means_as_of_a_normal_number_does_not_cover():
    """Planted: three degrees of freedom, used without the quantile they need."""
    held, _ = coverage(lambda trace: float(trace.mean(axis=0).std(ddof=1) / 2), 0.0, 4000, 4)
    assert held < NOMINAL - CHANCE


@pytest.mark.parametrize("chains", [1, 2])
def test_where_nothing_can_be_known_it_is_not_small(chains):
    """φ = .999 in 1,000 steps: half a draw in each chain."""
    rng = np.random.default_rng(chains)
    known = [mine(walk(rng, 0.999, 1000, chains)) for _ in range(RUNS)]
    assert np.isnan(known).mean() > 0.98
    assert math.isnan(mine(rng.normal(size=(10, 1)))) and math.isnan(standard_error(np.zeros(3), np.zeros((0, 3))))


def test_means_that_happen_to_agree_do_not_make_it_small():
    """Four chains of λ = 120 whose means agree to .06: the draws are what they are."""
    trace = skewed(walk(np.random.default_rng(0), 0.9, 4000, 4)) * math.sqrt(240)
    trace = trace - trace.mean(axis=0) + 120
    least = math.sqrt(trace.var() / ess(trace))
    assert standard_error(trace.mean(axis=0), trace) > 0.8 * least > 0


def test_chains_at_their_own_places_count_as_chains():
    rng = np.random.default_rng(2)
    trace = walk(rng, 0.5, 2000, 6)
    alike = mean_error(trace.mean(axis=0), trace)
    assert alike.df >= 60 and alike.chance > 0.01
    moved = trace + rng.normal(size=6)
    apart = mean_error(moved.mean(axis=0), moved)
    assert apart.df == 5 and apart.se > moved.mean(axis=0).std(ddof=1) / math.sqrt(6) > 5 * alike.se
    few = trace + 0.5 * np.sign(np.arange(6) - 2.5)  # two groups, one of which is half a deviation above
    found = mean_error(few.mean(axis=0), few)
    assert found.chance < 1e-6 and found.offset == pytest.approx(few.mean(axis=0).std(ddof=1), rel=0.05)


def test_what_the_trace_does_not_show_counts_too():
    """Chains' means that hold a noisy baseline: their spread is far above what their traces say."""
    trace = walk(np.random.default_rng(3), 0.0, 4000, 8)
    means = trace.mean(axis=0) + np.linspace(-1, 1, 8)
    found = mean_error(means, trace)
    assert found.df == 7 and found.se > means.std(ddof=1) / math.sqrt(8)


def test_the_correlation_time_is_that_of_the_chain():
    rng = np.random.default_rng(4)
    for phi in (0.0, 0.5, 0.9):
        times = [correlation_time(walk(rng, phi, 4000, 4)) for _ in range(30)]
        wanted = (1 + phi) / (1 - phi)
        assert np.mean(times) == pytest.approx(wanted, rel=0.1)
    assert correlation_time(np.zeros((50, 2))) == 50


def test_too_few_batches_are_no_error():
    trace = walk(np.random.default_rng(5), 0.0, 20, 3)
    assert mean_error(trace.mean(axis=0), trace).se > 0
    held = np.tile([1.0, 2.0, 3.0], (50, 1))
    assert mean_error(held.mean(axis=0), held).df == 2 == FEWEST - 1, "chains that do not move are counted as chains"


def test_a_shared_rise_stands_out_and_an_excursion_does_not():
    rng = np.random.default_rng(6)
    flat = walk(rng, 0.9, 4000, 4)
    drift, error = plateau_drift(flat)
    assert abs(drift) < 3 * error
    rising = flat + np.linspace(0, 2, 4000)[:, None]
    drift, error = plateau_drift(rising)
    assert drift == pytest.approx(1, abs=4 * error) and drift > 5 * error
    away = flat.copy()
    away[2500:3500, 2] += 4
    drift, error = plateau_drift(away)
    assert drift < 3 * error
