"""λ̂ from the variance on exact draws, where the mean is known to be wrong or right."""

from __future__ import annotations

import math

import numpy as np
import pytest

from llc_core import Estimate, estimate, planar_landscape
from llc_core.diagnostics.minimum import (
    INTERACTING,
    TOO_NOISY,
    TOO_SHORT,
    WEIGHTED,
    FromVariance,
    Looks,
    from_variance,
)


def drawn(curvature: np.ndarray, slope: np.ndarray, gamma: float, rows: int, seed: int) -> Looks:
    """X = Σ slope·δ + ½·curvature·δ² under exp(−X − (γ/2)‖δ‖²), independent rows of 4 chains."""
    random = np.random.default_rng(seed)
    precision = curvature + gamma
    delta = -slope / precision + random.normal(size=(rows, 4, len(curvature))) / np.sqrt(precision)
    loss = (slope * delta + curvature * delta**2 / 2).sum(axis=2)
    along = (slope * delta + curvature * delta**2).sum(axis=2)
    return Looks(loss, gamma * (delta**2).sum(axis=2), along)


def above(curvature: np.ndarray, slope: np.ndarray, gamma: float) -> float:
    """X(w0) − X where U is lowest."""
    place = -slope / (curvature + gamma)
    return -float((slope * place + curvature * place**2 / 2).sum())


STEEP = np.full(10, 50.0)
NEAR_GAMMA = np.array([50.0] * 4 + [2.0] * 4 + [0.0] * 40)


@pytest.mark.parametrize("curvature, gamma", [(STEEP, 1.0), (NEAR_GAMMA, 1.0), (NEAR_GAMMA, 0.1)])
@pytest.mark.parametrize("shift", [0.0, 8.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_variance_does_not_know_of_the_baseline(curvature, gamma, shift, seed):
    """On a quadratic it is ½Σs whatever the slope at w0 and whatever γ; the mean is less by what the minimum lies lower."""
    slope = np.where(curvature > 0, shift, 0.0)
    exact = float((curvature / (curvature + gamma)).sum()) / 2
    looks = drawn(curvature, slope, gamma, 4000, seed)
    found = from_variance(looks.loss, looks, 0.0)
    assert abs(found.llc - exact) < 4 * found.se
    assert abs(found.gap + above(curvature, slope, gamma)) < 4 * found.gap_se
    share = curvature / (curvature + gamma)
    place = slope / (curvature + gamma)
    of_gamma = float((share * (1 - share)).sum()) / 2 - float((gamma * place**2 * (1 - share)).sum())
    assert abs(found.of_gamma - of_gamma) < 4 * found.of_gamma_se


def test_errors_cover():
    """± 2 errors hold the truth in 95% of 200 runs; a binomial share of 200 at .95 lies above .9 but for a chance of .003."""
    exact = float((NEAR_GAMMA / (NEAR_GAMMA + 1)).sum()) / 2
    found = [
        from_variance(looks.loss, looks, 0.0)
        for looks in (drawn(NEAR_GAMMA, 0 * NEAR_GAMMA, 1.0, 250, s) for s in range(200))
    ]
    within = [abs(each.llc - exact) <= 2 * each.se for each in found]
    gaps = [abs(each.gap) <= 2 * each.gap_se for each in found]
    assert np.mean(within) > 0.9 and np.mean(gaps) > 0.9


def test_a_forgotten_share_of_gamma_is_seen():
    """The planted fault: (nβ)²·Var(L) alone is off by Cov(X, G) where γ holds a part of a direction."""
    looks = drawn(NEAR_GAMMA, 0 * NEAR_GAMMA, 1.0, 4000, 5)
    exact, plain = float((NEAR_GAMMA / (NEAR_GAMMA + 1)).sum()) / 2, float(looks.loss.var())
    found = from_variance(looks.loss, looks, 0.0)
    assert abs(plain - exact) > 5 * found.se > 0 and abs(found.llc - exact) < 4 * found.se


def test_flat_directions_do_not_blur_what_the_loss_alone_tells():
    many = np.concatenate([STEEP, np.zeros(5000)])
    looks = drawn(many, 0 * many, 1.0, 400, 6)
    blurred = from_variance(looks.loss, looks._replace(along=None), 0.0)
    sharp = from_variance(looks.loss, looks, 0.0)
    assert sharp.of_gamma_se < blurred.of_gamma_se / 3


def test_quartic_valleys_have_the_same_variance_as_mean():
    """X = δ⁴ has λ = ¼ and no second derivative: nβ·ΔL follows Gamma(¼, 1)."""
    loss = np.random.default_rng(7).gamma(0.25, size=(8000, 4))
    found = from_variance(loss, Looks(loss, np.zeros_like(loss), 4 * loss), 0.0)
    assert abs(found.llc - 0.25) < 4 * found.se and abs(found.gap) < 4 * found.gap_se


def test_heat_is_taken_off():
    """Chains hotter by a tenth: the mean is λ·1.1, the variance λ·1.21, and both less what heat adds are near λ again."""
    looks = drawn(STEEP, 0 * STEEP, 1e-6, 8000, 8)
    hot = Looks(1.1 * looks.loss, looks.pull, None)
    found = from_variance(hot.loss, hot, heat=0.5)
    assert abs(found.gap) < 4 * found.gap_se + 0.05 and abs(found.llc - 5.0) < 4 * found.se + 0.05  # 0.1² of 5 is left


def test_what_is_not_known_is_not_told():
    short = drawn(STEEP, 0 * STEEP, 1.0, 4, 0)
    assert math.isnan(from_variance(short.loss, short, 0.0).llc)
    looks = drawn(STEEP, 0 * STEEP, 1.0, 100, 0)
    broken = looks.loss.copy()
    broken[3, 2] = math.nan
    assert math.isnan(from_variance(broken, looks._replace(loss=broken), 0.0).gap)
    assert FromVariance() == FromVariance(*[math.nan] * 6) or math.isnan(FromVariance().llc)


def of(problem, sampler="UnderdampedLangevin", **more):
    return estimate(problem, sampler, progress=False, **{"chains": 4, "seed": 2, "dtype": "float64", **more})


def test_on_the_plane_it_stands_beside_the_exact_value_and_counts_for_nothing():
    """Noise in the data takes from the mean, and from the exact value, what the minimum lies lower than w0."""
    found = of(planar_landscape("quadratic"), steps=8000)
    right = found.reference + found.evidence.above
    assert abs(found.llc_from_variance - right) < 4 * found.llc_from_variance_se < right / 4
    assert math.isnan(found.evidence.gap) and math.isnan(found.evidence.of_gamma), "quadrature judges the estimate"
    assert not found.evidence.variance_unknown and f"from the variance of the losses: {found.variance_words}" in str(
        found
    )


@pytest.mark.parametrize(
    "why, settings",
    [
        (TOO_SHORT, {"steps": 60}),
        (WEIGHTED, {"interaction": "Contour", "sampler": "SGLD", "step_size": 1e-4, "steps": 400}),
        (INTERACTING, {"interaction": "ReplicaExchange", "sampler": "SGLD", "steps": 400}),
    ],
)
def test_where_it_is_not_known_the_reason_is_said(why, settings):
    found = of(planar_landscape("quadratic"), **settings)
    assert math.isnan(found.llc_from_variance) and found.evidence.variance_unknown == why
    assert f"from the variance of the losses: not known, since {why}" in str(found)
    read = Estimate.from_json(found.to_json())
    assert read.variance_words == "not known", "a text does not keep why"


def test_a_noisy_one_says_so():
    looks = drawn(STEEP, 0 * STEEP, 1.0, 9, 0)
    found = from_variance(looks.loss, looks, 0.0, heat_se=100.0)
    assert math.isnan(found.llc) and found.unknown == TOO_NOISY and math.isfinite(found.gap)
