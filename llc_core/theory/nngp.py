"""Kernels of Gaussian processes that infinitely wide networks are: expectations of products of activations, layer by layer."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from llc_core.fields import choice

SELU_ALPHA = 1.6732632423543772
SELU_SCALE = 1.0507009873554805
REACH, NODES = 12.0, 160
"""The normal density is cut at ± REACH, where it is 2·10⁻³²; NODES on each side of the kink."""
HERMITE = 96


def _selu_dual(k11: np.ndarray, k12: np.ndarray, k22: np.ndarray) -> np.ndarray:
    """E φ(u)φ(v): the inner expectation, given u, is exact; the outer one by Gauss–Legendre on both sides of the kink.

    Nodes crowd towards the kink as t³, since the inner expectation bends there over a width that shrinks as |ρ| → 1.
    """
    t, weights = np.polynomial.legendre.leggauss(NODES)
    t, weights = (t + 1) / 2, weights / 2
    half, half_weights = REACH * t**3, REACH * 3 * t**2 * weights
    z = np.concatenate([-half, half])
    weights = np.concatenate([half_weights, half_weights]) * np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    root = np.sqrt(k11)[..., None]
    slope = k12[..., None] / root
    spread = np.sqrt(np.maximum(k22[..., None] - slope**2, 1e-18 * k22[..., None]))
    outer = root * z
    return (
        (SELU_SCALE * np.where(outer > 0, outer, SELU_ALPHA * np.expm1(np.minimum(outer, 0))))
        * weights
        * (_mean_selu(slope * z, spread))
    ).sum(axis=-1)


def _mean_selu(mean: np.ndarray, sd: np.ndarray) -> np.ndarray:
    """E φ(v), v ~ N(mean, sd²)."""
    share = mean / sd
    from scipy.special import log_ndtr, ndtr  # scipy takes longer to import than the engine

    above = mean * ndtr(share) + sd * np.exp(-np.minimum(share * share, 1400) / 2) / math.sqrt(2 * math.pi)
    below = np.exp(mean + sd * sd / 2 + log_ndtr(-share - sd)) - ndtr(-share)
    return SELU_SCALE * (above + SELU_ALPHA * below)


def _relu_dual(k11: np.ndarray, k12: np.ndarray, k22: np.ndarray) -> np.ndarray:
    """Cho & Saul 2009, degree 1."""
    root = np.sqrt(k11 * k22)
    angle = np.arccos(np.clip(k12 / root, -1, 1))
    return root / (2 * math.pi) * (np.sin(angle) + (math.pi - angle) * np.cos(angle))


def _erf_dual(k11: np.ndarray, k12: np.ndarray, k22: np.ndarray) -> np.ndarray:
    """Williams 1997."""
    return 2 / math.pi * np.arcsin(2 * k12 / np.sqrt((1 + 2 * k11) * (1 + 2 * k22)))


def _tanh_dual(k11: np.ndarray, k12: np.ndarray, k22: np.ndarray) -> np.ndarray:
    """Gauss–Hermite in both directions; six digits for variances up to 4."""
    z, weights = np.polynomial.hermite_e.hermegauss(HERMITE)
    weights = weights / weights.sum()
    root = np.sqrt(k11)[..., None]
    slope = k12[..., None] / root
    spread = np.sqrt(np.maximum(k22[..., None] - slope**2, 0.0))
    inner = np.zeros_like(slope * z)
    for node, weight in zip(z, weights, strict=True):
        inner += weight * np.tanh(slope * z + spread * node)
    return (np.tanh(root * z) * inner * weights).sum(axis=-1)


DUALS: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]] = {
    "selu": _selu_dual,
    "relu": _relu_dual,
    "erf": _erf_dual,
    "tanh": _tanh_dual,
}


def nngp_kernel(
    activation: str, inputs: Any, depth: int, weight_variance: float = 1.0, bias_variance: float = 0.2
) -> np.ndarray:
    """Covariance [n, n] of f at inputs [n, d] (or [n], where d = 1) under the prior of an infinitely wide network.

    depth: number of hidden layers.  weight_variance: of weights times their fan-in.  bias_variance: of biases, that of the
    output among them: K⁰ = weight_variance·xxᵀ/d + bias_variance, K ← weight_variance·E[φ(u)φ(v)] + bias_variance.
    Raises ValueError for an unknown activation or inputs that are no numbers. Source: Neal 1996; Lee et al. 2018; Matthews et al.
    2018. SELU to 10⁻¹², erf and ReLU in closed form, tanh to about 10⁻⁶.
    """
    choice("activation", activation, tuple(DUALS))
    x = np.asarray(inputs, dtype=float)
    x = x[:, None] if x.ndim == 1 else x
    if x.ndim != 2 or not x.size or not np.isfinite(x).all():
        raise ValueError(f"inputs has the shape {x.shape}; give finite rows [n, d].")
    kernel = weight_variance * (x @ x.T) / x.shape[1] + bias_variance
    row, column = np.triu_indices(len(x))
    for _ in range(depth):
        variances = np.diag(kernel)
        # In parts that bound the memory: every pair has 2·NODES numbers.
        pairs = [
            DUALS[activation](variances[row[part]], kernel[row[part], column[part]], variances[column[part]])
            for part in (slice(start, start + 4096) for start in range(0, len(row), 4096))
        ]
        dual = np.zeros_like(kernel)
        dual[row, column] = np.concatenate(pairs)
        dual[column, row] = dual[row, column]
        kernel = weight_variance * dual + bias_variance
    return kernel
