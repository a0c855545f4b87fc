"""The loss kernel of more rows than its square has room for, as a factor of fewer columns.

K = Σ_t w_t (ℓ_t − ℓ̄)(ℓ_t − ℓ̄)ᵀ is known by its products with vectors, which the draws give without a square of all rows. From
products with a few directions Ω comes the factor of Nyström, F Fᵀ = KΩ (ΩᵀKΩ)⁺ (KΩ)ᵀ. What is left of K has no negative eigenvalue,
so that its diagonal, which is known exactly, bounds every entry. Source: Halko, Martinsson & Tropp 2011 (arXiv 0909.4061), algorithm 5.5
with one round of its power scheme.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from llc_core.compute.memory import may_take
from llc_core.fields import whole
from llc_core.studies.covariances.draws import NUMBER, RowDraws, covariances

FEWEST, MOST = 16, 256
"""Columns of a factor."""
COPIES = 6
"""Of the factor while it is made."""
PROBES = 64
"""Random signs by which the error of the whole kernel is known, to about a tenth of itself."""
OF_PROBES = 10
"""Matrices of all rows and these, while their errors are made."""


@dataclass(frozen=True)
class KernelSketch:
    """K ≈ F Fᵀ with the exact diagonal, for as many rows as a square has no room for. Source: arXiv 2509.26537 for K.

    factor: F [R, r], in nats, or without a unit where correlated.  variances: K_ii [R], exactly as the draws have it.
    left_out: K_ii − (F Fᵀ)_ii [R], so that an entry K_ij beside the diagonal is off by √(left_out_i·left_out_j) at most.
    cut: √Σ of the squares of what is left out over that of K, known to about a tenth of itself.
    relative_error: of K as a whole, by the number of draws, as `LossKernel` has it; it does not know of `cut`. Where correlated
        it takes the spread of each loss as known, and is a little too large for that.
    rows, beta, correlated, effective_draws, units, by, note: as in `LossKernel`.
    """

    factor: np.ndarray
    variances: np.ndarray
    left_out: np.ndarray
    cut: float
    relative_error: float
    rows: np.ndarray
    beta: float
    correlated: bool
    effective_draws: float
    units: int
    by: str
    note: str

    def times(self, vectors: np.ndarray) -> np.ndarray:
        """K·vectors, [R] or [R, k] as they are, without a square of all rows."""
        rest = self.left_out if vectors.ndim == 1 else self.left_out[:, None]
        found: np.ndarray = self.factor @ (self.factor.T @ vectors) + rest * vectors
        return found

    def between(self, places: np.ndarray, others: np.ndarray) -> np.ndarray:
        """K [I, J] between the rows at some places and at others; nan in place of a correlation of a row whose loss never moves."""
        places, others = np.asarray(places), np.asarray(others)
        found: np.ndarray = self.factor[places] @ self.factor[others].T
        found += np.where(places[:, None] == others, self.left_out[places][:, None], 0)
        if self.correlated:
            found[np.isnan(self.variances[places])] = np.nan
            found[:, np.isnan(self.variances[others])] = np.nan
        return found

    def __repr__(self) -> str:
        kind = "correlations" if self.correlated else "covariances"
        said = f"KernelSketch: {kind} of the losses of {len(self.rows):,} rows by {self.factor.shape[1]} columns, off by about {self.cut:.1%}"
        return f"{said}; {self.effective_draws:,.0f} effective draws, known to {self.relative_error:.1%}. {self.note}".rstrip()


def rank_for(rows: int, memory: int | None) -> int:
    """How many columns there is room for; ValueError, one sentence, where they are too few."""
    room = (may_take(memory) // (NUMBER * max(1, rows)) - OF_PROBES * PROBES) // COPIES
    if room < FEWEST:
        need = NUMBER * rows * (OF_PROBES * PROBES + COPIES * FEWEST)
        raise ValueError(
            f"memory leaves {may_take(memory) / 2**20:,.0f} MiB, and a kernel of {rows:,} rows needs {need / 2**20:,.0f} MiB even as a "
            "sketch; keep fewer rows."
        )
    return min(MOST, room, rows)


def sketch(
    kept: RowDraws,
    rows: np.ndarray,
    correlations: bool = False,
    rank: int = MOST,
    seed: int = 0,
    memory: int | None = None,
) -> KernelSketch:
    """The sketch of `loss_kernel`.  rows: their numbers.  rank: columns of the factor, at most.  seed: of the random directions.

    memory: as of `covariances`.
    """
    size = kept.losses.shape[2]
    rank = min(whole("rank", rank, 1), size)
    weights = kept.weights / kept.weights.shape[1]
    losses, w = kept.losses.reshape(-1, size), weights.ravel()
    losses = losses - losses[0]  # of large losses the means would take the digits away
    mean = w @ losses
    variances = np.array([w @ (losses[:, k] - mean[k]) ** 2 for k in range(size)])
    still = (np.ptp(losses, axis=0) == 0) | (variances == 0)  # it may move at draws that weigh nothing
    variances[still] = 0
    scale = np.ones(size)
    if correlations:
        with np.errstate(divide="ignore"):
            scale = 1 / np.sqrt(variances)
    scale[still] = 0

    def times(vectors: np.ndarray) -> np.ndarray:
        moved = scale[:, None] * vectors
        found: np.ndarray = scale[:, None] * (losses.T @ (w[:, None] * (losses @ moved - mean @ moved)))
        return found

    random = np.random.default_rng(seed)
    basis, _ = np.linalg.qr(times(random.choice([-1.0, 1.0], (size, rank))))
    product = times(basis)
    values, vectors = np.linalg.eigh(basis.T @ product)
    there = values > np.finfo(float).eps * len(losses) * max(values[-1], 0)
    factor = product @ (vectors[:, there] / np.sqrt(values[there]))
    signs = random.choice([-1.0, 1.0], (size, PROBES))
    standard = kept.losses * scale if correlations else kept.losses
    made = covariances(standard, standard @ signs, kept.weights, memory=memory)
    diagonal = variances * scale**2
    left_out = np.maximum(diagonal - (factor**2).sum(axis=1), 0)
    rest = made.values - factor @ (factor.T @ signs) - left_out[:, None] * signs
    of_all = float(np.linalg.norm(made.values))
    cut = float(np.linalg.norm(rest)) / of_all if of_all else 0.0
    diagonal[still & bool(correlations)] = np.nan
    return KernelSketch(
        factor, diagonal, left_out, cut, made.relative_error, rows, kept.beta, bool(correlations),
        made.effective_draws, made.units, made.by, made.note,
    )  # fmt: skip
