"""Exact learning coefficients of deep linear networks: Aoyagi's global one, and the local one at a parameter.

Notation: M layers of widths H_0 … H_M, layer l is a matrix W_l of shape H_l × H_{l−1}, the product W_M…W_1
has rank r, and ρ_st = rank(W_t…W_{s+1}) for 0 ≤ s < t ≤ M, so that ρ_0M = r. With inputs of full-rank
covariance and a squared loss, λ depends on these integers alone.

Global: M. Aoyagi, "Consideration on the learning efficiency of multiple-layered neural networks with linear
units", Neural Networks 172 (2024): the smallest coefficient over all parameters with the same product. Where
the theorem is quoted, its third condition is sometimes printed with `max`; the right word is `min`.

Local: the coefficient at one parameter w0, which can be larger. This is our own result with our own short
proof, not peer-reviewed, checked by enumeration and by an exact sampler; we know of no published statement.
Beside Aoyagi 2024, cite what it rests on: Mustață's arc formula for the log canonical threshold, the orbit
closures of Abeasis & Del Fra, and Lehalleur & Rimányi (2024).

    λ(w0) = ½ [ r(H_0 + H_M) − r² + min C ],   C = Σ_{j=1..M} (r_{j−1} − r_j)(H_j − r_j),

over integers H_0 = r_0 ≥ r_1 ≥ … ≥ r_M = r with r_s − r_t ≤ H_s − ρ_st for all s < t. Without these
constraints (but with r_s ≤ H_s) the minimum is Aoyagi's value.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from llc_core.types import LearningCoefficient

SEARCH_LIMIT = 20_000_000
"""Table entries computed, at most, by the search for a local multiplicity (a few tenths of a second)."""

RankTable = list[list[int]]


def learning_coefficient(widths: Sequence[int], rank: int) -> LearningCoefficient:
    """Global learning coefficient λ and multiplicity of a deep linear network (Aoyagi 2024), in O(M log M).

    widths: [M + 1] layer widths H_0 … H_M, M ≥ 1.   rank: r of the product, 0 ≤ r ≤ min(widths).
    Returns the smallest λ (an exact Fraction) over all parameters whose product has this rank, and m.
    Raises ValueError for anything else.
    """
    heights = _widths(widths)
    r = _whole("rank", rank, "give a whole number from 0 to the smallest width")
    if not 0 <= r <= min(heights):
        most = _show(min(heights))
        raise ValueError(f"rank is {_show(r)}; it must be from 0 to the smallest width, {most}.")

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
    heights = _widths(widths)
    table = _rank_table(heights, ranks)
    limit = _whole("search_limit", search_limit, "give a whole number of table entries")
    if limit < 0:
        raise ValueError(f"search_limit is {_show(limit)}; it must be at least 0.")

    r = int(table[0, -1])
    drops, slack = _fill(heights, table)
    codimension, level = r * (heights[0] + heights[-1]) - r * r, heights[0]
    for height, drop in zip(heights[1:], drops[1:], strict=True):
        level -= drop
        codimension += drop * (height - level)
    last, _ = _fill(heights, table, rightmost=True)
    multiplicity = 1 if drops == last else _longest_chain(_ties(heights, drops, last, slack), limit)
    return LearningCoefficient(Fraction(codimension, 2), multiplicity)


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
    heights = _widths(widths)
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


# ----------------------------------------------------------------------------------------------------
# The multiplicity: the length of the longest chain r^(1) < … < r^(p) of minimisers such that, with r^(0) = 0,
# r^(p+1) = H and g_k = r^(k) − r^(k−1), min{ Σ_k g_k(u_k) : s ≤ u_{p+1} ≤ … ≤ u_1 ≤ t } ≥ ρ_st for all s < t.
#
# Minimisers differ by units that sit on some tied layers, at most one on each: particles on n sites. r grows
# when particles move right, and with b(u) the number of particles on the first u sites the condition reads
#     b_1(v) − b_p(u) − crossings ≤ room(u, v)   for all 0 ≤ u < v ≤ n,
# crossings being the least Σ_k [b_{k−1} − b_k](u_k) over u ≤ u_p ≤ … ≤ u_2 ≤ v: nobody who walks left through
# the sites (u, v] while the chain runs may meet more particles than the sites have room for.


@dataclass(frozen=True)
class _Ties:
    """first, last: [n] bool, sites occupied in the smallest and the largest minimiser.
    part: [n], label of the group of sites that exchange particles, the components of a matroid.
    room: [n + 1, n + 1], how many particles fit on the sites (u, v], for u < v.
    """

    first: NDArray[np.bool_]
    last: NDArray[np.bool_]
    part: NDArray[np.int64]
    room: NDArray[np.int64]


def _ties(heights: list[int], drops: list[int], last: list[int], slack: NDArray[Any]) -> _Ties:
    """The tied layers, from the d of the smallest and the largest minimiser and the slack of the smallest."""
    depth = len(heights) - 1
    level = [height + drop for height, drop in zip(heights, drops, strict=True)]
    part = list(range(depth + 1))

    def root(j: int) -> int:
        while part[j] != j:
            part[j] = part[part[j]]
            j = part[j]
        return j

    givers, takers = set(), set()
    for taker in range(1, depth + 1):
        # Only a giver inside every tight constraint over the taker frees the unit that the taker needs.
        tight = slack[:taker, taker:] == 0
        begins, ends = np.flatnonzero(tight.any(axis=1)), np.flatnonzero(tight.any(axis=0))
        low = int(begins[-1]) + 1 if len(begins) else 1
        high = taker + int(ends[0]) if len(ends) else depth
        for giver in range(low, high + 1):
            if drops[giver] and level[giver] == level[taker] + 1:
                givers.add(giver)
                takers.add(taker)
                part[root(giver)] = root(taker)

    sites = sorted(givers | takers)
    n = len(sites)
    first = np.array([j in givers for j in sites])
    final = np.array([(j in givers) + last[j] - drops[j] == 1 for j in sites])
    starts = [0, *sites]
    spare = np.minimum.reduceat(np.minimum.reduceat(slack, starts, axis=0), starts, axis=1)
    before = _before(first)
    room = np.minimum(spare, n).astype(np.int64) + before - before[:, None]
    return _Ties(first, final, np.array([root(j) for j in sites]), room)


def _longest_chain(ties: _Ties, limit: int) -> int | None:
    """Length of the longest admissible chain, or None if finding it takes more than `limit` table entries."""
    n = len(ties.first)
    place = np.array([(ties.part[:x] == ties.part[x]).sum() for x in range(n)])

    def height(sites: NDArray[np.bool_]) -> int:
        return int(place[sites].sum())

    # In an admissible chain the particles of a part only move right: the smallest interval that holds the
    # part is full, and a move back would let somebody walking left meet more particles in it than fit.
    bound = height(ties.last) - height(ties.first) + 1
    distance = np.arange(n + 1) - np.arange(n + 1)[:, None]
    if (ties.room >= np.minimum(distance, ties.first.sum())).all():
        return bound  # no constraint binds: particles may move one at a time, in any order
    search = _Search(ties, limit)
    found = search.one_by_one()
    return bound if found == bound else search.exhaustive(place, found)


class _Search:
    """Grows chains at their upper end. Of r^(1) … r^(k) only the last member and one table matter from there
    on: crossings(u, v) − b_1(v), which must stay ≥ −room(u, v) − b_k(u)."""

    def __init__(self, ties: _Ties, limit: int) -> None:
        n = len(ties.first)
        self.ties, self.budget = ties, limit
        self.below = np.tri(n + 1, k=-1, dtype=bool)
        self.never = 4 * (n + 1)  # larger than any entry can grow
        self.dtype = np.int16 if n < 4000 else np.int32
        room = np.where(self.below | np.eye(n + 1, dtype=bool), 0, ties.room)
        self.room: NDArray[np.signedinteger[Any]] = room.astype(self.dtype)
        # Entries this large satisfy all later conditions; cutting them off here makes more tables comparable.
        enough = np.where(self.below, -self.never, -(self.room + _before(ties.last)[:, None]))
        enough = np.maximum.accumulate(enough, axis=0)
        self.enough = np.where(self.below, self.never, enough).astype(self.dtype)

    def start(self, b: NDArray[np.int64]) -> NDArray[Any]:
        table: NDArray[Any] = np.minimum(np.where(self.below, self.never, -b), self.enough).astype(self.dtype)
        return table

    def extend(
        self, table: NDArray[Any], b: NDArray[np.int64], b_next: NDArray[np.int64]
    ) -> tuple[NDArray[np.bool_], NDArray[Any]]:
        """For K possible next members [K, n + 1]: is the chain admissible [K], tables [K, n + 1, n + 1]."""
        self.budget -= b_next.shape[0] * table.size
        moved = table + (b - b_next).astype(self.dtype)[:, :, None]
        moved = np.minimum.accumulate(moved[:, ::-1], axis=1)[:, ::-1]
        met = moved + b_next.astype(self.dtype)[:, :, None] + self.room
        admissible: NDArray[np.bool_] = np.all(self.below | (met >= 0), axis=(1, 2))
        return admissible, np.minimum(moved, self.enough)

    def one_by_one(self) -> int:
        """Length of the chain that moves one particle by one place, the rightmost that can go, till stuck."""
        part, sites, length = self.ties.part, self.ties.first.copy(), 1
        following = np.full(len(part), -1)
        for x in range(len(part)):
            following[np.flatnonzero(part[:x] == part[x])[-1:]] = x
        table = self.start(_before(sites))
        while self.budget > 0:
            movers = np.flatnonzero(sites & (following >= 0) & ~sites[following])[::-1]
            if not len(movers):
                break
            options = np.repeat(sites[None], len(movers), axis=0)
            options[np.arange(len(movers)), movers] = False
            options[np.arange(len(movers)), following[movers]] = True
            admissible, tables = self.extend(table, _before(sites), _before(options))
            if not admissible.any():
                break
            choice = int(admissible.argmax())
            sites, table, length = options[choice], tables[choice], length + 1
        return length

    def exhaustive(self, place: NDArray[np.int64], best: int) -> int | None:
        """Longest chain over all minimisers, from a chain of length `best`; None when the budget runs out."""
        listed = self.minimisers()
        if listed is None:
            return None
        heights = (listed * place).sum(axis=1)
        order = np.argsort(heights, kind="stable")
        heights, b = heights[order], _before(listed[order])
        togo = heights[-1] - heights
        waiting: list[list[tuple[int, NDArray[Any]]]] = [[(1, self.start(row))] for row in b]
        for i in range(len(b)):
            chains = self.undominated(waiting[i])
            waiting[i] = []
            after = i + 1 + np.flatnonzero((b[i + 1 :] <= b[i]).all(axis=1))
            for length, table in chains:
                best = max(best, length)
                useful = after[length + 1 + togo[after] > best]
                if self.budget < len(useful) * table.size:
                    return None
                admissible, tables = self.extend(table, b[i], b[useful])
                for k in np.flatnonzero(admissible):
                    waiting[useful[k]].append((length + 1, tables[k].copy()))
        return best

    def undominated(self, chains: list[tuple[int, NDArray[Any]]]) -> list[tuple[int, NDArray[Any]]]:
        kept: list[tuple[int, NDArray[Any]]] = []
        for length, table in sorted(chains, key=lambda chain: -chain[0]):
            self.budget -= len(kept) * table.size
            if self.budget < 0 or not any((other >= table).all() for _, other in kept):
                kept.append((length, table))
        return kept

    def minimisers(self) -> NDArray[np.bool_] | None:
        """[N, n], all minimisers. Exchanges that move one particle right reach every one from the first."""
        n, part = len(self.ties.first), self.ties.part
        u = np.arange(n + 1)[:, None]
        seen, todo = {self.ties.first.tobytes()}, [self.ties.first]
        for sites in todo:
            self.budget -= 20 * self.room.size
            if self.budget < 0:
                return None
            b = _before(sites)
            tight = (self.room - b + b[:, None] == 0) & (np.arange(n + 1) > u)
            covered = np.maximum.accumulate(tight[:, ::-1], axis=1)[:, ::-1]
            low = np.where(covered & (np.arange(n + 1) > u), u, 0).max(axis=0)[1:]
            for y in np.flatnonzero(~sites):
                for x in range(int(low[y]), int(y)):
                    if sites[x] and part[x] == part[y]:
                        moved = sites.copy()
                        moved[x], moved[y] = False, True
                        key = moved.tobytes()
                        if key not in seen:
                            seen.add(key)
                            todo.append(moved)
        return np.array(todo)


def _before(sites: NDArray[np.bool_]) -> NDArray[np.int64]:
    """[..., n + 1], number of particles on the first 0, 1, …, n sites."""
    counts = np.zeros((*sites.shape[:-1], sites.shape[-1] + 1), dtype=np.int64)
    np.cumsum(sites, axis=-1, out=counts[..., 1:])
    return counts


# ----------------------------------------------------------------------------------------------------
# Ranks of given matrices


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


# ----------------------------------------------------------------------------------------------------
# What comes in


def _widths(widths: Any) -> list[int]:
    remedy = "give at least two positive whole numbers, the width of the input and of every layer"
    entries = _entries("widths", widths, remedy)
    if len(entries) < 2:
        raise ValueError(f"widths is {_show(widths)}; {remedy}.")
    remedy = "give a whole number of at least 1"
    heights = [_whole(f"widths[{j}]", width, remedy) for j, width in enumerate(entries)]
    for j, height in enumerate(heights):
        if height < 1:
            raise ValueError(f"widths[{j}] is {_show(height)}; {remedy}.")
    return heights


def _rank_table(heights: list[int], ranks: Any) -> NDArray[Any]:
    """[M + 1, M + 1], ρ_st above the diagonal and the widths on it, checked to belong to some parameter."""
    size = len(heights)
    shape = f"give {size} × {size} entries, ranks[s][t] = rank(W_t…W_(s+1))"
    rows = _entries("ranks", ranks, shape)
    if len(rows) != size:
        raise ValueError(f"ranks has {len(rows)} rows for {size} widths; {shape}.")
    # Python integers where int64 sums of widths could overflow.
    table = np.zeros((size, size), dtype=np.int64 if max(heights) < 2**60 else object)
    for s, row in enumerate(rows):
        entries = _entries(f"ranks[{s}]", row, shape)
        if len(entries) != size:
            raise ValueError(f"ranks[{s}] has {len(entries)} entries for {size} widths; {shape}.")
        table[s, s] = heights[s]
        for t in range(s + 1, size):
            rank = _whole(f"ranks[{s}][{t}]", entries[t], "give a whole number")
            most = min(heights[s], heights[t])
            if not 0 <= rank <= most:
                raise ValueError(
                    f"ranks[{s}][{t}] is {_show(rank)}; it must be from 0 to {_show(most)}, the smaller of"
                    f" widths[{s}] and widths[{t}]."
                )
            table[s, t] = rank

    part = np.minimum(table[1:, 1:], table[:-1, :-1])  # at [s, t − 1]: the two products with one layer less
    for s, t in np.argwhere(np.triu(table[:-1, 1:] > part)):
        raise ValueError(
            f"ranks[{s}][{t + 1}] is {_show(table[s, t + 1])}; lower it to at most {_show(part[s, t])}, the"
            " rank of a part of that product."
        )
    least = table[:-2, 1:-1] + table[1:-1, 2:] - table[1:-1, 1:-1]  # Frobenius: rank AB + rank BC − rank B
    for s, t in np.argwhere(np.triu(table[:-2, 2:] < least)):
        raise ValueError(
            f"ranks[{s}][{t + 2}] is {_show(table[s, t + 2])}; raise it to at least {_show(least[s, t])}, as"
            f" Frobenius' rank inequality demands of ranks[{s}][{t + 1}] and ranks[{s + 1}][{t + 2}], or take"
            " the table from masked_rank_table or numerical_rank_table."
        )
    return table


def _masks(name: str, kept: Any, sizes: list[int]) -> list[frozenset[int] | None]:
    if kept is None:
        return [None] * len(sizes)
    remedy = "give one set of indices per layer, or None for all"
    layers = _entries(name, kept, remedy)
    if len(layers) != len(sizes):
        raise ValueError(f"{name} has {len(layers)} entries for {len(sizes)} layers; {remedy}.")
    masks: list[frozenset[int] | None] = []
    for j, (indices, size) in enumerate(zip(layers, sizes, strict=True)):
        if indices is None:
            masks.append(None)
            continue
        remedy = f"give distinct whole numbers from 0 to {_show(size - 1)}, or None for all"
        entries = _entries(f"{name}[{j}]", indices, remedy, at_most=size)
        field = f"An index in {name}[{j}]"
        mask = frozenset(index if type(index) is int else _whole(field, index, remedy) for index in entries)
        wrong = next((index for index in mask if not 0 <= index < size), None)
        if wrong is not None:
            raise ValueError(f"{field} is {_show(wrong)}; {remedy}.")
        if len(mask) < len(entries):
            raise ValueError(f"{name}[{j}] is {_show(indices)}, with an index given twice; {remedy}.")
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
    layers = _entries("weights", weights, remedy)
    if not layers:
        raise ValueError(f"weights is {_show(weights)}; {remedy}.")
    matrices: list[NDArray[np.float64]] = []
    for j, layer in enumerate(layers):
        try:
            matrix = np.asarray(layer)
            real = matrix.dtype.kind in "fiu"
            matrix = matrix.astype(np.float64) if real else matrix
        except Exception:
            raise ValueError(f"weights[{j}] is {_show(layer)}; give a matrix of real numbers.") from None
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
        raise ValueError(f"rtol is {_show(rtol)}; give a number between 0 and 1, such as 1e-10.")
    return tolerance


def _entries(name: str, values: Any, remedy: str, at_most: int | None = None) -> list[Any]:
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
        raise ValueError(f"{name} is {_show(values)}; {remedy}.") from None


def _whole(name: str, value: Any, remedy: str) -> int:
    if not isinstance(value, bool | np.bool_):
        try:
            return operator.index(value)
        except TypeError:
            pass
    raise ValueError(f"{name} is {_show(value)}; {remedy}.")


def _show(value: Any) -> str:
    if isinstance(value, int) and value.bit_length() > 200:
        return f"an integer of {value.bit_length()} bits"
    try:
        text = str(value) if isinstance(value, np.generic) else repr(value)
    except Exception:  # a huge integer inside, or an object whose repr fails
        text = f"a {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."
