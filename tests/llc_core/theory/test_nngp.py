"""Kernels of infinitely wide networks: against nested quadrature, closed forms, and the log evidence of the curve's data."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate
from scipy.special import erf

from llc_core import nngp_kernel
from llc_core.theory.nngp import DUALS, SELU_ALPHA, SELU_SCALE

X = np.array([-2.0, 0.3, 1.7])


def selu(z):
    return SELU_SCALE * (z if z > 0 else SELU_ALPHA * math.expm1(z))


PLAIN = {"selu": selu, "relu": lambda z: max(z, 0.0), "erf": lambda z: float(erf(z)), "tanh": math.tanh}
WITHIN = {"selu": 1e-9, "relu": 1e-10, "erf": 1e-10, "tanh": 1e-6}


def nested(phi, k11, k12, k22):
    """E φ(u)φ(v) by quadrature in both directions, split where either argument is 0."""
    s1 = math.sqrt(k11)
    slope, spread = k12 / s1, math.sqrt(k22 - k12**2 / k11)

    def density(z):
        return math.exp(-z * z / 2) / math.sqrt(2 * math.pi)

    def inner(z):
        kink = min(max(-slope * z / spread, -12.0), 12.0)
        value = lambda t: phi(slope * z + spread * t) * density(t)  # noqa: E731
        return sum(integrate.quad(value, a, b, epsabs=1e-13, limit=200)[0] for a, b in ((-12, kink), (kink, 12)))

    outer = lambda z: phi(s1 * z) * inner(z) * density(z)  # noqa: E731
    return sum(integrate.quad(outer, a, b, epsabs=1e-12, limit=200)[0] for a, b in ((-12, 0), (0, 12)))


@pytest.mark.parametrize("name", sorted(PLAIN))
def test_duals_are_the_expectations(name):
    k = np.outer(X, X) + 0.2
    for i, j in ((0, 1), (1, 2)):
        found = DUALS[name](*(np.array([value]) for value in (k[i, i], k[i, j], k[j, j])))[0]
        assert found == pytest.approx(nested(PLAIN[name], k[i, i], k[i, j], k[j, j]), abs=WITHIN[name])


def test_selu_where_both_arguments_are_one():
    """ρ = 1: E φ(u)², one integral; and the printed values of the design."""
    k = np.outer(X, X) + 0.2
    one = nngp_kernel("selu", X, 1, bias_variance=0.2) - 0.2
    expected = {(0, 1): -0.380997549339, (0, 2): -2.066822118837, (1, 2): 0.675613213341, (2, 2): 2.437051188242}
    for place, value in expected.items():
        assert one[place] == pytest.approx(value, abs=1e-11)
    square = lambda z: selu(math.sqrt(k[2, 2]) * z) ** 2 * math.exp(-z * z / 2) / math.sqrt(2 * math.pi)  # noqa: E731
    exact = sum(integrate.quad(square, a, b, epsabs=1e-13)[0] for a, b in ((-12, 0), (0, 12)))
    assert one[2, 2] == pytest.approx(exact, abs=1e-10)


def test_kernel_is_a_covariance_and_refuses_bad_input():
    kernel = nngp_kernel("relu", np.linspace(-2, 2, 9), 3)
    assert np.array_equal(kernel, kernel.T) and np.linalg.eigvalsh(kernel).min() > 0
    with pytest.raises(ValueError, match="activation is 'gelu'"):
        nngp_kernel("gelu", X, 1)
    with pytest.raises(ValueError, match="inputs has the shape"):
        nngp_kernel("relu", [[math.nan]], 1)
