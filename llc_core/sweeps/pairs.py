"""How many pairs two columns of numbers order alike, counted by sorting: memory and time do not grow with the pairs."""

from __future__ import annotations

import numpy as np


def counted_pairs(truths: np.ndarray, guesses: np.ndarray) -> tuple[int, int]:
    """(pairs that both order alike, pairs whose truths differ) of two arrays [k] of finite numbers.

    Knight, J. Am. Stat. Assoc. 61 (1966): in the order of the truths, the others with different truths are ties of the guesses
    and inversions.
    """
    right, ranks = (np.unique(values, return_inverse=True)[1] for values in (truths, guesses))
    order = np.argsort(right * len(right) + ranks)
    right, ranks = right[order], ranks[order]
    new_truth = right[1:] != right[:-1]
    pairs = _pairs(len(right)) - _tied(new_truth)
    tied = _tied(np.diff(np.sort(ranks)) != 0) - _tied(new_truth | (ranks[1:] != ranks[:-1]))
    return pairs - tied - _inversions(ranks), pairs


def _pairs(count: int) -> int:
    return count * (count - 1) // 2


def _tied(changes: np.ndarray) -> int:
    """Pairs of equal values in a sorted array, from [k − 1] whether neighbours differ."""
    ends = np.flatnonzero(np.concatenate(([True], changes, [True])))
    lengths = np.diff(ends)
    return int((lengths * (lengths - 1) // 2).sum())


def _inversions(ranks: np.ndarray) -> int:
    """Pairs i < j with ranks[i] > ranks[j].  ranks: [k] integers from 0.

    Bit by bit from the highest, which is where such a pair first differs: among the values that agree in all higher bits, in
    their first order, it counts for each 0 the 1s before it.
    """
    found, top = 0, int(ranks.max(initial=0))
    if top < 1 << 16:
        ranks = ranks.astype(np.uint16)  # numpy sorts short integers by their digits
    for bit in reversed(range(top.bit_length())):
        ones = ((ranks >> bit) & 1).astype(bool)
        before = np.cumsum(ones, dtype=np.int64)
        higher = ranks >> (bit + 1)
        starts = np.concatenate(([0], np.flatnonzero(higher[1:] != higher[:-1]) + 1))
        zeros = np.add.reduceat(~ones, starts, dtype=np.int64)
        found += int(before[~ones].sum() - ((before[starts] - ones[starts]) * zeros).sum())
        ranks = ranks[np.argsort(ranks >> bit, kind="stable")]
    return found
