"""Ranks of all partial products W_t…W_{s+1} of a deep linear network, and the checks on widths and rank tables.

A table is [M + 1][M + 1], ranks[s][t] = rank(W_t…W_{s+1}) for s < t, with the widths on the diagonal.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    rows = _masks("kept_rows", kept_rows, heights[1:])
    columns = _masks("kept_columns", kept_columns, heights[:-1])

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
    tolerance = _tolerance(rtol)
    matrices = _matrices(weights)
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


# What comes in: every check names the field, the value and the remedy.


def check_widths(widths: Any) -> list[int]:
    remedy = "give at least two positive whole numbers, the width of the input and of every layer"
    entries = check_entries("widths", widths, remedy)
    if len(entries) < 2:
        raise ValueError(f"widths is {show(widths)}; {remedy}.")
    remedy = "give a whole number of at least 1"
    heights = [check_whole(f"widths[{j}]", width, remedy) for j, width in enumerate(entries)]
    for j, height in enumerate(heights):
        if height < 1:
            raise ValueError(f"widths[{j}] is {show(height)}; {remedy}.")
    return heights


def check_rank_table(heights: list[int], ranks: Any) -> NDArray[Any]:
    """[M + 1, M + 1], ρ_st above the diagonal and the widths on it, checked to belong to some parameter."""
    size = len(heights)
    shape = f"give {size} × {size} entries, ranks[s][t] = rank(W_t…W_(s+1))"
    rows = check_entries("ranks", ranks, shape)
    if len(rows) != size:
        raise ValueError(f"ranks has {len(rows)} rows for {size} widths; {shape}.")
    # Python integers where int64 sums of widths could overflow.
    table = np.zeros((size, size), dtype=np.int64 if max(heights) < 2**60 else object)
    for s, row in enumerate(rows):
        entries = check_entries(f"ranks[{s}]", row, shape)
        if len(entries) != size:
            raise ValueError(f"ranks[{s}] has {len(entries)} entries for {size} widths; {shape}.")
        table[s, s] = heights[s]
        for t in range(s + 1, size):
            rank = check_whole(f"ranks[{s}][{t}]", entries[t], "give a whole number")
            most = min(heights[s], heights[t])
            if not 0 <= rank <= most:
                raise ValueError(
                    f"ranks[{s}][{t}] is {show(rank)}; it must be from 0 to {show(most)}, the smaller of"
                    f" widths[{s}] and widths[{t}]."
                )
            table[s, t] = rank

    part = np.minimum(table[1:, 1:], table[:-1, :-1])  # at [s, t − 1]: the two products with one layer less
    for s, t in np.argwhere(np.triu(table[:-1, 1:] > part)):
        raise ValueError(
            f"ranks[{s}][{t + 1}] is {show(table[s, t + 1])}; lower it to at most {show(part[s, t])}, the"
            " rank of a part of that product."
        )
    least = table[:-2, 1:-1] + table[1:-1, 2:] - table[1:-1, 1:-1]  # Frobenius: rank AB + rank BC − rank B
    for s, t in np.argwhere(np.triu(table[:-2, 2:] < least)):
        raise ValueError(
            f"ranks[{s}][{t + 2}] is {show(table[s, t + 2])}; raise it to at least {show(least[s, t])}, as"
            f" Frobenius' rank inequality demands of ranks[{s}][{t + 1}] and ranks[{s + 1}][{t + 2}], or take"
            " the table from masked_rank_table or numerical_rank_table."
        )
    return table


def _masks(name: str, kept: Any, sizes: list[int]) -> list[frozenset[int] | None]:
    if kept is None:
        return [None] * len(sizes)
    remedy = "give one set of indices per layer, or None for all"
    layers = check_entries(name, kept, remedy)
    if len(layers) != len(sizes):
        raise ValueError(f"{name} has {len(layers)} entries for {len(sizes)} layers; {remedy}.")
    masks: list[frozenset[int] | None] = []
    for j, (indices, size) in enumerate(zip(layers, sizes, strict=True)):
        if indices is None:
            masks.append(None)
            continue
        remedy = f"give distinct whole numbers from 0 to {show(size - 1)}, or None for all"
        entries = check_entries(f"{name}[{j}]", indices, remedy, at_most=size)
        field = f"An index in {name}[{j}]"
        mask = frozenset(index if type(index) is int else check_whole(field, index, remedy) for index in entries)
        wrong = next((index for index in mask if not 0 <= index < size), None)
        if wrong is not None:
            raise ValueError(f"{field} is {show(wrong)}; {remedy}.")
        if len(mask) < len(entries):
            raise ValueError(f"{name}[{j}] is {show(indices)}, with an index given twice; {remedy}.")
        masks.append(mask)
    return masks


def _count(mask: frozenset[int] | None, size: int) -> int:
    return size if mask is None else len(mask)


def _common(rows: frozenset[int] | None, columns: frozenset[int] | None, size: int) -> int:
    if rows is None or columns is None:
        return min(_count(rows, size), _count(columns, size))
    return len(rows & columns)


def _matrices(weights: Any) -> list[NDArray[np.float64]]:
    remedy = "give one matrix per layer, the first layer first"
    layers = check_entries("weights", weights, remedy)
    if not layers:
        raise ValueError(f"weights is {show(weights)}; {remedy}.")
    matrices: list[NDArray[np.float64]] = []
    for j, layer in enumerate(layers):
        try:
            matrix = np.asarray(layer)
            real = matrix.dtype.kind in "fiu"
            matrix = matrix.astype(np.float64) if real else matrix
        except Exception:
            raise ValueError(f"weights[{j}] is {show(layer)}; give a matrix of real numbers.") from None
        if not real or matrix.ndim != 2 or 0 in matrix.shape:
            found = f"shape {matrix.shape} and type {matrix.dtype}"
            raise ValueError(f"weights[{j}] has {found}; give a matrix of real numbers.")
        if not np.isfinite(matrix).all():
            raise ValueError(f"weights[{j}] has an entry that is not finite; replace it by a number.")
        if matrices and matrix.shape[1] != matrices[-1].shape[0]:
            raise ValueError(
                f"weights[{j}] has shape {matrix.shape}; it needs {matrices[-1].shape[0]} columns to follow"
                f" weights[{j - 1}] of shape {matrices[-1].shape}."
            )
        matrices.append(matrix)
    return matrices


def _tolerance(rtol: Any) -> float:
    try:
        tolerance = float(rtol)
    except (TypeError, ValueError, OverflowError):
        tolerance = float("nan")
    if isinstance(rtol, bool) or not 0.0 < tolerance < 1.0:
        raise ValueError(f"rtol is {show(rtol)}; give a number between 0 and 1, such as 1e-10.")
    return tolerance


def check_entries(name: str, values: Any, remedy: str, at_most: int | None = None) -> list[Any]:
    """The entries of a finite collection as a list."""
    try:
        size = len(values)
        if at_most is not None and size > at_most:
            raise ValueError(f"{name} has {size} entries; {remedy}.")
        if isinstance(values, str | bytes):
            raise TypeError
        plain = isinstance(values, np.ndarray) and values.dtype.kind in "iu"
        return values.tolist() if plain else list(values)
    except (TypeError, OverflowError):
        raise ValueError(f"{name} is {show(values)}; {remedy}.") from None


def check_whole(name: str, value: Any, remedy: str) -> int:
    if not isinstance(value, bool | np.bool_):
        try:
            return operator.index(value)
        except TypeError:
            pass
    raise ValueError(f"{name} is {show(value)}; {remedy}.")


def show(value: Any) -> str:
    if isinstance(value, int) and value.bit_length() > 200:
        return f"an integer of {value.bit_length()} bits"
    try:
        text = str(value) if isinstance(value, np.generic) else repr(value)
    except Exception:  # a huge integer inside, or an object whose repr fails
        text = f"a {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."
