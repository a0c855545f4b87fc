"""Exact learning coefficients of deep linear networks: Aoyagi's global one, and the local one at a parameter.

Notation: M layers of widths H_0 … H_M, layer l is a matrix W_l of shape H_l × H_{l−1}, the product W_M…W_1
has rank r, and ρ_st = rank(W_t…W_{s+1}) for 0 ≤ s < t ≤ M, so that ρ_0M = r. With inputs of full-rank
covariance and a squared loss, λ depends on these integers alone.

Global: M. Aoyagi, "Consideration on the learning efficiency of multiple-layered neural networks with linear
units", Neural Networks 172 (2024): the smallest coefficient over all parameters with the same product. Where
the theorem is quoted, its third condition is sometimes printed with `max`; the right word is `min`.

Local: the coefficient at one parameter w0, which can be larger. This is our own result with our own short
proof, not peer-reviewed, checked by enumeration and by an exact sampler. For two layers others have stated λ and m
since: R. Sneiderman (problem O70 of lionellevine/MAIS, August 2026; later with saddles), with a proof in Lean
(nfeld/mais-o77-lean, October 2026, its review unfinished). Both agree with what is here on all 4,227 rank patterns
of widths up to 6. For more layers we know of no other statement.
Beside Aoyagi 2024 and these, cite what it rests on: Mustață's arc formula for the log canonical threshold, the orbit
closures of Abeasis & Del Fra, and Lehalleur & Rimányi (2024).

    λ(w0) = ½ [ r(H_0 + H_M) − r² + min C ],   C = Σ_{j=1..M} (r_{j−1} − r_j)(H_j − r_j),

over integers H_0 = r_0 ≥ r_1 ≥ … ≥ r_M = r with r_s − r_t ≤ H_s − ρ_st for all s < t. Without these
constraints (but with r_s ≤ H_s) the minimum is Aoyagi's value.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from llc_core.theory.multiplicity import longest_chain, tied_layers
from llc_core.theory.rank_checks import check_rank_table, check_whole, check_widths, show
from llc_core.types import LearningCoefficient

SEARCH_LIMIT = 20_000_000
"""Table entries computed, at most, by the search for a local multiplicity (a few tenths of a second)."""


def learning_coefficient(widths: Sequence[int], rank: int) -> LearningCoefficient:
    """Global learning coefficient λ and multiplicity of a deep linear network (Aoyagi 2024), in O(M log M).

    widths: [M + 1] layer widths H_0 … H_M, M ≥ 1.   rank: r of the product, 0 ≤ r ≤ min(widths).
    Returns the smallest λ (an exact Fraction) over all parameters whose product has this rank, and m.
    Raises ValueError for anything else.
    """
    heights = check_widths(widths)
    r = check_whole("rank", rank, "give a whole number from 0 to the smallest width")
    if not 0 <= r <= min(heights):
        most = show(min(heights))
        raise ValueError(f"rank is {show(r)}; it must be from 0 to the smallest width, {most}.")

    excess = sorted(h - r for h in heights)
    total = squares = 0
    for l, largest in enumerate(excess):  # l + 1 widths are in Σ, as in the theorem
        total += largest
        squares += largest * largest
        if l == 0:
            continue
        rest = excess[l + 1] if l + 1 < len(excess) else None
        if total >= l * largest and (rest is None or (largest < rest and total < l * rest)):
            break
    else:
        raise AssertionError("Aoyagi's conditions select exactly one set of widths")

    a = total - l * (-(-total // l) - 1)
    regular = Fraction(r * (heights[0] + heights[-1]) - r * r, 2)
    pairs = Fraction(total * total - squares, 4)
    value = regular + Fraction(a * (l - a) - (l - 1) * total * total, 4 * l) + pairs
    return LearningCoefficient(value, a * (l - a) + 1)


def local_learning_coefficient(
    widths: Sequence[int], ranks: Sequence[Sequence[int]], search_limit: int = SEARCH_LIMIT
) -> LearningCoefficient:
    """Learning coefficient λ and multiplicity of a deep linear network AT a parameter w0.

    Our own result, not peer-reviewed: see the module for its statement and what to cite with it.

    widths: [M + 1] layer widths H_0 … H_M.
    ranks: [M + 1, M + 1], ranks[s][t] = rank(W_t…W_{s+1}) at w0 for s < t; other entries are ignored. The
        table comes from `masked_rank_table` (generic layers with zeroed rows and columns) or
        `numerical_rank_table` (weights).
    search_limit: table entries that the search for m may compute; 0 leaves only its quick answers.
    Returns λ (always exact, never below Aoyagi's value) and m, None where the search would exceed the limit.
    Raises ValueError for bad widths, and for a table that belongs to no parameter.
    """
    heights = check_widths(widths)
    table = check_rank_table(heights, ranks)
    limit = check_whole("search_limit", search_limit, "give a whole number of table entries")
    if limit < 0:
        raise ValueError(f"search_limit is {show(limit)}; it must be at least 0.")

    r = int(table[0, -1])
    drops, slack = _fill(heights, table)
    codimension, level = r * (heights[0] + heights[-1]) - r * r, heights[0]
    for height, drop in zip(heights[1:], drops[1:], strict=True):
        level -= drop
        codimension += drop * (height - level)
    last, _ = _fill(heights, table, rightmost=True)
    multiplicity = 1 if drops == last else longest_chain(tied_layers(heights, drops, last, slack), limit)
    return LearningCoefficient(Fraction(codimension, 2), multiplicity)


# ----------------------------------------------------------------------------------------------------
# The minimum: with d_j = r_{j−1} − r_j, C is a separable convex function of d plus a constant, and the
# constraints bound the sum of d over (s, t] by H_s − ρ_st: an integral polymatroid, on which the greedy
# algorithm is exact.


def _fill(heights: list[int], table: NDArray[Any], rightmost: bool = False) -> tuple[list[int], NDArray[Any]]:
    """d_j (index 0 unused) of a minimiser and the slack H_s − ρ_st − Σ_{s<j≤t} d_j left over.

    One unit at a time goes to the layer of smallest H_j + d_j that no constraint blocks; here whole rounds of
    units are given at once, so that the cost depends on M only. Ties go to the leftmost layer, or to the
    rightmost: the minimiser with the smallest, or the largest, r.
    """
    depth = len(heights) - 1
    above = np.triu(np.ones((depth + 1, depth + 1), dtype=bool), 1)
    unlimited = heights[0] + max(heights)
    slack = np.where(above, np.diagonal(table)[:, None] - table, unlimited)
    level, drops = list(heights), [0] * (depth + 1)
    active = list(range(1, depth + 1))
    remaining = heights[0] - int(table[0, -1])
    while remaining:
        lowest = min(level[j] for j in active)
        group = [j for j in active if level[j] == lowest]
        inside = np.zeros(depth + 1, dtype=np.int64)
        inside[group] = 1
        inside = inside.cumsum()
        count = np.where(above, inside - inside[:, None], 0).astype(slack.dtype)
        rounds = min(remaining // len(group), int((slack[count > 0] // count[count > 0]).min()))
        rounds = min([rounds] + [level[j] - lowest for j in active if level[j] > lowest])
        if rounds:
            slack -= rounds * count
            remaining -= rounds * len(group)
            for j in group:
                level[j] += rounds
                drops[j] += rounds
            continue
        for j in reversed(group) if rightmost else group:
            over = slack[:j, j:]
            if over.min() == 0:
                active.remove(j)
            elif remaining:
                over -= 1
                level[j] += 1
                drops[j] += 1
                remaining -= 1
    return drops, slack
