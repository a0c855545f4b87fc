"""Distances between two distributions on the line, from their masses in common bins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from llc_core.bins import Bins


@dataclass(frozen=True)
class Distances:
    """total_variation: ½∫|p − q|, between 0 and 1.  kl_divergence: ∫p log(p/q).  wasserstein: W₁, in units of x."""

    total_variation: float
    kl_divergence: float
    wasserstein: float


def total_variation(p: Any, q: Any) -> float:
    """½ Σ|p − q| of two arrays of masses or counts [n], each scaled to sum 1; nan where one is empty."""
    p, q = _shares(p, q)
    return float(np.abs(p - q).sum()) / 2


def kl_divergence(p: Any, q: Any) -> float:
    """Σ p log(p/q) of two arrays of masses or counts [n], each scaled to sum 1; inf where q is 0 and p is not."""
    p, q = _shares(p, q)
    with np.errstate(all="ignore"):
        return float(np.sum(np.where(p == 0, 0.0, p * np.log(p / q))))


def wasserstein(p: Any, q: Any, bins: Bins | Mapping[str, Any] | None = None) -> float:
    """Wasserstein-1 distance, in units of x, of two arrays of masses or counts [count + 2] in `bins`.

    The mass of a bin counts as lying at its centre, and that of a tail half a bin outside the last edge. Mass far out then
    counts too little: choose bins that hold nearly all of it.
    """
    p, q = _shares(p, q)
    return float(np.abs(np.cumsum(p - q)[:-1]).sum() * Bins.of(bins).width)


def _shares(p: Any, q: Any) -> tuple[np.ndarray, np.ndarray]:
    p, q = np.asarray(p, dtype=float), np.asarray(q, dtype=float)
    if p.shape != q.shape or p.ndim != 1:
        raise ValueError(f"Masses of shapes {p.shape} and {q.shape} cannot be compared; use the same bins for both.")
    with np.errstate(all="ignore"):
        return p / p.sum(), q / q.sum()
