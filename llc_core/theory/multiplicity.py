"""The multiplicity: the length of the longest chain r^(1) < … < r^(p) of minimisers such that, with r^(0) = 0,
r^(p+1) = H and g_k = r^(k) − r^(k−1), min{ Σ_k g_k(u_k) : s ≤ u_{p+1} ≤ … ≤ u_1 ≤ t } ≥ ρ_st for all s < t.

Minimisers differ by units that sit on some tied layers, at most one on each: particles on n sites. r grows
when particles move right, and with b(u) the number of particles on the first u sites the condition reads
    b_1(v) − b_p(u) − crossings ≤ room(u, v)   for all 0 ≤ u < v ≤ n,
crossings being the least Σ_k [b_{k−1} − b_k](u_k) over u ≤ u_p ≤ … ≤ u_2 ≤ v: nobody who walks left through
the sites (u, v] while the chain runs may meet more particles than the sites have room for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Ties:
    """first, last: [n] bool, sites occupied in the smallest and the largest minimiser.
    part: [n], label of the group of sites that exchange particles, the components of a matroid.
    room: [n + 1, n + 1], how many particles fit on the sites (u, v], for u < v.
    """

    first: NDArray[np.bool_]
    last: NDArray[np.bool_]
    part: NDArray[np.int64]
    room: NDArray[np.int64]


def tied_layers(heights: list[int], drops: list[int], last: list[int], slack: NDArray[Any]) -> Ties:
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
    return Ties(first, final, np.array([root(j) for j in sites]), room)


def longest_chain(ties: Ties, limit: int) -> int | None:
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

    def __init__(self, ties: Ties, limit: int) -> None:
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
