"""What a ladder's losses say: log Z by stepping stones, the volume V(ε), and weights and λ̂ of basins."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

CLOSE = 1.5
HALVED = 12.0
SPLINE = 4
"""Levels above 0 that a spline wants at least. It is used from twice as many on: fewer do not tell its error (`spline_error`)."""


@dataclass(frozen=True)
class Basin:
    """One named part of the space at each level.  probability, llc: [K], with their standard errors; llc is nβ·E[ΔL | basin]."""

    probability: np.ndarray
    probability_se: np.ndarray
    llc: np.ndarray
    llc_se: np.ndarray


@dataclass(frozen=True)
class FreeEnergy:
    """What `free_energy` returns.

    llc, llc_se: λ fitted to the levels; its error joins that over ladders and that of the law: where it begins, and m where none is named.
    multiplicity: m; None where the levels cannot tell it.  evidence: {m: weight} of the multiplicities that were tried; no probabilities
        where the ladder is short.
    log_z, log_z_se: log of Z(nβ) = E_prior[exp(−nβ·ΔL)] at the coldest level.
    levels: [K] nβ, the first 0.  level_llc, level_llc_se: [K] λ̂(nβ) = nβ·E[ΔL] (`Energies`).  level_log_z, level_log_z_se: [K].
    rejection: [K − 1] rates of rejected swaps.  round_trips: of all ladders, from the coldest level to the prior and back.
    barrier: Λ, their sum; local_barrier: [K − 1], Λ's slope along log nβ (nan beside the prior).
    epsilon, volume: V(ε), the prior's mass of {ΔL < ε}, within about a tenth; empty where ΔL was negative.
    basins: name → `Basin`.  gradients: how many were spent, burn-in included; a sweep of
        exact draws counts once for each layer.  reason: why not to trust it; empty: nothing was seen.
    """

    llc: float
    llc_se: float
    multiplicity: int | None
    evidence: Mapping[int, float]
    log_z: float
    log_z_se: float
    levels: np.ndarray
    level_llc: np.ndarray
    level_llc_se: np.ndarray
    level_log_z: np.ndarray
    level_log_z_se: np.ndarray
    rejection: np.ndarray
    round_trips: int
    barrier: float
    local_barrier: np.ndarray
    epsilon: np.ndarray
    volume: np.ndarray
    basins: Mapping[str, Basin]
    gradients: int
    reason: str

    def __repr__(self) -> str:
        parts = [f"λ = {self.llc:.4g} ± {self.llc_se:.2g}, multiplicity {self.multiplicity or 'not known'}"]
        parts.append(f"log Z = {self.log_z:.4g} ± {self.log_z_se:.2g} at nβ = {self.levels[-1]:.4g}")
        parts.append(f"{len(self.levels)} levels, {self.round_trips} round trips, barrier Λ = {self.barrier:.3g}")
        parts.append(f"{self.gradients:,} gradients")
        parts.append(self.reason or "No sign against it was seen.")
        return "\n".join(parts)

    def plot(self, truth: float | None = None) -> Any:
        """nβ·E[ΔL] by nβ as a HoloViews overlay. The extra "plots" brings what it needs. truth: the exact λ, drawn as a line."""
        from llc_core.plots import figures

        return figures.free_energy(self, truth)

    def to_json(self) -> str:
        """Everything as JSON: arrays are lists, basins tables; null where a number is not known."""
        return json.dumps(_plain(vars(self)))


def _plain(value: Any) -> Any:
    if isinstance(value, Basin):
        value = vars(value)
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, np.ndarray):
        return [_plain(each) for each in value.tolist()]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def log_z_of(loss: np.ndarray, n_beta: np.ndarray, llc: np.ndarray, leave_out: int | None = None) -> np.ndarray:
    """log Z [K] from losses [T, K, C] and each ladder's λ̂(nβ) [K, C].

    Between levels with nβ at most e^CLOSE apart, −∫ λ̂ d log nβ along a cubic spline (thermodynamic integration; its own error is that of
    `spline_error`). From the prior, and where levels lie further apart, stepping stones (Xie, Lewis, Fan, Kuo &
    Chen 2011): log Z_{k+1}/Z_k = log E_k exp(−(nβ_{k+1} − nβ_k)·ΔL), exact and more scattered.  leave_out: a ladder that does not count.
    """
    if leave_out is not None:
        loss, llc = np.delete(loss, leave_out, axis=2), np.delete(llc, leave_out, axis=1)
    log = -np.diff(n_beta)[None, :, None] * loss[:, :-1]
    top = log.max(axis=(0, 2), keepdims=True)
    steps = np.log(np.exp(log - top).mean(axis=(0, 2))) + top[0, :, 0]
    place = np.log(n_beta[1:])
    if len(place) >= 2 * SPLINE:
        from scipy.interpolate import CubicSpline

        along = CubicSpline(place, llc[1:].mean(1)).antiderivative()(place)
        steps[1:] = np.where(np.diff(place) <= CLOSE, -np.diff(along), steps[1:])
    return np.concatenate([[0.0], np.cumsum(steps)])


def spline_error(n_beta: np.ndarray, llc: np.ndarray) -> np.ndarray:
    """What a spline through the levels may add to log Z [K]: a share of how far it is from that through every second level.

    On regular minima of 4 to 1,000 dimensions and on widths 2-2-2 and 3-3-3, with levels .8 and 1.5 apart in log nβ, that distance is 12 to
    45 times the error. llc: [K], means over ladders.
    """
    place = np.log(n_beta[1:])
    if len(place) < 2 * SPLINE:
        return np.zeros(len(n_beta))
    from scipy.interpolate import CubicSpline

    kept = np.unique(np.r_[np.arange(0, len(place), 2), len(place) - 1])
    full = CubicSpline(place, llc[1:]).antiderivative()(place)
    half = CubicSpline(place[kept], llc[1:][kept]).antiderivative()(place)
    return np.concatenate([[0.0], np.maximum.accumulate(np.abs(full - half)) / HALVED])


def jackknife(values: np.ndarray) -> np.ndarray:
    """Standard error from values [C, …] with one ladder left out each."""
    count = len(values)
    return np.sqrt((count - 1) * np.var(values, axis=0))


def volume_of(loss: np.ndarray, n_beta: np.ndarray, log_z: np.ndarray, points: int = 120) -> tuple[np.ndarray, ...]:
    """(ε, V(ε)), every draw of all levels weighted by 1/Σ_k e^{−nβ_k ΔL}/Z_k (Ferrenberg & Swendsen 1989); empty for negative losses."""
    flat = loss.reshape(-1)
    if flat.min() < 0:
        return np.empty(0), np.empty(0)
    low = max(np.quantile(loss[:, -1], 0.01), 1e-300)
    edges = np.geomspace(low, flat.max(), points)
    place = np.searchsorted(edges, flat, side="right")
    middle = np.concatenate([[low / 2], np.sqrt(edges[1:] * edges[:-1]), [edges[-1]]])
    log = -n_beta[:, None] * middle[None] - log_z[:, None]
    weight = 1 / np.exp(log - log.max(0)).sum(0) * np.exp(-log.max(0))
    mass = np.cumsum(np.bincount(place, minlength=points + 1) * weight)
    return edges, mass[:-1] / mass[-1]


def basin_of(loss: np.ndarray, inside: np.ndarray, n_beta: np.ndarray) -> Basin:
    """loss, inside: [T, K, C]."""
    count, total = inside.sum(0), (loss * inside).sum(0)
    steps, _, chains = loss.shape
    share = count / steps
    with np.errstate(invalid="ignore", divide="ignore"):
        rest = np.stack([np.delete(total, c, 1).sum(1) / np.delete(count, c, 1).sum(1) for c in range(chains)])
        llc = n_beta * total.sum(1) / count.sum(1)
    return Basin(share.mean(1), share.std(1, ddof=1) / np.sqrt(chains), llc, jackknife(n_beta * rest))
