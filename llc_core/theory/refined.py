"""Exact learning coefficients of deep linear networks of which only some layers move, or whose inputs lie in a subspace.

What stands still between two layers that move is a matrix F of some rank f. The loss sees what comes in front of F, and what comes
behind it, through f numbers alone; everything else about the layers that move is flat. So the layers that move are a deep linear
network of their own: its widths are the ranks of what stands still, the widths of units between two moving layers stay, and the ranks
of its products are those of the whole network's products that reach from the near end of one standing part to the far end of
another. Inputs in a subspace are a first factor that stands still, with a basis of the subspace in its columns.

Where one layer moves alone this is λ = ½·rank(W_M⋯W_{l+1})·rank(W_{l−1}⋯W_1), with the ranks H_M and H_0 of empty products: a linear
regression. The coefficient of a part is the weight-refined one of Wang, Hoogland, van Wingerden, Furman & Murfet 2024, that of
other inputs the data-refined one (arXiv 2410.02984); the reduction is our own remark, by the definition of λ as an order of volume.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from llc_core.theory.coefficients import local_learning_coefficient
from llc_core.types import LearningCoefficient


def refined_learning_coefficient(ranks: Sequence[Sequence[int]], moving: Iterable[int]) -> LearningCoefficient:
    """λ and m at w0 where only the layers `moving` move, counted from 0.

    ranks: [M + 1, M + 1], ranks[s][t] = rank(W_t…W_{s+1}) for s < t, with the widths on the diagonal, as `numerical_rank_table` gives
        it.
    λ is 0 where something that stands still has rank 0: nothing that moves is then seen.
    Raises ValueError where no layer moves, or one that does not exist.
    """
    depth = len(ranks) - 1
    layers = sorted(set(moving))
    if not layers or not 0 <= layers[0] <= layers[-1] < depth:
        raise ValueError(f"layer is {layers}; give numbers from 0 to {depth - 1}.")
    ends = list(zip([0, *(layer + 1 for layer in layers)], [*layers, depth], strict=True))
    widths = [ranks[first][last] for first, last in ends]
    if min(widths) == 0:
        return LearningCoefficient(Fraction(0), 1)
    table = [[ranks[first][last] for _, last in ends] for first, _ in ends]
    return local_learning_coefficient(widths, table)
