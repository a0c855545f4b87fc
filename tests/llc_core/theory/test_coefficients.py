"""Exact learning coefficients against brute force, older closed formulas, and each other."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llc_core.theory.coefficients import learning_coefficient, local_learning_coefficient
from llc_core.theory.rank_tables import masked_rank_table, numerical_rank_table, numerical_ranks
from llc_core.types import LearningCoefficient

PROPERTY = settings(max_examples=150)
Intervals = dict[tuple[int, int], int]  # (a, b) → how many basis vectors live at the vertices a … b


# --- helpers: orbits, brute force -----------------------------------------------------------------------------------


def orbit(depth: int, intervals: Intervals) -> tuple[list[int], list[list[int]]]:
    """Widths and rank table of the layers that shift the basis vectors of each interval along it."""

    def rank(s: int, t: int) -> int:
        return sum(count for (a, b), count in intervals.items() if a <= s <= t <= b)

    vertices = range(depth + 1)
    return [rank(v, v) for v in vertices], [[rank(s, t) for t in vertices] for s in vertices]


def orbits(widths: tuple[int, ...]) -> Iterator[list[list[int]]]:
    """Rank tables of all orbits of layers with these widths."""
    depth = len(widths) - 1

    def place(spans: list[tuple[int, int]], left: tuple[int, ...], chosen: Intervals) -> Iterator[Intervals]:
        if not spans:
            yield {**chosen, **{(v, v): room for v, room in enumerate(left)}}
            return
        (a, b), rest = spans[0], spans[1:]
        for count in range(min(left[a : b + 1]) + 1):
            after = tuple(room - count * (a <= v <= b) for v, room in enumerate(left))
            yield from place(rest, after, {**chosen, (a, b): count})

    long = [(a, b) for a in range(depth + 1) for b in range(a + 1, depth + 1)]
    for intervals in place(long, widths, {}):
        yield orbit(depth, intervals)[1]


def transpose(table: list[list[int]]) -> list[list[int]]:
    last = len(table) - 1
    return [[table[last - t][last - s] for t in range(last + 1)] for s in range(last + 1)]


def first_kept(widths: list[int], masks: str) -> list[list[int]]:
    """Rank table for masks such as "W1:r3 W4:c9": the first 3 rows of W_1 and 9 columns of W_4 are kept."""
    rows: list[Any] = [None] * (len(widths) - 1)
    columns = list(rows)
    for mask in masks.split():
        layer, kept = mask.removeprefix("W").split(":")
        (rows if kept[0] == "r" else columns)[int(layer) - 1] = range(int(kept[1:]))
    return masked_rank_table(widths, rows, columns)


def fibre_codimension(widths: list[int], rank: int) -> int:
    """Codimension of {product = P}, P of this rank: a dynamic programme over the ranks of W_j…W_1."""
    best = {widths[0]: 0}
    for width in widths[1:]:
        best = {
            now: min(cost + (before - now) * (width - now) for before, cost in best.items() if before >= now)
            for now in range(rank, min(width, max(best)) + 1)
        }
    return rank * (widths[0] + widths[-1]) - rank**2 + best[rank]


def minimisers(widths: list[int], table: list[list[int]]) -> tuple[Fraction, list[tuple[int, ...]]]:
    """λ and all minimisers r_0 … r_M, straight from the definition."""
    last, rank = len(widths) - 1, table[0][-1]
    found: dict[int, list[tuple[int, ...]]] = {}

    def walk(path: tuple[int, ...], cost: int) -> None:
        j = len(path)
        if j > last:
            if path[-1] == rank:
                found.setdefault(cost, []).append(path)
            return
        for r in range(rank, path[-1] + 1):
            if all(path[s] - r <= widths[s] - table[s][j] for s in range(j)):
                walk((*path, r), cost + (path[-1] - r) * (widths[j] - r))

    walk((widths[0],), 0)
    least = min(found)
    return Fraction(rank * (widths[0] + widths[-1]) - rank**2 + least, 2), found[least]


def longest_admissible_chain(widths: list[int], table: list[list[int]], candidates: list[tuple[int, ...]]) -> int:
    size = len(widths)

    def admissible(chain: list[tuple[int, ...]]) -> bool:
        ends = [(0,) * size, *chain, tuple(widths)]
        steps = [[b - a for a, b in zip(low, high, strict=True)] for low, high in itertools.pairwise(ends)]

        @cache
        def least(k: int, s: int, t: int) -> int:  # over s ≤ u_{p+1} ≤ … ≤ u_{k+1} ≤ t
            return 0 if k == len(steps) else min(steps[k][u] + least(k + 1, s, u) for u in range(s, t + 1))

        return all(least(0, s, t) >= table[s][t] for s in range(size) for t in range(s + 1, size))

    def longest(chain: list[tuple[int, ...]]) -> int:
        above = (
            r
            for r in candidates
            if not chain or (r != chain[-1] and all(a <= b for a, b in zip(chain[-1], r, strict=True)))
        )
        return max((longest([*chain, r]) for r in above if admissible([*chain, r])), default=len(chain))

    return longest([])


def brute_force(widths: list[int], table: list[list[int]]) -> tuple[Fraction, int]:
    value, candidates = minimisers(widths, table)
    return value, longest_admissible_chain(widths, table, candidates)


def both(result: LearningCoefficient) -> tuple[Fraction, int | None]:
    return result.value, result.multiplicity


@st.composite
def networks(draw: st.DrawFn, most_layers: int = 5) -> tuple[list[int], list[list[int]]]:
    """Widths and rank table of a random orbit; one interval per vertex keeps the widths positive."""
    depth = draw(st.integers(1, most_layers))
    spans = [(a, b) for a in range(depth + 1) for b in range(a + 1, depth + 1)]
    short = draw(st.lists(st.integers(1, 3), min_size=depth + 1, max_size=depth + 1))
    long = draw(st.lists(st.sampled_from(spans), max_size=5))
    intervals = {(v, v): count for v, count in enumerate(short)}
    for span in long:
        intervals[span] = intervals.get(span, 0) + 1
    return orbit(depth, intervals)


# --- the global coefficient -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("widths", "rank", "value", "multiplicity"),
    [
        ([4] * 2, 0, "8", 1),
        ([4] * 3, 0, "6", 1),
        ([4] * 4, 0, "11/2", 3),
        ([4] * 5, 0, "5", 1),
        ([4] * 6, 0, "5", 5),
        ([4] * 7, 0, "5", 9),
        ([2, 2, 2], 0, "3/2", 1),
        ([5, 5, 5], 5, "25/2", 1),
        ([5, 5, 5], 2, "23/2", 2),
        ([5, 5, 5], 1, "21/2", 1),
        ([5, 5, 5], 0, "19/2", 2),
        ([3, 3, 3], 3, "9/2", 1),
    ],
)
def test_known_global_values(widths: list[int], rank: int, value: str, multiplicity: int) -> None:
    result = learning_coefficient(widths, rank)
    assert both(result) == (Fraction(value), multiplicity)
    assert result.value == Fraction(fibre_codimension(widths, rank), 2)


def test_third_condition_is_min_not_max() -> None:
    """With `max`, Σ = {3, 3} passes for these widths and gives 21/2."""
    assert learning_coefficient((9, 4, 5, 4), 1).value == 10


def test_one_layer_is_regular() -> None:
    for height, width in itertools.product(range(1, 6), repeat=2):
        for rank in range(min(height, width) + 1):
            assert both(learning_coefficient([height, width], rank)) == (Fraction(height * width, 2), 1)


def aoyagi_by_index_sets(widths: list[int], rank: int) -> set[tuple[Fraction, int]]:
    """The theorem as written, over every set of widths; a set that passes gives one (λ, m)."""
    results = set()
    excess = [width - rank for width in widths]
    for size in range(2, len(widths) + 1):
        for chosen in itertools.combinations(range(len(widths)), size):
            inside = [excess[j] for j in chosen]
            outside = [excess[j] for j in range(len(widths)) if j not in chosen]
            l, total = size - 1, sum(inside)
            if total < l * max(inside):
                continue
            if outside and not (max(inside) < min(outside) and total < l * min(outside)):
                continue
            a = total - (-(-total // l) - 1) * l
            value = Fraction(rank * (widths[0] + widths[-1]) - rank**2, 2) + Fraction(a * (l - a), 4 * l)
            value -= Fraction(l * (l - 1), 4) * Fraction(total, l) ** 2
            value += Fraction(sum(x * y for x, y in itertools.combinations(inside, 2)), 2)
            results.add((value, a * (l - a) + 1))
    return results


@PROPERTY
@given(st.lists(st.integers(1, 12), min_size=2, max_size=7), st.integers(0, 12))
def test_global_against_index_sets_and_fibre(widths: list[int], rank: int) -> None:
    rank = min(rank, *widths)
    result = learning_coefficient(widths, rank)
    assert aoyagi_by_index_sets(widths, rank) == {both(result)}
    assert result.value == Fraction(fibre_codimension(widths, rank), 2)


@PROPERTY
@given(st.lists(st.integers(1, 60), min_size=2, max_size=14), st.integers(0, 60))
def test_global_is_half_the_codimension_of_the_fibre(widths: list[int], rank: int) -> None:
    rank = min(rank, *widths)
    assert learning_coefficient(widths, rank).value == Fraction(fibre_codimension(widths, rank), 2)


def reduced_rank_regression(inputs: int, hidden: int, outputs: int, rank: int) -> tuple[Fraction, int]:
    """Aoyagi & Watanabe, Neural Networks 18 (2005)."""
    if outputs + rank > inputs + hidden or inputs + rank > outputs + hidden or hidden + rank > inputs + outputs:
        if inputs + hidden < outputs + rank:
            return Fraction(inputs * hidden - hidden * rank + outputs * rank, 2), 1
        if outputs + hidden < inputs + rank:
            return Fraction(hidden * outputs - hidden * rank + inputs * rank, 2), 1
        return Fraction(inputs * outputs, 2), 1
    odd = (inputs + hidden + outputs + rank) % 2
    twice = 2 * (hidden + rank) * (inputs + outputs) + 2 * inputs * outputs
    return Fraction(twice - (hidden + rank) ** 2 - inputs**2 - outputs**2 + odd, 8), 1 + odd


def test_reduced_rank_regression() -> None:
    cases = [(*sizes, r) for sizes in itertools.product(range(1, 11), repeat=3) for r in range(min(sizes) + 1)]
    assert len(cases) == 4025
    for inputs, hidden, outputs, rank in cases:
        expected = reduced_rank_regression(inputs, hidden, outputs, rank)
        assert both(learning_coefficient([inputs, hidden, outputs], rank)) == expected


# --- the local coefficient ------------------------------------------------------------------------------------------

G: Intervals = {(0, 0): 4, (0, 2): 1, (1, 1): 1, (1, 2): 2, (2, 2): 1, (3, 3): 5}
P: Intervals = {(0, 0): 2, (1, 1): 1, (1, 3): 1, (2, 2): 1, (3, 3): 1, (4, 4): 2}
VECTORS: dict[str, tuple[list[int], Any, int, str, int, str, int]] = {
    "A": ([2, 2, 2], {(0, 1): 2, (2, 2): 2}, 0, "2", 1, "3/2", 1),
    "C": ([6, 4, 5], {(0, 0): 5, (0, 2): 1, (1, 1): 1, (1, 2): 2, (2, 2): 2}, 1, "11", 1, "21/2", 1),
    "D": ([3, 3, 3, 3], {(0, 0): 3, (1, 2): 3, (3, 3): 3}, 0, "7/2", 2, "3", 1),
    "E": ([4, 3, 3, 4], {(0, 0): 4, (1, 2): 3, (3, 3): 4}, 0, "5", 2, "4", 3),
    "G": ([5, 4, 4, 5], G, 0, "7", 2, "13/2", 1),
    "P": ([2, 2, 2, 2, 2], P, 0, "3/2", 4, "3/2", 5),
    "Q": ([3, 3, 3], {(0, 0): 3, (1, 1): 3, (2, 2): 3}, 0, "7/2", 2, "7/2", 2),
    "m1": ([8, 8, 8], "W1:r3", 3, "32", 1, "29", 2),
    "m3": ([10, 7, 9, 6], "W2:r2", 2, "24", 1, "47/2", 1),
    "m5": ([20, 15, 25, 18, 22], "W2:r4 W4:c9", 4, "147", 2, "142", 3),
    "m8": ([500] * 11, "W1:r100 W4:c50 W7:r200 W10:c20", 20, "81800", 1, "73160", 1),
}


@pytest.mark.parametrize("name", VECTORS)
def test_vectors(name: str) -> None:
    widths, point, rank, local, m_local, everywhere, m_global = VECTORS[name]
    if isinstance(point, str):
        table = first_kept(widths, point)
    else:
        derived, table = orbit(len(widths) - 1, point)
        assert derived == widths
    assert table[0][-1] == rank
    expected = (Fraction(local), m_local)
    assert both(local_learning_coefficient(widths, table)) == expected
    assert both(local_learning_coefficient(widths[::-1], transpose(table))) == expected
    assert both(learning_coefficient(widths, rank)) == (Fraction(everywhere), m_global)


@pytest.mark.parametrize(
    ("widths", "layer_ranks", "rank", "value"),
    [
        ([100] * 3, (60, 100), 60, 5000),
        ([100] * 3, (50, 50), 25, 4297),
        ([100] * 3, (100, 20), 20, 5000),
        ([5, 5, 5], (5, 0), 0, Fraction(25, 2)),
        ([5, 5, 5], (5, 1), 1, Fraction(25, 2)),
    ],
)
def test_known_local_values(widths: list[int], layer_ranks: tuple[int, int], rank: int, value: Fraction) -> None:
    table = [[0, layer_ranks[0], rank], [0, 0, layer_ranks[1]], [0, 0, 0]]
    assert local_learning_coefficient(widths, table).value == value


def test_one_reduced_layer_among_four() -> None:
    widths = [60, 50, 70, 55, 60]
    assert learning_coefficient(widths, 30).value == Fraction(3125, 2)
    assert local_learning_coefficient(widths, first_kept(widths, "W2:r30")).value == 1600


def test_two_layers_closed_formula_on_all_orbits() -> None:
    seen = 0
    for h0, h1, h2 in itertools.product(range(1, 6), repeat=3):
        for k1, k2 in itertools.product(range(min(h0, h1) + 1), range(min(h1, h2) + 1)):
            for rank in range(max(0, k1 + k2 - h1), min(k1, k2) + 1):
                core = (h0 - k1, h1 - k1 - k2 + rank, h2 - k2)
                singular = learning_coefficient(core, 0).value if min(core) > 0 else Fraction(0)
                table = [[h0, k1, rank], [0, h1, k2], [0, 0, h2]]
                result = local_learning_coefficient([h0, h1, h2], table)
                assert result.value == Fraction(k1 * h2 + k2 * (h0 - k1), 2) + singular
                seen += 1
    assert seen == 1857


def stated_by_others(inputs: int, hidden: int, outputs: int, a: int, b: int, rank: int) -> tuple[Fraction, int]:
    """λ and m of two layers by R. Sneiderman's statement (problem O70 of lionellevine/MAIS, August 2026)."""
    q, p, n, h = outputs * a + b * inputs - a * b, outputs - b, inputs - a, hidden - a - b + rank
    costs = [h * n + t * (p - h - n) + t * t for t in range(min(h, n) + 1)]
    return Fraction(q + min(costs), 2), costs.count(min(costs))


@pytest.mark.slow
def test_two_layers_are_as_others_state_them_for_all_rank_patterns() -> None:
    seen = 0
    for h0, h1, h2 in itertools.product(range(1, 7), repeat=3):
        for k1, k2 in itertools.product(range(min(h0, h1) + 1), range(min(h1, h2) + 1)):
            for rank in range(max(0, k1 + k2 - h1), min(k1, k2) + 1):
                found = local_learning_coefficient([h0, h1, h2], [[h0, k1, rank], [0, h1, k2], [0, 0, h2]])
                assert (found.value, found.multiplicity) == stated_by_others(h0, h1, h2, k1, k2, rank)
                seen += 1
    assert seen == 4227


@pytest.mark.parametrize(
    "widths",
    [(3, 3, 3), (2, 4, 3), (1, 2, 2, 1), (2, 2, 2, 2), (2, 3, 3, 2), (1, 2, 1, 2, 1), (2, 2, 1, 2, 2)],
)
def test_all_orbits_of_small_networks(widths: tuple[int, ...]) -> None:
    """Brute force; λ grows with the ranks; and its minimum over the orbits of one product is Aoyagi's value."""
    heights = list(widths)
    tables = list(orbits(widths))
    results = [local_learning_coefficient(heights, table) for table in tables]
    for table, result in zip(tables, results, strict=True):
        assert both(result) == brute_force(heights, table)
    for rank in range(min(widths) + 1):
        same = [(np.array(t), r) for t, r in zip(tables, results, strict=True) if t[0][-1] == rank]
        assert min(r.value for _, r in same) == learning_coefficient(widths, rank).value
        for (low, smaller), (high, larger) in itertools.product(same, repeat=2):
            if (low <= high).all():
                assert smaller.value <= larger.value


@pytest.mark.slow
@PROPERTY
@given(networks())
def test_local_against_brute_force(network: tuple[list[int], list[list[int]]]) -> None:
    widths, table = network
    result = local_learning_coefficient(widths, table)
    assert both(result) == brute_force(widths, table)
    assert result.value >= learning_coefficient(widths, table[0][-1]).value
    assert result.value.denominator in (1, 2)
    assert local_learning_coefficient(widths[::-1], transpose(table)) == result


# Ties in which the longest chain has to skip minimisers: rare in random networks, and the hard part of the search.
SKIPPING: list[tuple[int, Intervals]] = [
    (4, P),
    (4, {(0, 0): 2, (1, 1): 1, (1, 3): 1, (2, 2): 1, (3, 4): 1, (4, 4): 1}),
    (5, {(0, 0): 2, (1, 1): 1, (1, 4): 1, (2, 2): 1, (3, 3): 1, (4, 4): 1, (5, 5): 2}),
    (5, {(0, 0): 1, (0, 1): 1, (1, 3): 1, (2, 2): 1, (3, 5): 1, (4, 4): 1, (5, 5): 1}),
    (6, {(0, 0): 2, (1, 1): 1, (1, 4): 1, (2, 2): 1, (3, 5): 1, (4, 4): 1, (5, 5): 1, (6, 6): 2}),
    (6, {(0, 0): 2, (1, 1): 1, (1, 5): 1, (2, 2): 1, (3, 3): 1, (4, 4): 1, (5, 5): 1, (6, 6): 2}),
]


@pytest.mark.parametrize(("depth", "intervals"), SKIPPING)
def test_chains_that_skip_minimisers(depth: int, intervals: Intervals) -> None:
    widths, table = orbit(depth, intervals)
    value, candidates = minimisers(widths, table)
    chain = longest_admissible_chain(widths, table, candidates)
    assert chain < longest_admissible_chain(widths, [[0] * len(widths)] * len(widths), candidates)
    assert both(local_learning_coefficient(widths, table)) == (value, chain)
    # The work limit takes away the multiplicity and nothing else.
    assert both(local_learning_coefficient(widths, table, search_limit=0)) == (value, None)


# Tied layers that fall into two groups with different H_j + d_j, side by side or one inside the other.
TWO_GROUPS: list[tuple[int, Intervals]] = [
    (4, {(0, 0): 1, (0, 2): 1, (1, 1): 1, (2, 2): 1, (3, 3): 1, (3, 4): 2, (4, 4): 1}),
    (4, {(0, 0): 4, (1, 1): 1, (1, 3): 1, (2, 2): 1, (3, 3): 1, (4, 4): 4}),
    (5, {(0, 0): 4, (1, 1): 1, (1, 3): 2, (2, 2): 1, (3, 3): 1, (4, 4): 4, (5, 5): 3}),
    (6, {(0, 0): 2, (0, 1): 1, (1, 1): 2, (1, 5): 1, (2, 2): 1, (3, 3): 1, (4, 4): 1, (5, 5): 1, (6, 6): 3}),
    (6, {(0, 0): 3, (1, 1): 3, (2, 2): 1, (2, 4): 1, (3, 3): 1, (4, 4): 1, (5, 5): 3, (6, 6): 4}),
]


@pytest.mark.parametrize(("depth", "intervals"), TWO_GROUPS)
def test_ties_in_two_groups(depth: int, intervals: Intervals) -> None:
    widths, table = orbit(depth, intervals)
    assert both(local_learning_coefficient(widths, table)) == brute_force(widths, table)


@PROPERTY
@given(
    st.lists(st.integers(2, 40), min_size=2, max_size=9),
    st.integers(0, 40),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
def test_same_rank_kept_in_every_layer_is_the_deepest_point(
    widths: list[int], kept: int, by_rows: bool, seed: int
) -> None:
    kept = min(kept, *widths)
    rng = np.random.default_rng(seed)
    sizes = widths[1:] if by_rows else widths[:-1]
    masks = [rng.permutation(size)[:kept] for size in sizes]
    table = masked_rank_table(widths, masks if by_rows else None, None if by_rows else masks)
    if table[0][-1] == kept:
        assert local_learning_coefficient(widths, table) == learning_coefficient(widths, kept)


@PROPERTY
@given(st.lists(st.integers(1, 40), min_size=2, max_size=9))
def test_full_rank_is_a_smooth_point(widths: list[int]) -> None:
    """Half the rank of the Jacobian: all directions that change a product of rank r = min width to first order."""
    rank = min(widths)
    result = local_learning_coefficient(widths, masked_rank_table(widths))
    expected = rank * (widths[0] + widths[-1]) - rank**2
    if rank in (widths[0], widths[-1]):
        assert both(result) == (Fraction(widths[0] * widths[-1], 2), 1)
    assert both(result) == (Fraction(expected, 2), 1)


def test_wide_deep_and_huge_networks() -> None:
    assert learning_coefficient([300] * 41, 20).value == Fraction(fibre_codimension([300] * 41, 20), 2)
    widths = [3000] * 41
    deepest = local_learning_coefficient(widths, masked_rank_table(widths, [range(100)] * 40))
    assert deepest == learning_coefficient(widths, 100)
    assert deepest.multiplicity == 401  # 2900 = 72·40 + 20 units on 40 layers: 20·20 + 1

    mixed = "W1:r100 W4:c50 W7:r200 W10:c20"
    small = local_learning_coefficient([500] * 11, first_kept([500] * 11, mixed))
    scale = 10**40  # λ is homogeneous of degree two where no rounding occurs
    table = [[scale * rank for rank in row] for row in first_kept([500] * 11, mixed)]
    assert local_learning_coefficient([500 * scale] * 11, table).value == scale**2 * small.value
    assert learning_coefficient([4 * scale] * 3, 0).value == 6 * scale**2


# --- rank tables ----------------------------------------------------------------------------------------------------


def masked_weights(
    rng: np.random.Generator, widths: list[int]
) -> tuple[list[np.ndarray], list[list[int] | None], list[list[int] | None]]:
    weights: list[np.ndarray] = []
    rows: list[list[int] | None] = []
    columns: list[list[int] | None] = []
    for before, after in itertools.pairwise(widths):
        matrix = rng.normal(size=(after, before))
        for side, kept in ((after, rows), (before, columns)):
            if rng.random() < 0.5:
                kept.append(None)
                continue
            indices = rng.permutation(side)[: rng.integers(side + 1)].tolist()
            dropped = np.setdiff1d(np.arange(side), indices)
            if kept is rows:
                matrix[dropped] = 0.0
            else:
                matrix[:, dropped] = 0.0
            kept.append(indices)
        weights.append(matrix)
    return weights, rows, columns


@pytest.mark.slow
@PROPERTY
@given(st.lists(st.integers(1, 14), min_size=2, max_size=8), st.integers(0, 2**32 - 1))
def test_masked_and_numerical_ranks_agree(widths: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights, rows, columns = masked_weights(rng, widths)
    table = masked_rank_table(widths, rows, columns)
    assert numerical_rank_table(weights) == table
    assert numerical_rank_table([w.astype(np.float32) for w in weights]) == table
    scaled = [w * 10.0 ** rng.integers(-250, 250) for w in weights]
    assert numerical_rank_table(scaled) == table
    local_learning_coefficient(widths, table)  # the table belongs to a parameter


@settings(PROPERTY, max_examples=60)
@given(networks(4), st.integers(0, 2**32 - 1))
def test_numerical_ranks_and_jacobian_of_dense_orbits(network: tuple[list[int], list[list[int]]], seed: int) -> None:
    """Orbits in random orthonormal bases; 2λ is at least the rank of the product's derivative."""
    widths, table = network
    depth, rng = len(widths) - 1, np.random.default_rng(seed)
    vectors = [
        (a, b)
        for a, b in itertools.combinations_with_replacement(range(depth + 1), 2)
        for _ in range(interval_count(table, a, b))
    ]
    alive = [[k for k, (a, b) in enumerate(vectors) if a <= v <= b] for v in range(depth + 1)]
    frames = [np.linalg.qr(rng.normal(size=(width, width)))[0] for width in widths]
    weights = []
    for j in range(depth):
        shift = np.array([[float(p == q) for q in alive[j]] for p in alive[j + 1]])
        weights.append(frames[j + 1] @ shift @ frames[j].T)
    expected = [[rank if s <= t else 0 for t, rank in enumerate(row)] for s, row in enumerate(table)]
    assert numerical_rank_table(weights) == expected

    blocks = []
    for j in range(depth):
        before, after = np.eye(widths[0]), np.eye(widths[j + 1])
        for matrix in weights[:j]:
            before = matrix @ before
        for matrix in weights[j + 1 :]:
            after = matrix @ after
        blocks.append(np.kron(before.T, after))
    jacobian = np.linalg.matrix_rank(np.hstack(blocks), tol=1e-8)
    assert 2 * local_learning_coefficient(widths, table).value >= jacobian


def interval_count(table: list[list[int]], a: int, b: int) -> int:
    def rank(s: int, t: int) -> int:
        return table[s][t] if s >= 0 and t < len(table) else 0

    return rank(a, b) - rank(a - 1, b) - rank(a, b + 1) + rank(a - 1, b + 1)


def test_neither_depth_nor_rounding_fakes_a_rank() -> None:
    rng = np.random.default_rng(0)
    deep = [rng.normal(size=(12, 12)) for _ in range(40)]  # singular values of the product span 20 decades
    assert numerical_rank_table(deep) == masked_rank_table([12] * 41)

    low = [rng.normal(size=(12, 5)) @ rng.normal(size=(5, 12)) for _ in range(20)]  # rank 5 up to rounding
    assert numerical_rank_table(low) == [[12 if s == t else 5 * (s < t) for t in range(21)] for s in range(21)]
    rounded = [w.astype(np.float32) for w in low]
    assert numerical_rank_table(rounded) == numerical_rank_table(rounded, rtol=1e-5) == numerical_rank_table(low)
    assert numerical_rank_table([w.astype(float) for w in rounded]) == numerical_rank_table(low), (
        "still float32's numbers"
    )
    assert numerical_rank_table(rounded, rtol=1e-10)[0][1] == 12
    assert not numerical_ranks(rounded).note and not numerical_ranks(low).note and not numerical_ranks(deep).note

    annihilating = [np.diag([1.0, 0.0]), np.diag([0.0, 1e-300]), np.ones((3, 2))]
    assert numerical_rank_table(annihilating) == [[2, 1, 0, 0], [0, 2, 1, 1], [0, 0, 2, 1], [0, 0, 0, 3]]


@pytest.mark.parametrize("width", [2, 8, 60, 300])
def test_low_ranks_that_were_multiplied_in_single_precision(width: int) -> None:
    """Their rounding is below the tolerance and far enough from it that nothing is doubtful."""
    rng = np.random.default_rng(width)
    half = width // 2

    def low() -> np.ndarray:
        made: np.ndarray = rng.normal(size=(width, half)).astype(np.float32) @ rng.normal(size=(half, width)).astype(
            np.float32
        )
        return made

    layers = [low(), low() @ low()]
    found = numerical_ranks(layers)
    assert [found.table[0][1], found.table[1][2]] == [half, half] and not found.note
    assert numerical_rank_table(layers, rtol=1e-10)[0][1] > half, "single precision is in the numbers"


def test_a_rank_that_is_a_close_call_is_noted() -> None:
    values = np.ones(8)
    values[-1] = 3e-6
    found = numerical_ranks([np.diag(values).astype(np.float32), np.eye(8)])
    assert found.table[0][1] == 8 and "layer 1" in found.note and "3e-06" in found.note and "9.5e-07" in found.note
    values[-1] = 0.01
    assert not numerical_ranks([np.diag(values).astype(np.float32), np.eye(8)]).note


def test_masked_ranks_need_the_kept_units_to_meet() -> None:
    assert masked_rank_table([4, 6, 4], [range(3), None], [None, range(3, 6)])[0][2] == 0
    assert masked_rank_table([4, 6, 4], [[0, 1, 2, 3], None], [None, [2, 3, 4, 5]])[0][2] == 2
    assert masked_rank_table([4, 6, 4], [[0, 1], None], [{0, 3}, None])[0][1] == 2


def test_what_is_accepted() -> None:
    widths: Any = np.array([2, 2, 2])
    table = np.array([[2, 2, 0], [0, 2, 0], [0, 0, 2]])
    accepted: list[Any] = [table, table.tolist(), tuple(map(tuple, table)), table.astype(np.uint8)]
    for ranks in accepted:
        assert both(local_learning_coefficient(widths, ranks)) == (2, 1)
    ignored: Any = [[None, 2, 0], ["x", 0, 0], [-1, None, 7]]
    assert local_learning_coefficient((2, 2, 2), ignored).value == 2
    result = learning_coefficient(widths, table[0, 2])
    assert float(result) == 1.5 and isinstance(result.value, Fraction) and type(result.multiplicity) is int
    assert numerical_rank_table([[[1, 0], [0, 1]], np.zeros((1, 2), dtype=np.float16)])[0] == [2, 2, 0]
    assert masked_rank_table((2, 3), (np.array([2], dtype=np.uint8),)) == [[2, 1], [0, 3]]


# --- what is refused ------------------------------------------------------------------------------------------------

NAN = float("nan")
HUGE = 10**10_000
EYE = [[1.0, 0.0], [0.0, 1.0]]
BAD: list[tuple[Any, tuple[Any, ...], str]] = [
    (learning_coefficient, ([3], 0), r"widths is \[3\]; give at least two"),
    (learning_coefficient, ([], 0), r"widths is \[\]; give at least two"),
    (learning_coefficient, (5, 0), r"widths is 5; give at least two"),
    (learning_coefficient, (None, 0), r"widths is None; "),
    (learning_coefficient, ("345", 0), r"widths is '345'; "),
    (learning_coefficient, ([3, 0], 0), r"widths\[1\] is 0; give a whole number of at least 1"),
    (learning_coefficient, ([3, -2], 0), r"widths\[1\] is -2; "),
    (learning_coefficient, ([-HUGE, 3], 0), r"widths\[0\] is an integer of 33220 bits; "),
    (learning_coefficient, ([3, 2.5], 0), r"widths\[1\] is 2.5; "),
    (learning_coefficient, ([3, NAN], 0), r"widths\[1\] is nan; "),
    (learning_coefficient, ([True, 3], 0), r"widths\[0\] is True; "),
    (learning_coefficient, (np.array([True, True]), 0), r"widths\[0\] is True; "),
    (learning_coefficient, (np.array([2.0, 3.0]), 0), r"widths\[0\] is 2.0; "),
    (learning_coefficient, ([3, 3], -1), r"rank is -1; it must be from 0 to the smallest width, 3"),
    (learning_coefficient, ([3, 2], 3), r"rank is 3; it must be from 0 to the smallest width, 2"),
    (learning_coefficient, ([3, 2], HUGE), r"rank is an integer of 33220 bits; "),
    (learning_coefficient, ([3, 2], 1.0), r"rank is 1.0; give a whole number"),
    (learning_coefficient, ([3, 2], True), r"rank is True; "),
    (learning_coefficient, ([3, 2], NAN), r"rank is nan; "),
    (local_learning_coefficient, ([2], [[0]]), r"widths is \[2\]; "),
    (local_learning_coefficient, ([2, 2], 5), r"ranks is 5; give 2 × 2 entries"),
    (local_learning_coefficient, ([2, 2], [[0, 1]]), r"ranks has 1 rows for 2 widths; give 2 × 2 entries"),
    (local_learning_coefficient, ([2, 2], [[1], [0, 0]]), r"ranks\[0\] has 1 entries for 2 widths; "),
    (local_learning_coefficient, ([2, 2], [[0, 1], None]), r"ranks\[1\] is None; "),
    (local_learning_coefficient, ([2, 2], [[0, NAN], [0, 0]]), r"ranks\[0\]\[1\] is nan; "),
    (local_learning_coefficient, ([2, 2], [[0, True], [0, 0]]), r"ranks\[0\]\[1\] is True; "),
    (local_learning_coefficient, ([2, 2], [[0, 1.0], [0, 0]]), r"ranks\[0\]\[1\] is 1.0; "),
    (
        local_learning_coefficient,
        ([2, 2], [[0, -1], [0, 0]]),
        r"ranks\[0\]\[1\] is -1; it must be from 0 to 2",
    ),
    (local_learning_coefficient, ([2, 3], [[0, 3], [0, 0]]), r"ranks\[0\]\[1\] is 3; it must be from 0 to 2"),
    (local_learning_coefficient, ([2, 3], [[0, HUGE], [0, 0]]), r"ranks\[0\]\[1\] is an integer of "),
    (
        local_learning_coefficient,
        ([3] * 3, [[0, 1, 2], [0, 0, 3], [0, 0, 0]]),
        r"ranks\[0\]\[2\] is 2; lower it to at most 1",
    ),
    (
        local_learning_coefficient,
        ([3] * 3, [[0, 3, 2], [0, 0, 3], [0, 0, 0]]),
        r"ranks\[0\]\[2\] is 2; raise it to at least 3",
    ),
    (
        local_learning_coefficient,
        ([3] * 4, [[0, 2, 2, 0], [0, 0, 2, 2], [0, 0, 0, 2], [0, 0, 0, 0]]),
        r"ranks\[0\]\[3\] is 0; raise it to at least 2, as Frobenius",
    ),
    (
        local_learning_coefficient,
        ([2, 2], [[0, 1], [0, 0]], -1),
        r"search_limit is -1; it must be at least 0",
    ),
    (local_learning_coefficient, ([2, 2], [[0, 1], [0, 0]], NAN), r"search_limit is nan; "),
    (masked_rank_table, ([2, 0],), r"widths\[1\] is 0; "),
    (masked_rank_table, ([2, 2], 3), r"kept_rows is 3; give one set of indices per layer"),
    (masked_rank_table, ([2, 2], [None, None]), r"kept_rows has 2 entries for 1 layers; "),
    (masked_rank_table, ([2, 2], None, []), r"kept_columns has 0 entries for 1 layers; "),
    (masked_rank_table, ([2, 2], [3]), r"kept_rows\[0\] is 3; give distinct whole numbers from 0 to 1"),
    (
        masked_rank_table,
        ([2, 2], [[2]]),
        r"An index in kept_rows\[0\] is 2; give distinct whole numbers from 0 to 1",
    ),
    (masked_rank_table, ([2, 2], None, [[-1]]), r"An index in kept_columns\[0\] is -1; "),
    (masked_rank_table, ([2, 2], [[0.0]]), r"An index in kept_rows\[0\] is 0.0; "),
    (masked_rank_table, ([2, 2], [np.array([True, False])]), r"An index in kept_rows\[0\] is True; "),
    (masked_rank_table, ([2, 2], [[1, 1]]), r"kept_rows\[0\] is \[1, 1\], with an index given twice; "),
    (masked_rank_table, ([2, 2], [range(10**12)]), r"kept_rows\[0\] has 1000000000000 entries; "),
    (masked_rank_table, ([2, 2], [range(HUGE)]), r"kept_rows\[0\] is a range; "),
    (numerical_rank_table, ([],), r"weights is \[\]; give one matrix per layer"),
    (numerical_rank_table, (3,), r"weights is 3; "),
    (numerical_rank_table, ([[1.0, 2.0]],), r"weights\[0\] has shape \(2,\) and type float64; give a matrix"),
    (numerical_rank_table, ([[[1, 2], [3]]],), r"weights\[0\] is \[\[1, 2\], \[3\]\]; give a matrix"),
    (numerical_rank_table, ([np.ones((2, 0))],), r"weights\[0\] has shape \(2, 0\)"),
    (
        numerical_rank_table,
        ([np.ones((2, 2), dtype=complex)],),
        r"weights\[0\] has shape \(2, 2\) and type complex",
    ),
    (numerical_rank_table, ([[["a"]]],), r"weights\[0\] has shape \(1, 1\) and type <U1; "),
    (numerical_rank_table, ([EYE, [[1.0, NAN]]],), r"weights\[1\] has an entry that is not finite"),
    (numerical_rank_table, ([EYE, [[1.0]]],), r"weights\[1\] has shape \(1, 1\); it needs 2 columns"),
    *((numerical_rank_table, ([EYE], bad), r"rtol is .*; give a number between 0 and 1") for bad in (0, 1, -1, NAN)),
    (numerical_rank_table, ([EYE], "small"), r"rtol is 'small'; "),
    (numerical_rank_table, ([EYE], True), r"rtol is True; "),
]


@pytest.mark.parametrize(("function", "arguments", "message"), BAD, ids=range(len(BAD)))
def test_refusals_name_field_value_and_remedy(function: Any, arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match="^" + message) as caught:
        function(*arguments)
    sentence = str(caught.value)
    assert sentence.endswith(".") and "\n" not in sentence and len(sentence) < 300


@pytest.mark.slow
@PROPERTY
@given(networks(4), st.data())
def test_a_table_is_refused_exactly_when_no_parameter_has_it(
    network: tuple[list[int], list[list[int]]], data: st.DataObject
) -> None:
    widths, table = network
    s = data.draw(st.integers(0, len(widths) - 2))
    t = data.draw(st.integers(s + 1, len(widths) - 1))
    changed = [list(row) for row in table]
    changed[s][t] += data.draw(st.sampled_from([-1, 1]))
    spans = itertools.combinations_with_replacement(range(len(widths)), 2)
    if all(interval_count(changed, a, b) >= 0 for a, b in spans):
        local_learning_coefficient(widths, changed)
    else:
        with pytest.raises(ValueError, match="ranks"):
            local_learning_coefficient(widths, changed)
