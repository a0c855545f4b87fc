"""What θ of contour sampling comes to: a flat histogram, a slope with a known eigenvalue, and noise and spread as chains have them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from llc_core.interactions.contour import Contour
from llc_core.references.learned_theta import theta_law
from llc_core.studies.papers.contour_sampling.theta_laws import OWN, STEP

pytest.importorskip("numba")
BINS = OWN.bins


@pytest.fixture(scope="module")
def law():
    return theta_law(OWN, STEP)


def frozen(theta: np.ndarray, steps: int, chains: int, seed: int) -> np.ndarray:
    """Bins [steps, chains] of chains whose θ stays, by a plain loop."""
    random = np.random.default_rng(seed)
    heat = 1 + OWN.zeta * np.diff(np.log(theta), prepend=np.log(theta[0])) / OWN.width
    x, found = np.zeros(chains), np.empty((steps, chains), int)
    for t in range(steps):
        found[t] = np.clip(np.ceil(np.abs(x) / OWN.width) - 1, 0, BINS - 1)
        x = x - STEP * heat[found[t]] * np.sign(x) + np.sqrt(2 * STEP) * random.standard_normal(chains)
    return found


@pytest.mark.slow
def test_all_bins_are_visited_alike_and_sums_come_back_to_one(law):
    assert law.fixed.sum() == pytest.approx(1) and (law.fixed > 0).all()
    # Σh = E θ(J)·(1 − Σθ), and E θ(J) is 1/m where visits are flat
    assert law.slope.sum(axis=0) == pytest.approx(-np.full(BINS, 1 / BINS), abs=1e-6)
    assert np.linalg.eigvals(law.slope).real.max() < 0
    assert law.noise.sum(axis=0) == pytest.approx(np.zeros(BINS), abs=1e-12)
    assert law.covariance(0.0, 4) == pytest.approx(law.covariance() / 4)


@pytest.mark.slow
def test_visits_and_noise_are_those_of_chains(law):
    """Noise: batch means, whose variance times their length tends to the sum over all lags."""
    chains, batch = 1_000, 500
    seen = frozen(law.fixed, 200 + 4 * batch, chains, 1)[200:]
    shares = np.bincount(seen.ravel(), minlength=BINS) / seen.size
    pull = law.fixed[seen][..., None] * (np.eye(BINS)[seen] - law.fixed)
    means = pull.reshape(4, batch, chains, BINS).mean(axis=1).reshape(-1, BINS)
    found = np.cov(means.T) * batch
    # correlations last some twenty steps: the error of a share, and what batches of 500 lack, are below these
    assert shares == pytest.approx(np.full(BINS, 1 / BINS), abs=4e-3)
    assert np.trace(found) == pytest.approx(np.trace(law.noise), rel=0.1)
    lagless = np.cov(pull.reshape(-1, BINS).T)
    assert np.trace(lagless) < np.trace(law.noise) / 2, "without the lags it would be another number"


@pytest.mark.parametrize(
    ("change", "words"),
    [({"low": 0.5}, "low is 0.5; give 0"), ({"clip": 2.0}, "clip 2"), ({"field": "old"}, "field 'old'")],
)
def test_what_is_not_known_is_said(change, words):
    with pytest.raises(ValueError, match=words):
        theta_law(dataclasses.replace(OWN, **change), STEP)


@pytest.mark.rare
@pytest.mark.slow
def test_bins_that_cannot_be_flat_are_refused():
    with pytest.raises(ValueError, match="does not settle at 6 bins"):
        theta_law(Contour(low=0.0, high=3.0, bins=6, zeta=0.9, difference="forward", rate=0.5), 0.05)
