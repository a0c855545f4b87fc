"""How much of a network can be thrown away: its loss with fewer bits, of lower rank, and with fewer weights, beside λ̂ and λ."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from llc_core.estimating import estimate
from llc_core.fields import is_list, number, whole
from llc_core.potentials.base import Potential
from llc_core.results import Estimate
from llc_core.types import LearningCoefficient

MOST_BITS = 32
BITS = tuple(range(2, 17))
SHARES = tuple(k / 20 for k in range(1, 21))


@dataclass(frozen=True)
class Curve:
    """What one way to compress costs.

    settings: from the hardest compression to the mildest, [K].  loss: L_n there less L_n(w0), [K].
    """

    settings: np.ndarray
    loss: np.ndarray

    def critical(self, tolerance: float) -> float:
        """The hardest setting from which on no loss is above the tolerance; between two settings along a line of log loss.

        The hardest of all where none is above it; nan where the mildest is above it. Where the loss falls to 0 or below, it is the
        milder of the two.
        """
        above = np.flatnonzero(~(self.loss <= tolerance))
        if not len(above):
            return float(self.settings[0])
        last = int(above[-1])
        if last + 1 == len(self.loss) or not np.isfinite(self.loss[last]):
            return math.nan
        high, low = float(self.loss[last]), float(self.loss[last + 1])
        start, end = float(self.settings[last]), float(self.settings[last + 1])
        share = math.log(high / tolerance) / math.log(high / low) if low > 0 else 1.0
        return start + share * (end - start)


@dataclass(frozen=True)
class Compressibility:
    """What `compressibility` found. Printed, it is a table.

    bits, ranks, shares: a `Curve` by bits of each weight, by rank kept, and by the share of weights that are kept.
    tolerance: of the loss.  estimate: λ̂ of the same network.  exact: λ and m at w0, where they are known.
    """

    bits: Curve
    ranks: Curve
    shares: Curve
    tolerance: float
    estimate: Estimate | None
    exact: LearningCoefficient | None

    @property
    def critical_bits(self) -> float:
        """Bits of each weight at which the loss rises by the tolerance, a number between two whole ones."""
        return self.bits.critical(self.tolerance)

    @property
    def critical_rank(self) -> float:
        """The least of the ranks that were tried from which on the loss stays within the tolerance; nan where the largest does not."""
        above = np.flatnonzero(~(self.ranks.loss <= self.tolerance))
        place = int(above[-1]) + 1 if len(above) else 0
        return float(self.ranks.settings[place]) if place < len(self.ranks.settings) else math.nan

    @property
    def critical_share(self) -> float:
        """The share of weights to keep at which the loss rises by the tolerance."""
        return self.shares.critical(self.tolerance)

    @property
    def curves(self) -> dict[str, Curve]:
        return {"bits": self.bits, "rank": self.ranks, "share of weights": self.shares}

    def rows(self) -> list[dict[str, Any]]:
        """The table: one dictionary for each setting, as pandas.DataFrame and csv.DictWriter take them."""
        return [
            {"kept": name, "setting": float(setting), "loss": float(loss), "tolerated": bool(loss <= self.tolerance)}
            for name, curve in self.curves.items()
            for setting, loss in zip(curve.settings, curve.loss, strict=True)
        ]

    def plot(self) -> Any:
        """The rise of the loss by bits, by rank and by share, beside each other. The extra "plots" brings what it needs."""
        from llc_core.plots import compressibility as drawing

        return drawing.compressibility(self)

    def __repr__(self) -> str:
        lines = [f"{'kept':<17} {'setting':>8} {'L − L(w0)':>10}"]
        lines += [f"{row['kept']:<17} {row['setting']:>8.4g} {row['loss']:>10.3g}" for row in self.rows()]
        lines.append(
            f"A rise of {self.tolerance:g} is reached at {self.critical_bits:.2f} bits, {self.critical_share:.0%} of the weights; "
            f"rank {self.critical_rank:g} stays below it."
        )
        if self.estimate is not None:
            lines.append(f"λ̂ = {self.estimate.llc:.4g} ± {self.estimate.llc_se:.2g}. {self.estimate.converged}")
        if self.exact is not None:
            lines.append(f"true local λ = {self.exact.value}")
        return "\n".join(lines)


def compressibility(
    problem: Potential,
    bits: Iterable[int] = BITS,
    ranks: Iterable[int] | None = None,
    shares: Iterable[float] = SHARES,
    *,
    tolerance: float = 0.01,
    llc: Estimate | bool = True,
    **options: Any,
) -> Compressibility:
    """The loss on all data where every tensor is rounded to a grid, cut to a rank, or loses its smallest weights; and λ̂.

    problem: a potential that knows its weights, such as a `NetworkPotential` (what moves is what is compressed) or a
        `DeepLinearNetwork`.
    bits: of each weight: 2ᵇ − 1 evenly spaced values from −max|w| to max|w| of its tensor, 0 among them; to the nearest.
    ranks: of each matrix, its largest singular values; None: 1 to the largest that any of them can have, 32 numbers at most.
        Tensors that are no matrices stay.  shares: of the weights of each tensor that are kept, the largest ones.
    tolerance: of the mean loss per sample, for the critical settings.
    llc: an estimate that was made before; True: one is made with `options`, which are of `llc_core.estimate`; False: none.
    Raises ValueError with one sentence for what cannot be.
    Source: Urdshals, Lau, Hoogland, van Wingerden & Murfet 2025 (arXiv 2510.12077) for the question. Rounding to the nearest value looks
    in one direction only: how fast the loss rises there is a matter of curvature (`lab.benchmarks.accuracy.compressibility`).
    """
    flat = problem.origin(torch.empty(0, dtype=torch.float64)) if isinstance(problem, Potential) else None
    if flat is None:
        raise ValueError(f"problem is a {type(problem).__name__} whose weights are not known; give a network.")
    shapes = problem.layers
    if ranks is None:
        largest = max((min(shape) for shape in shapes if len(shape) == 2), default=1)
        ranks = (
            np.unique(np.geomspace(1, largest, 32).round().astype(int)).tolist()
            if largest > 32
            else range(1, largest + 1)
        )
    kept_bits = _sorted("bits", [whole("bits", b, 2, MOST_BITS) for b in _listed("bits", bits)])
    kept_ranks = _sorted("ranks", [whole("ranks", r, 0) for r in _listed("ranks", ranks)])
    kept_shares = _sorted("shares", [number("shares", s, 0, 1) for s in _listed("shares", shares)])
    tolerance = number("tolerance", tolerance, above=0)

    def curve(settings: Sequence[float], compress: Callable[[Tensor, Any], Tensor]) -> Curve:
        loss = []
        for setting in settings:
            parts = torch.split(flat, [math.prod(shape) for shape in shapes])
            there = [compress(w.view(shape), setting).flatten() for w, shape in zip(parts, shapes, strict=True)]
            # One at a time: a large network has its activations in memory once.
            loss.append(float(problem.excess_loss_and_grad((torch.cat(there) - flat).unsqueeze(0))[0]))
        return Curve(np.array(settings, dtype=float), np.array(loss))

    if llc is True:
        llc = estimate(problem, **{"progress": False, **options})
    return Compressibility(
        curve(kept_bits, rounded),
        curve(kept_ranks, of_rank),
        curve(kept_shares, thinned),
        tolerance,
        llc if isinstance(llc, Estimate) else None,
        problem.local_learning_coefficient,
    )


def rounded(w: Tensor, bits: int) -> Tensor:
    """To the nearest of 2ᵇ − 1 evenly spaced values between ± the largest magnitude."""
    largest = w.abs().max()
    step = largest / (2 ** (bits - 1) - 1)
    return torch.round(w / step) * step if largest > 0 else w


def of_rank(w: Tensor, rank: int) -> Tensor:
    """The nearest matrix of this rank; w itself where it is no matrix."""
    if w.dim() != 2:
        return w
    u, s, v = torch.linalg.svd(w, full_matrices=False)
    return (u[:, :rank] * s[:rank]) @ v[:rank]


def thinned(w: Tensor, share: float) -> Tensor:
    """This share of the weights, the largest ones, and 0 for all others."""
    kept = round(share * w.numel())
    result = torch.zeros_like(w).flatten()
    largest = w.flatten().abs().argsort(descending=True, stable=True)[:kept]
    result[largest] = w.flatten()[largest]
    return result.view(w.shape)


def _listed(name: str, values: Any) -> list[Any]:
    values = list(values) if isinstance(values, Iterable) and not isinstance(values, str | bytes) else values
    if not is_list(values) or not values:
        raise ValueError(f"{name} is {values!r}; give at least one.")
    return list(values)


def _sorted(name: str, values: list[Any]) -> list[Any]:
    if len(set(values)) < len(values):
        raise ValueError(f"{name} has a value twice; leave one of them out.")
    return sorted(values)
