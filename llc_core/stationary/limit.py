"""The distribution a sampler tends to as its step size goes to 0, by quadrature."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from llc_core.bins import Bins
from llc_core.potentials.line.build import landscape
from llc_core.potentials.line.landscape import Landscape
from llc_core.samplers.base import Sampler
from llc_core.samplers.forms import Law
from llc_core.samplers.registry import build
from llc_core.stationary.distances import Distances
from llc_core.stationary.panels import (
    DOUBLINGS,
    NEGLIGIBLE,
    NODES,
    WEIGHTS,
    Panels,
    bisect_all,
    in_pieces,
    infinite_sum,
    panel_edges,
    panel_points,
)

HOPELESS = 1e6
"""Where U is this much above its minimum, the density is 0, whatever G is there."""

SamplerLike = Sampler | Mapping[str, Any] | str
TargetLike = Landscape | Mapping[str, Any] | str


@dataclass(frozen=True)
class LimitLaw:
    """p(x) ∝ exp(−U(x)/τ)·G(U′)^{−(1−c)}·exp(∫extra/G dx), normalised by Gauss-Legendre quadrature.

    |U′| has kinks where U′ = 0, and with λ → 0 the density has cusps there: the panels are split at these points and
    halve towards them. Tails are followed until they do not count.
    Source: Rensmeyer & Niggemann 2025, eqs. 27 and 35.
    Raises ValueError where the normalising integral is infinite.
    """

    law: Law
    target: Landscape
    name: str = "target"

    def __post_init__(self) -> None:
        _ = self._panels

    # -- the density ----------------------------------------------------------------------------------------------

    def density(self, x: Any) -> np.ndarray:
        """Normalised density at x, any shape."""
        x = np.asarray(x, dtype=float)
        return np.exp(self._log_weight(x) - self._panels.log_total)

    def metric(self, x: Any) -> np.ndarray:
        """G(x) with the statistics at their limit, V → U′²; ones for a constant metric. May be inf where U′ = 0."""
        x = np.asarray(x, dtype=float)
        if self.law.metric is None:
            return np.ones_like(x)
        with np.errstate(all="ignore"):
            return np.broadcast_to(self.law.metric(self.target.slope(x)), x.shape).astype(float)

    @property
    def normalizer(self) -> float:
        """Z in density = Z·p·weight: p is the normalised target (at temperature τ), weight = G^{−(1−c)}·exp(∫extra/G)
        with the integral taken from the target's mode."""
        plain = LimitLaw(Law(temperature=self.law.temperature), self.target)
        return float(np.exp(plain._panels.log_total - self._panels.log_total))

    # -- what follows from it -------------------------------------------------------------------------------------

    def cumulative(self, x: Any) -> np.ndarray:
        """P(X ≤ x), any shape."""
        signed = self._to_nearer_end(x)
        return np.where(np.asarray(x) < self.target.mode, signed, 1 + signed)

    def quantile(self, u: float) -> float:
        """x with P(X ≤ x) = u, for u in (0, 1)."""
        edges = self._panels.edges
        side = self.cumulative(edges) if u < 0.5 else self._panels.above
        place = int(np.searchsorted(side, u)) if u < 0.5 else int(np.searchsorted(-side, u - 1))
        a, b = edges[max(place - 1, 0)], edges[min(place, len(edges) - 1)]
        return float(bisect_all(lambda x: self.cumulative(x) - u, np.array([a]), np.array([b]))[0])

    def _to_nearer_end(self, x: Any) -> np.ndarray:
        """P(X ≤ x) left of the mode and −P(X > x) right of it: both keep all digits far out in the tails."""
        return in_pieces(self._nearer_end_of, np.asarray(x, dtype=float))

    def _nearer_end_of(self, x: np.ndarray) -> np.ndarray:
        panels = self._panels
        edges = panels.edges
        x = np.clip(x, edges[0], edges[-1])
        panel = np.clip(np.searchsorted(edges, x) - 1, 0, len(edges) - 2)
        left = edges[panel]
        half = (x - left) / 2
        points = left[..., None] + half[..., None] * (1 + NODES)
        part = half * (self.density(points) @ WEIGHTS)
        return np.where(x < self.target.mode, panels.below[panel] + part, np.minimum(part - panels.above[panel], 0.0))

    def _gap(self, other: LimitLaw, x: np.ndarray) -> np.ndarray:
        """P(X ≤ x) of this distribution less that of another on the same target."""
        return self._to_nearer_end(x) - other._to_nearer_end(x)

    def masses(self, bins: Bins | Mapping[str, Any] | None = None) -> np.ndarray:
        """Probability of each bin and of the two tails, [count + 2]."""
        edges = Bins.of(bins).edges
        result = np.diff(self._to_nearer_end(edges), prepend=0.0, append=0.0)
        result[np.searchsorted(edges, self.target.mode)] += 1
        return np.clip(result, 0.0, 1.0)

    def mean(self, f: Callable[[np.ndarray], np.ndarray]) -> float:
        """E f(X), where it exists; inf or −inf where the tails make it infinite."""
        panels = self._panels
        parts = panels.weights * panels.density
        parts = np.sum(np.where(parts > 0, f(panels.points) * parts, 0.0), axis=1)
        return infinite_sum(parts)

    def moments(self) -> dict[str, float]:
        """E x, E|x| and E x² ("mean", "mean_abs", "second")."""
        return {"mean": self.mean(lambda x: x), "mean_abs": self.mean(np.abs), "second": self.mean(np.square)}

    def distances(self, other: LimitLaw) -> Distances:
        """Of this distribution to another one on the same target: total variation, KL(self‖other), Wasserstein-1 (in units of x)."""
        edges = np.union1d(self._panels.edges, other._panels.edges)
        points, weights = panel_points(edges)
        p, q = self.density(points), other.density(points)
        with np.errstate(all="ignore"):
            kl = float(np.sum(weights * np.where(p > 0, p * (np.log(p) - np.log(q)), 0.0)))
        # P − Q is monotone between the crossings of the densities
        flat, ahead = points.ravel(), (p > q).ravel()
        turn = np.flatnonzero(ahead[:-1] != ahead[1:])
        cuts = bisect_all(lambda x: self.density(x) - other.density(x), flat[turn], flat[turn + 1])
        gap = self._gap(other, cuts)
        variation = float(np.sum(np.abs(np.diff(gap, prepend=0.0, append=0.0)))) / 2
        return Distances(variation, kl, float(np.sum(weights * np.abs(self._gap(other, points)))))

    # -- quadrature -----------------------------------------------------------------------------------------------

    def _log_weight(self, x: np.ndarray) -> np.ndarray:
        """Of the density, up to a constant that is fixed by U(mode) = 0 and ∫extra/G = 0 at the mode."""
        with np.errstate(all="ignore"):
            result = (self._at_mode - self.target.energy(x)) / self.law.temperature
            if self.law.metric is not None and self.law.gamma_share != 1:
                result = result - (1 - self.law.gamma_share) * np.log(self.metric(x))
            if self.law.extra_drift is not None:
                result = result + self._work(x)
            # so far up that G overflows
            result = np.where(self.target.energy(x) - self._at_mode > HOPELESS, -np.inf, result)
        return np.where(np.isnan(result), -np.inf, result)

    @cached_property
    def _at_mode(self) -> float:
        return float(self.target.energy(np.array([self.target.mode]))[0])

    def _push(self, x: np.ndarray) -> np.ndarray:
        assert self.law.extra_drift is not None
        return np.where(np.isfinite(x), self.law.extra_drift(self.target.slope(x)) / self.metric(x), 0.0)

    def _work(self, x: np.ndarray) -> np.ndarray:
        """∫extra/G dx from the mode to x."""
        return in_pieces(self._work_to, x)

    def _work_to(self, x: np.ndarray) -> np.ndarray:
        edges, total = self._work_at_edges
        panel = np.clip(np.searchsorted(edges, x) - 1, 0, len(edges) - 2)
        left = edges[panel]
        half = (x - left) / 2
        return total[panel] + half * (self._push(left[..., None] + half[..., None] * (1 + NODES)) @ WEIGHTS)

    @cached_property
    def _work_at_edges(self) -> tuple[np.ndarray, np.ndarray]:
        edges = self._edges
        points, weights = panel_points(edges)
        parts = np.sum(weights * self._push(points), axis=1)
        mode = int(np.searchsorted(edges, self.target.mode))
        # outward from the mode: far out the sums are huge, and differences of them would be lost
        left, right = -np.cumsum(parts[:mode][::-1])[::-1], np.cumsum(parts[mode:])
        return edges, np.concatenate([left, [0.0], right])

    @cached_property
    def _edges(self) -> np.ndarray:
        return panel_edges(self.target)

    @cached_property
    def _panels(self) -> Panels:
        edges = self._edges
        points, weights = panel_points(edges)
        log_weight = self._log_weight(points)
        top = float(log_weight.max())
        parts = np.sum(weights * np.exp(log_weight - top), axis=1)
        side = DOUBLINGS - 1
        for tail, name in ((parts[side - 1 :: -1], "left"), (parts[-side:], "right")):
            if not np.isfinite(tail).all() or tail[-1] > 0.99 * tail[-2] > NEGLIGIBLE * parts.sum():
                raise ValueError(
                    f"The predicted distribution of {self.name} on {self.target.label} cannot be normalised: its {name} tail has "
                    "infinite mass. Choose a target with lighter tails or other hyperparameters of the sampler."
                )
        total = parts.sum()
        log_total = top + float(np.log(total))
        below = np.concatenate([[0.0], np.cumsum(parts)]) / total
        above = np.concatenate([np.cumsum(parts[::-1])[::-1], [0.0]]) / total
        return Panels(edges, points, weights, np.exp(log_weight - log_total), below, above, log_total)


def limit_law(sampler: SamplerLike, target: TargetLike) -> LimitLaw:
    """The distribution that `sampler` tends to on `target` as its step size goes to 0.

    Raises ValueError where there is none, or where it cannot be normalised.
    """
    sampler = build(sampler)
    law = sampler.law()
    if law is None:
        raise ValueError(
            f"{sampler.name} with these hyperparameters has no limit distribution: it diverges; change them."
        )
    return LimitLaw(law, landscape(target), sampler.name)


def target_law(target: TargetLike) -> LimitLaw:
    """The target itself, exp(−U) normalised."""
    return LimitLaw(Law(), landscape(target))
