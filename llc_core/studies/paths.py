"""Principal components of a path through many dimensions, beside those of pure noise, which are known exactly.

A random walk in many dimensions has principal components too, and they look like a plan: its path through the first two is a
parabola, through others a Lissajous curve, and the first one holds six tenths of its variance. A picture of training says
something where it differs from that.
Sources: Antognini & Sohl-Dickstein 2018 (arXiv 1806.08805); Shinn 2023 (PNAS 120, e2311420120).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from llc_core.fields import whole


@dataclass(frozen=True)
class PrincipalPath:
    """coordinates: [T, C], centred, the component of most variance first.  shares: of the variance, [C]."""

    coordinates: np.ndarray
    shares: np.ndarray


def principal_path(rows: np.ndarray, components: int = 3) -> PrincipalPath:
    """rows: [T, D], what is followed at T times, such as weights or outputs of a network.

    The sign of each component is that of its last row. Raises ValueError for fewer than three times, for numbers that are not
    finite, and for a path that does not move.
    """
    found = np.asarray(rows, dtype=np.float64)
    components = whole("components", components, 1, 100)
    if found.ndim != 2 or len(found) < 3:
        raise ValueError(f"rows has the shape {found.shape}; give [times, dimensions] with at least three times.")
    if not np.isfinite(found).all():
        raise ValueError("rows has numbers that are not finite; leave those times out.")
    found = found - found.mean(axis=0)
    left, sizes, _ = np.linalg.svd(found, full_matrices=False)
    if not sizes[0] > 0:
        raise ValueError("rows is the same at all times; there is no path.")
    kept = min(components, len(sizes), len(found) - 1)  # the mean has been taken off
    coordinates = left[:, :kept] * sizes[:kept]
    signs = np.where(coordinates[-1] < 0, -1.0, 1.0)
    return PrincipalPath(coordinates * signs, sizes[:kept] ** 2 / np.sum(sizes**2))


def noise_path(times: int, dimensions: int, seed: int = 0) -> np.ndarray:
    """A random walk of normal steps, [times, dimensions]."""
    times, dimensions = whole("times", times, 3, 10**6), whole("dimensions", dimensions, 1, 10**6)
    return np.random.default_rng(seed).standard_normal((times, dimensions)).cumsum(axis=0)


def expected_noise(times: int, components: int = 3) -> PrincipalPath:
    """What `principal_path` of a random walk comes to as dimensions grow: exact for this number of times.

    Component k is cos(kπ(t + ½)/T), and its variance is as 1/(4 sin²(kπ/2T)), about 1/k²: 61%, 15%, 7%. These are the
    eigenvectors and the inverse eigenvalues of the Laplacian of a path of T points. Coordinates are scaled to a walk whose steps
    have variance 1 in all dimensions together.
    """
    times, components = whole("times", times, 3, 10**6), whole("components", components, 1, 100)
    orders = np.arange(1, times)
    variances = 1 / (4 * np.sin(orders * np.pi / (2 * times)) ** 2)
    kept = orders[: min(components, times - 1)]
    waves = np.sqrt(2 / times) * np.cos(np.pi * np.outer(np.arange(times) + 0.5, kept) / times)
    coordinates = waves * np.sqrt(variances[: len(kept)])
    signs = np.where(coordinates[-1] < 0, -1.0, 1.0)
    return PrincipalPath(coordinates * signs, variances[: len(kept)] / variances.sum())
