"""The loss kernel: which rows' losses rise and fall together along the chains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from llc_core.studies.covariances.draws import Covariances, covariances, fits, row_draws
from llc_core.studies.covariances.sketches import KernelSketch, rank_for, sketch


@dataclass(frozen=True)
class LossKernel(Covariances):
    """K_ij = Cov(ℓ_i, ℓ_j) over the localised posterior, in nats², or correlations. Source: arXiv 2509.26537.

    values, se: [R, R].  rows: [R] their numbers in the data; probe rows, if there are some, come behind them as −1, −2, ….
    beta: nβ/(number of rows), so that β/2·(trace over all rows) is the singular fluctuation ν̂; nan: not known.
    effective_draws, units, by: what the errors were made of, see `draws`.  note: a sentence where there were too few draws.
    """

    rows: np.ndarray
    beta: float
    correlated: bool

    def order(self) -> np.ndarray:
        """Places [R] in an order in which rows that go together lie side by side: the leaves of `tree`."""
        from scipy.cluster.hierarchy import leaves_list  # scipy takes longer to import than the engine

        return np.arange(1) if len(self.rows) < 2 else leaves_list(self.tree())

    def clusters(self, count: int) -> np.ndarray:
        """The number of its cluster for each row, [R], 1 … count or fewer."""
        from scipy.cluster.hierarchy import fcluster

        return np.ones(1, int) if len(self.rows) < 2 else fcluster(self.tree(), count, "maxclust")

    def tree(self) -> np.ndarray:
        """scipy's linkage [R − 1, 4] by the mean distance 1 − correlation; a row whose loss never moves goes with no other."""
        from scipy.cluster.hierarchy import linkage

        near = self.values
        if not self.correlated:
            scale = np.sqrt(np.diag(near))
            with np.errstate(divide="ignore", invalid="ignore"):
                near = near / np.outer(scale, scale)
        above = np.triu_indices(len(near), 1)
        tree: np.ndarray = linkage(1 - np.nan_to_num(near)[above].clip(-1, 1), "average")
        return tree

    def plot(self) -> Any:
        """The square of all rows, in the order of its clusters, as a HoloViews image. The extra "plots" brings what it needs."""
        from llc_core.plots import covariances as drawing

        return drawing.kernel(self)

    def __repr__(self) -> str:
        kind = "correlations" if self.correlated else "covariances"
        said = f"LossKernel: {kind} of the losses of {len(self.rows)} rows, {self.effective_draws:,.0f} effective draws"
        return f"{said}, known to {self.relative_error:.1%}. {self.note}".rstrip()


def loss_kernel(found: Any, correlations: bool = False, memory: int | None = None) -> LossKernel | KernelSketch:
    """The loss kernel of the rows, and of the probe rows behind them, that a run kept.

    found: an Estimate of a run with the observable RowLosses, or losses [T, C, R] of any tool.
    correlations: K_ij/√(K_ii K_jj) with their own errors; nan for a row whose loss never moves.
    memory: bytes that the kernel may take while it is made, without the draws; None: an eighth of what is free. Where its square of all
        rows, with its errors, takes more, it is a `KernelSketch`, whose own error is stated.
    ValueError, one sentence, where there are no losses, and where there is no room for a sketch either.

    Chains are pooled around the mean of all of them. How errors are made, and why, is said in `llc_core.studies.covariances.draws`.
    """
    kept = row_draws(found)
    probes = kept.losses.shape[2] - len(kept.rows)
    rows = np.concatenate([kept.rows, -1 - np.arange(probes)])
    if not fits(len(rows), len(rows), memory):
        return sketch(kept, rows, correlations, rank_for(len(rows), memory), memory=memory)
    made = covariances(kept.losses, kept.losses, kept.weights, correlations, memory)
    even = {
        name: (getattr(made, name) + getattr(made, name).T) / 2 for name in ("values", "se")
    }  # products are rounded
    return LossKernel(**{**vars(made), **even}, rows=rows, beta=kept.beta, correlated=bool(correlations))
