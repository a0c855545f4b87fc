"""How many pairs two columns of numbers order alike, counted by sorting: memory and time do not grow with the pairs."""

from __future__ import annotations

import numpy as np


def counted_pairs(truths: np.ndarray, guesses: np.ndarray) -> tuple[int, int]:
    """(pairs that both order alike, pairs whose truths differ) of two arrays [k] of finite numbers.

    Knight, J. Am. Stat. Assoc. 61 (1966): in the order of the truths, the others with different truths are ties of the guesses
    and inversions.
    """
    order = np.lexsort((guesses, truths))
    truths, guesses = truths[order], guesses[order]
    new_truth = truths[1:] != truths[:-1]
    pairs = _pairs(len(truths)) - _tied(new_truth)
    ranks = np.unique(guesses, return_inverse=True)[1]
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
    found = 0
    for bit in reversed(range(int(ranks.max(initial=0)).bit_length())):
        ones = (ranks >> bit) & 1
        before = np.cumsum(ones) - ones
        higher = ranks >> (bit + 1)
        starts = np.concatenate(([0], np.flatnonzero(np.diff(higher)) + 1))
        before -= np.repeat(before[starts], np.diff(np.append(starts, len(ranks))))
        found += int(before[ones == 0].sum())
        ranks = ranks[np.argsort(ranks >> bit, kind="stable")]
    return found
