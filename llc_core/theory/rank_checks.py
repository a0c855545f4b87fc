"""Checks on widths, rank tables and weights: every refusal names the field, the value and the remedy."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from llc_core.fields import one_line


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


def check_masks(name: str, kept: Any, sizes: list[int]) -> list[frozenset[int] | None]:
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


def check_matrices(weights: Any) -> list[NDArray[np.float64]]:
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


def check_tolerance(rtol: Any) -> float:
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
    return one_line(text)
