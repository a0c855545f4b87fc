"""Ranks of all partial products W_t…W_{s+1} of a deep linear network.

A table is [M + 1][M + 1], ranks[s][t] = rank(W_t…W_{s+1}) for s < t, with the widths on the diagonal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from llc_core.theory.rank_checks import check_masks, check_matrices, check_tolerance, check_widths

RankTable = list[list[int]]
DOUBLE = 1e-10
"""Tolerance for weights in double precision, relative to a factor's largest singular value."""
NEAR = 3.0
"""A singular value cut above its tolerance / NEAR is doubtful: rounding alone gives at most about a tenth of the tolerance."""
CLEAR = 10.0
"""A singular value kept below CLEAR times its tolerance is doubtful as well."""


@dataclass(frozen=True)
class Ranks:
    """table: of all products, as `numerical_rank_table` gives it.  note: a sentence where a rank is a close call, else empty."""

    table: RankTable
    note: str = ""


def masked_rank_table(
    widths: Sequence[int],
    kept_rows: Sequence[Iterable[int] | None] | None = None,
    kept_columns: Sequence[Iterable[int] | None] | None = None,
) -> RankTable:
    """Ranks of all products of generic layers in which only some rows or columns are not zero.

    widths: [M + 1] layer widths H_0 … H_M.
    kept_rows, kept_columns: [M], for layer j = 0 … M−1 (the matrix W_{j+1}, H_{j+1} × H_j) the indices of its
        rows and columns that are not zeroed, a set or a sequence of distinct ints; None means all.
    Returns [M + 1, M + 1]: entry [s][t] is rank(W_t…W_{s+1}) for s < t, the width for s = t, and 0 below.
    Holds for almost all values of the other entries: between two layers, a path passes only through the units
    whose row is kept before and whose column is kept after. Raises ValueError for bad widths or indices.
    """
    heights = check_widths(widths)
    depth = len(heights) - 1
    rows = check_masks("kept_rows", kept_rows, heights[1:])
    columns = check_masks("kept_columns", kept_columns, heights[:-1])

    table = [[0] * (depth + 1) for _ in range(depth)] + [[0] * depth + [heights[-1]]]
    through = [_common(rows[j - 1], columns[j], heights[j]) for j in range(1, depth)]
    for s in range(depth):
        table[s][s] = heights[s]
        narrowest = _count(columns[s], heights[s])
        for t in range(s + 1, depth + 1):
            table[s][t] = min(narrowest, _count(rows[t - 1], heights[t]))
            if t < depth:
                narrowest = min(narrowest, through[t - 1])
    return table


def numerical_rank_table(weights: Sequence[Any], rtol: float | None = None) -> RankTable:
    """Ranks of all products of given layers, by singular values in float64.

    weights: [M] matrices in the order they act, W_1 first; W_l has shape H_l × H_{l−1}; anything
        np.asarray takes.
    rtol: tolerance, relative to the product of the spectral norms of the factors; None: of each layer from its precision.
        Each factor is scaled to norm 1 and cut at singular values ≤ rtol; a product is then followed as a subspace, factor
        by factor, and its rank falls by the number of principal cosines ≤ rtol between the image so far and the row
        space of the next factor. Singular values are never multiplied up, so neither depth nor the scale of
        the weights fakes a rank.
        From the precision it is max(H_l, H_{l−1})·ε for ε = 1.2e-7 (float32) or 9.8e-4 (float16), as in numpy.linalg.matrix_rank:
        a low rank that was computed in float32 is off by about ε/4 in norm. Weights in float64 whose entries are all numbers
        of float32 count as float32, whole numbers excepted. For all others it is 1e-10, which suits kept singular values
        that span, in each factor, less than six decades. Cosines have the error of both subspaces, ε over the smallest
        kept singular value, where that is more.
    Returns [M + 1, M + 1]: entry [s][t] is rank(W_t…W_{s+1}) for s < t, the width for s = t, and 0 below.
    Raises ValueError for weights that are no finite real matrices of matching shapes, or rtol outside (0, 1).
    """
    return numerical_ranks(weights, rtol).table


def numerical_ranks(weights: Sequence[Any], rtol: float | None = None) -> Ranks:
    """`numerical_rank_table` with a note where a singular value or a cosine is near its tolerance."""
    given = None if rtol is None else check_tolerance(rtol)
    matrices = check_matrices(weights)
    errors = [rounding(layer) for layer in weights]
    depth = len(matrices)
    heights = [matrices[0].shape[1]] + [matrix.shape[0] for matrix in matrices]
    factors = [
        _truncated_svd(matrix, given or max(DOUBLE, max(matrix.shape) * error), error)
        for matrix, error in zip(matrices, errors, strict=True)
    ]
    # Rows of W_{t+1} against columns of W_t, in orthonormal bases: all that a product adds to its factors.
    meets = [after.right @ before.left for before, after in zip(factors, factors[1:], strict=False)]
    bounds = [given or max(DOUBLE, a.angle + b.angle) for a, b in zip(factors, factors[1:], strict=False)]
    doubts = [doubt for layer, factor in enumerate(factors, 1) if (doubt := factor.doubt(layer))]

    table = [[0] * (depth + 1) for _ in range(depth)] + [[0] * depth + [heights[-1]]]
    images: dict[int, NDArray[np.float64]] = {}  # t → basis of Im(W_t…W_{s+1}), in factor t's coordinates
    for s in reversed(range(depth)):
        table[s][s] = heights[s]
        image = np.eye(len(factors[s].values))
        table[s][s + 1] = image.shape[1]
        updated = {s + 1: image}
        for t in range(s + 2, depth + 1):
            basis, cosines, _ = np.linalg.svd(meets[t - 2] @ image, full_matrices=False)
            rank = int((cosines > bounds[t - 2]).sum())
            if rank >= table[s + 1][t]:
                # The image lies in that of the shorter product; with equal dimension they agree from here on.
                table[s][t:] = table[s + 1][t:]
                updated.update((u, images[u]) for u in range(t, depth + 1))
                break
            table[s][t] = rank
            if _doubtful(cosines, bounds[t - 2], NEAR):
                doubts.append(f"the layers {s + 1} to {t} meet at cosines near {bounds[t - 2]:.1g}")
            image, _ = np.linalg.qr(factors[t - 1].values[:, None] * basis[:, :rank])
            updated[t] = image
        images = updated
    return Ranks(table, _note(doubts))


def rounding(layer: Any) -> float:
    """ε of the precision that a matrix was computed in: of its dtype, or float32's where all its entries are numbers of float32."""
    matrix = np.asarray(layer)
    if matrix.dtype.kind != "f":
        return 0.0
    if matrix.dtype.itemsize < 8:
        return float(np.finfo(matrix.dtype).eps)
    single = np.finfo(np.float32)
    with np.errstate(over="ignore"):
        is_single = (matrix.astype(np.float32) == matrix).all() and not (matrix == np.round(matrix)).all()
    return float(single.eps) if is_single else float(np.finfo(np.float64).eps)


def _doubtful(values: NDArray[np.float64], tolerance: float, clear: float = CLEAR) -> bool:
    return bool(((values > tolerance / NEAR) & (values < tolerance * clear)).any())


def _note(doubts: list[str]) -> str:
    if not doubts:
        return ""
    more = f", and {len(doubts) - 1} more such" if len(doubts) > 1 else ""
    return f"The ranks are a close call: {doubts[0]}{more}; give weights in double precision, or set to 0 what is meant to be 0."


@dataclass(frozen=True)
class _Factor:
    """left · diag(values) · right, the part of a matrix that counts, scaled to spectral norm 1.

    cut: the singular values left out.  tolerance: at which.  error: about that of the matrix, in spectral norm.
    """

    left: NDArray[np.float64]
    values: NDArray[np.float64]
    right: NDArray[np.float64]
    cut: NDArray[np.float64]
    tolerance: float
    error: float

    @property
    def angle(self) -> float:
        """Error of its row and column space, as the sine of an angle (Wedin 1972)."""
        return self.error / float(self.values[-1]) if len(self.values) else 0.0

    def doubt(self, layer: int) -> str:
        all_values = np.concatenate([self.values, self.cut])
        if not _doubtful(all_values, self.tolerance):
            return ""
        close = all_values[np.argmin(np.abs(np.log(np.maximum(all_values, 1e-300) / self.tolerance)))]
        return f"layer {layer} has a singular value of {close:.2g} times its largest, near the tolerance {self.tolerance:.2g}"


def _truncated_svd(matrix: NDArray[np.float64], tolerance: float, error: float) -> _Factor:
    largest = np.abs(matrix).max()
    if largest == 0.0:
        none = np.zeros(0)
        return _Factor(np.zeros((matrix.shape[0], 0)), none, np.zeros((0, matrix.shape[1])), none, tolerance, error)
    # Scaled first, as the squares of entries must neither overflow nor vanish.
    left, values, right = np.linalg.svd(matrix / largest, full_matrices=False)
    values = values / values[0]
    kept = values > tolerance
    return _Factor(left[:, kept], values[kept], right[kept], values[~kept], tolerance, error)


def _count(mask: frozenset[int] | None, size: int) -> int:
    return size if mask is None else len(mask)


def _common(rows: frozenset[int] | None, columns: frozenset[int] | None, size: int) -> int:
    if rows is None or columns is None:
        return min(_count(rows, size), _count(columns, size))
    return len(rows & columns)
