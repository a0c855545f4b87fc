"""Patterning: weights of the rows of the data under which means along the chains change by wanted amounts.

With weights u of the rows, 1 each in the data, the chains sample exp(−β·Σ u_i ℓ_i − …), so that the mean of a fixed φ changes by

    dE[φ] = −β·Σ_i Cov(φ, ℓ_i)·du_i

and the smallest change of the weights is a pseudo-inverse of the matrix of these slopes. Its sum is 0: what all weights have in
common is nβ. Source: arXiv 2601.13548, dh = χ⁺·dμ. Here the direction alone is that of first order. How far to go along it is solved
for with draws that weigh exp(−β·Σ du_i ℓ_i), which is exact but for their number.

A direction follows the noise of the draws that chose it, and promises too much on the same ones. It is therefore chosen on half of
the chains, and how far to go is measured on the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from llc_core.diagnostics.convergence import mean_error
from llc_core.fields import short
from llc_core.studies.covariances.draws import RowDraws, row_draws
from llc_core.studies.covariances.influences import query_of

ENOUGH_CARRY = 0.5
"""Share of the draws that carry a prediction: with less the weights reach where few draws are."""
TOO_UNCERTAIN = 0.5
"""An error above this share of what is wanted leaves open what will come."""
ROUNDS, CLOSE = 30, 1e-6
"""Of Newton's rule, and how near to what is wanted it has to come, as a share of it."""
WORST = 1e6
"""Condition number from which on slopes of several means are one and the same."""


@dataclass(frozen=True)
class Pattern:
    """Weights of rows under which means of φ change by what is wanted. Source: arXiv 2601.13548.

    weights: [n] of all rows of the data, mean 1, as `NetworkPotential(sample_weights=…)` takes them; rows that the run did not
        keep have 1.
    names: of the means, Q.  before: [Q] their values.  wanted: [Q] by how much they change, in the units of φ.
    se: [Q] the error of that change, from the chains that did not choose the direction.
    carrying: share of the draws that carry these weights (Kish); the least over runs.
    """

    weights: np.ndarray
    names: tuple[str, ...]
    before: np.ndarray
    wanted: np.ndarray
    se: np.ndarray
    carrying: float

    @property
    def note(self) -> str:
        """Empty, or one sentence where the change may be another one."""
        if self.carrying < ENOUGH_CARRY:
            return f"These weights reach far: {self.carrying:.0%} of the draws carry them; want less."
        if not (self.se <= TOO_UNCERTAIN * np.abs(self.wanted).max()).all():
            return "Too few draws to say what will come; give more chains or more steps."
        return ""

    def __repr__(self) -> str:
        lines = [f"{'mean of':>20}  {'before':>10}  {'change':>10}  {'±':>8}"]
        for name, before, change, se in zip(self.names, self.before, self.wanted, self.se, strict=True):
            lines.append(f"{name:>20}  {before:>10.3g}  {change:>+10.3g}  {se:>8.2g}")
        lines.append(f"Weights from {self.weights.min():.3g} to {self.weights.max():.3g}. {self.note}".rstrip())
        return "\n".join(lines)


def patterning(found: Any, wanted: Any, query: Any = "LossDraws") -> Pattern:
    """The smallest change of the weights of rows, with the same sum, that changes means along the chains by `wanted`.

    The weights are factors of those that the rows have in the run: a network with `sample_weights` takes the product of both.

    found: an Estimate of a run with RowLosses; or one for each part of the weights by name, such as
        `susceptibilities(…).estimates`, whose probes are numbers of rows in the data. The rows that were kept are weighed.
    query: what φ is, as in `influence`. "LossDraws" is L − L(w0) of the data as they are: nβ times its mean is λ̂ of the part.
        Only the posterior gets the weights, not φ. (λ̂ of the data with weights is another number.)
    wanted: the changes, one for each φ of each run in turn, or {name: change}.

    Raises ValueError, one sentence, where a weight would be below 0, where no weights change one φ without another, and where the
    draws do not reach so far.
    """
    parts = found if isinstance(found, Mapping) else {"": found}
    runs = {name: row_draws(each) for name, each in parts.items()}
    first = next(iter(runs.values()), None)
    if first is None or any(not np.array_equal(first.rows, each.rows) for each in runs.values()):
        raise ValueError(
            "found has no runs, or such that kept different rows; give runs with the same rows of the data."
        )
    if not all(np.isfinite(each.beta) and each.losses.shape[1] >= 2 for each in runs.values()):
        raise ValueError("patterning needs runs of at least 2 chains that live, with their n_beta.")
    seen = [_Mean(*each) for name, kept in runs.items() for each in _means(name, kept, query)]
    names = tuple(each.name for each in seen)
    change = _numbers(wanted, names)
    directions = np.array([each.slopes for each in seen])
    directions -= directions.mean(axis=1, keepdims=True)
    ahead = [_Ahead(each, directions) for each in seen]
    far = _far(ahead, change)
    step = far @ directions
    if step.min() < -1:
        raise ValueError(
            f"wanted asks for a weight of {1 + step.min():.2g}, and none can be below 0; want less, or keep more rows."
        )
    weights = np.ones(round(first.n_beta / first.beta) if np.isfinite(first.n_beta) else len(first.rows))
    weights[first.rows] += step
    before, se = np.array([each.before for each in seen]), np.array([each.error(far) for each in ahead])
    return Pattern(weights, names, before, change, se, min(each.share(far) for each in ahead))


@dataclass(frozen=True)
class _Mean:
    """φ [T, C] of one run. Even chains choose the direction, odd ones measure."""

    name: str
    kept: RowDraws
    phi: np.ndarray

    @property
    def before(self) -> float:
        return float((self.phi * self.kept.weights).sum() / self.kept.weights.sum())

    @property
    def slopes(self) -> np.ndarray:
        """dE[φ]/du [R], by the chains that choose."""
        phi, w = self.phi[:, ::2], _shares(self.kept.weights[:, ::2])
        found: np.ndarray = -self.kept.beta * np.einsum(
            "tc,tcr->r", w * (phi - (w * phi).sum()), self.kept.of_rows[:, ::2]
        )
        return found


class _Ahead:
    """The mean of φ at weights 1 + far·directions, by the chains that measure.  far: [P]."""

    def __init__(self, mean: _Mean, directions: np.ndarray):
        self.phi, self.w = mean.phi[:, 1::2], _shares(mean.kept.weights[:, 1::2])
        self.power = -mean.kept.beta * (mean.kept.of_rows[:, 1::2] @ directions.T)
        self.power -= np.einsum("tc,tcp->p", self.w, self.power)

    @cached_property
    def before(self) -> float:
        return float((self.w * self.phi).sum())

    def tilted(self, far: np.ndarray) -> np.ndarray:
        power = self.power @ far
        return _shares(self.w * np.exp(power - power.max()))

    def change(self, far: np.ndarray) -> tuple[float, np.ndarray]:
        """Of the mean, and its slopes [P] there."""
        w = self.tilted(far)
        after = float((w * self.phi).sum())
        return after - self.before, np.einsum("tc,tcp->p", w * (self.phi - after), self.power)

    def error(self, far: np.ndarray) -> float:
        """Of the change: a ratio of sums by its linear part (Cochran 1977, eq. 6.13)."""
        w = self.tilted(far)
        after = float((w * self.phi).sum())
        linear = self.phi.size * (w * (self.phi - after) - self.w * (self.phi - self.before))
        return mean_error(linear.mean(axis=0), linear).se

    def share(self, far: np.ndarray) -> float:
        return float((self.w**2).sum() / (self.tilted(far) ** 2).sum())


def _shares(weights: np.ndarray) -> np.ndarray:
    found: np.ndarray = weights / weights.sum()
    return found


def _far(ahead: list[_Ahead], change: np.ndarray) -> np.ndarray:
    """How far to go along each direction, [P], by Newton's rule."""
    far = np.zeros(len(change))
    for _ in range(ROUNDS):
        now, slopes = (np.array(each) for each in zip(*(each.change(far) for each in ahead), strict=True))
        if (np.abs(now - change) <= CLOSE * np.abs(change).max()).all():
            return far
        scale = np.abs(slopes).max(axis=1, keepdims=True)
        if not (scale > 0).all() or np.linalg.cond(slopes / scale) > WORST:
            if far.any():
                break
            raise ValueError(
                "No weights of these rows change one of the means without the others; ask for fewer of them."
            )
        far = far + np.linalg.solve(slopes, change - now)
    raise ValueError("wanted lies farther than the draws reach; want less.")


def _means(name: str, kept: RowDraws, query: Any) -> list[tuple[str, RowDraws, np.ndarray]]:
    phi, names = query_of(kept, query)
    said = [each if not name else name if phi.shape[2] == 1 else f"{name}, {each}" for each in names]
    return [(each, kept, phi[:, :, k]) for k, each in enumerate(said)]


def _numbers(wanted: Any, names: tuple[str, ...]) -> np.ndarray:
    given = wanted
    if isinstance(wanted, Mapping):
        given = [wanted[name] for name in names] if set(wanted) == set(names) else ()
    try:
        change = np.asarray(given, dtype=float).reshape(-1)
    except (TypeError, ValueError):
        change = np.zeros(0)
    if change.shape != (len(names),) or not np.isfinite(change).all() or not change.any():
        raise ValueError(f"wanted is {short(wanted)}; give a number for each of {', '.join(names)}, not all of them 0.")
    return change
