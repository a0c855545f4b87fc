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


def numerical_rank_table(weights: Sequence[Any], rtol: float = 1e-10) -> RankTable:
    """Ranks of all products of given layers, by singular values in float64.

    weights: [M] matrices in the order they act, W_1 first; W_l has shape H_l × H_{l−1}; anything
        np.asarray takes.
    rtol: tolerance, relative to the product of the spectral norms of the factors. Each factor is scaled to
        norm 1 and cut at singular values ≤ rtol; a product is then followed as a subspace, factor by factor,
        and its rank falls by the number of principal cosines ≤ rtol between the image so far and the row
        space of the next factor. Singular values are never multiplied up, so neither depth nor the scale of
        the weights fakes a rank.
        The default suits weights exact up to float64 rounding whose kept singular
        values span, in each factor, less than six decades; a low rank that comes from float32 arithmetic
        needs about 1e-5.
    Returns [M + 1, M + 1]: entry [s][t] is rank(W_t…W_{s+1}) for s < t, the width for s = t, and 0 below.
    Raises ValueError for weights that are no finite real matrices of matching shapes, or rtol outside (0, 1).
    """
    tolerance = check_tolerance(rtol)
    matrices = check_matrices(weights)
    depth = len(matrices)
    heights = [matrices[0].shape[1]] + [matrix.shape[0] for matrix in matrices]
    factors = [_truncated_svd(matrix, tolerance) for matrix in matrices]
    # Rows of W_{t+1} against columns of W_t, in orthonormal bases: all that a product adds to its factors.
    meets = [after.right @ before.left for before, after in zip(factors, factors[1:], strict=False)]

    table = [[0] * (depth + 1) for _ in range(depth)] + [[0] * depth + [heights[-1]]]
    images: dict[int, NDArray[np.float64]] = {}  # t → basis of Im(W_t…W_{s+1}), in factor t's coordinates
    for s in reversed(range(depth)):
        table[s][s] = heights[s]
        image = np.eye(len(factors[s].values))
        table[s][s + 1] = image.shape[1]
        updated = {s + 1: image}
        for t in range(s + 2, depth + 1):
            basis, cosines, _ = np.linalg.svd(meets[t - 2] @ image, full_matrices=False)
            rank = int((cosines > tolerance).sum())
            if rank >= table[s + 1][t]:
                # The image lies in that of the shorter product; with equal dimension they agree from here on.
                table[s][t:] = table[s + 1][t:]
                updated.update((u, images[u]) for u in range(t, depth + 1))
                break
            table[s][t] = rank
            image, _ = np.linalg.qr(factors[t - 1].values[:, None] * basis[:, :rank])
            updated[t] = image
        images = updated
    return table


@dataclass(frozen=True)
class _Factor:
    """left · diag(values) · right, the part of a matrix that counts, scaled to spectral norm 1."""

    left: NDArray[np.float64]
    values: NDArray[np.float64]
    right: NDArray[np.float64]


def _truncated_svd(matrix: NDArray[np.float64], tolerance: float) -> _Factor:
    largest = np.abs(matrix).max()
    if largest == 0.0:
        return _Factor(np.zeros((matrix.shape[0], 0)), np.zeros(0), np.zeros((0, matrix.shape[1])))
    # Scaled first, as the squares of entries must neither overflow nor vanish.
    left, values, right = np.linalg.svd(matrix / largest, full_matrices=False)
    kept = values > tolerance * values[0]
    return _Factor(left[:, kept], values[kept] / values[0], right[kept])


def _count(mask: frozenset[int] | None, size: int) -> int:
    return size if mask is None else len(mask)


def _common(rows: frozenset[int] | None, columns: frozenset[int] | None, size: int) -> int:
    if rows is None or columns is None:
        return min(_count(rows, size), _count(columns, size))
    return len(rows & columns)
