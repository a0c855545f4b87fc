"""λ(E) from the multiplier of contour sampling: with exact masses of bins, and with those that chains learned."""

from __future__ import annotations

import numpy as np
import pytest

import llc_core
from llc_core.plane import PlaneRun
from llc_core.studies.tempering.flat import scale_resolved_llc

LOG = llc_core.Contour(low=0.1, high=4.0, bins=16, scale="log", zeta=0.5, clip=10.0, rate=0.1)


@pytest.mark.parametrize("difference", ["backward", "forward"])
@pytest.mark.parametrize("zeta", [0.5, 1.0])
@pytest.mark.parametrize("llc", [0.25, 0.75, 2.0])
@pytest.mark.parametrize("scale", ["linear", "log"])
def test_exact_masses_give_the_coefficient_at_every_scale(scale, llc, zeta, difference):
    """g ∝ E^{λ−1}: the density of E, or of log E, at the edges where θ stands. On fine bins the slope's error is quadratic."""
    contour = llc_core.Contour(low=0.5, high=6.0, bins=400, scale=scale, zeta=zeta, difference=difference)
    at = contour.edges[1:] if difference == "backward" else contour.edges[:-1]
    theta = (at ** (llc - (scale == "linear")) * np.exp(-at)) ** (1 / zeta)
    energy, found = scale_resolved_llc(contour, theta / theta.sum())
    assert np.abs(found - llc).max() < 1e-3 and len(energy) == 399 and (np.diff(energy) > 0).all()


@pytest.mark.slow
@pytest.mark.long
def test_chains_on_a_singular_minimum_learn_it():
    """w1² + w2⁴, λ = ¾ at every scale: θ of eight trials, scales together, by the spread of the trials. The allowance is for the
    steps, of which ε times the largest curvature (2 along w1, times a multiplier of about 2) is 0.04."""
    pytest.importorskip("numba")
    surface = llc_core.surface("sum", n_beta=1.0)
    run = PlaneRun(
        llc_core.SGLD(step_size=1e-2), surface, LOG, chains=4, trials=8, steps=150_000, burn_in=149_999, seed=1
    )
    learned = run.advance(150_000).shared[:, : LOG.bins]
    found = np.array([scale_resolved_llc(LOG, theta)[1] for theta in learned])
    energy = scale_resolved_llc(LOG, learned[0])[0]
    inner = (energy > 0.4) & (energy < 2)
    each = found[:, inner].mean(axis=1)
    error = each.std(ddof=1) / np.sqrt(len(each))
    assert abs(each.mean() - 0.75) < 4.5 * error + 0.04 and error < 0.04, (each.mean(), error)
    flat = scale_resolved_llc(LOG, np.full(LOG.bins, 1 / LOG.bins))[1]
    assert np.abs(flat - 0.75)[inner].mean() > 0.3, "a θ that has learned nothing would not do"


def test_what_is_no_theta_is_one_sentence():
    with pytest.raises(ValueError, match="give 16 numbers"):
        scale_resolved_llc(LOG, [1.0, 2.0])
    with pytest.raises(ValueError, match="zeta is 0"):
        scale_resolved_llc(llc_core.Contour(zeta=0.0), np.ones(100))
    theta = np.ones(16)
    theta[3] = 0
    assert np.isnan(scale_resolved_llc(LOG, theta)[1][2:4]).all()
