"""The distribution of a two-layer linear network around the product 0, against integrals that are known otherwise."""

from __future__ import annotations

import numpy as np
import pytest

from llc_core import DeepLinearNetwork
from llc_core.theory.zero_product import zero_product_distribution


def test_one_hidden_unit_is_an_integral_over_one_radius():
    """W1 a row of a normal numbers: x = |W1|² is χ² of a."""
    for inputs, outputs, n_beta in ((1, 1, 10.0), (3, 2, 1e4), (2, 4, 0.01), (300, 3, 10.0), (4_000, 2, 0.5)):
        log = np.linspace(-70, 9.5, 400_001)
        x, density, strength = np.exp(log), inputs / 2 * log - np.exp(log) / 2, 2 * n_beta * 1.7
        density = np.exp(density - density.max())
        mass = density * (1 + strength * x) ** (-outputs / 2)
        log_z, llc = zero_product_distribution((inputs, 1, outputs), n_beta, 1.7)
        assert log_z == pytest.approx(np.log(mass.sum() / density.sum()), abs=2e-5)
        assert llc == pytest.approx(
            (mass * outputs / 2 * strength * x / (1 + strength * x)).sum() / mass.sum(), abs=2e-5
        )


@pytest.mark.slow
@pytest.mark.parametrize("widths", [(2, 2, 2), (3, 3, 3), (2, 3, 2), (4, 2, 3)])
def test_draws_agree(widths):
    """E over W1 by plain draws, at an nβ at which these suffice."""
    inputs, hidden, outputs = widths
    first = np.random.default_rng(5).standard_normal((400_000, hidden, inputs))
    x = np.linalg.svd(first, compute_uv=False) ** 2
    weight = np.prod(1 + 0.6 * x, axis=1) ** (-outputs / 2)
    log_z, llc = zero_product_distribution(widths, 0.3, 1.0)
    energy = (outputs / 2 * 0.6 * x / (1 + 0.6 * x)).sum(1)
    error = weight.std() / weight.mean() / np.sqrt(len(x))
    assert abs(log_z - np.log(weight.mean())) < 4.5 * error
    ratio = (weight * energy).mean() / weight.mean()
    spread = (weight * (energy - ratio)).std() / weight.mean() / np.sqrt(len(x))
    assert abs(llc - ratio) < 4.5 * spread


@pytest.mark.parametrize("widths", [(2, 2, 2), (3, 3, 3), (2, 3, 2), (1, 1, 1)])
def test_aoyagi_s_coefficients_are_the_limit(widths):
    """λ̂ = λ − (m − 1)/(log nβ + c): with c out of two values of nβ, at a third."""
    known = DeepLinearNetwork(
        [np.zeros((b, a)) for a, b in zip(widths, widths[1:], strict=False)]
    ).local_learning_coefficient
    assert known is not None and known.multiplicity is not None
    low, high = (zero_product_distribution(widths, n_beta, 1.0)[1] for n_beta in (1e14, 1e20))
    if known.multiplicity == 1:
        assert high == pytest.approx(float(known), abs=1e-5)
    else:
        shift = 1 / (float(known) - low) - np.log(1e14)
        assert high == pytest.approx(float(known) - 1 / (np.log(1e20) + shift), abs=1e-5)


def test_too_many_singular_values_are_one_sentence():
    with pytest.raises(ValueError, match="at most 5"):
        zero_product_distribution((6, 7, 2), 1.0, 1.0)
