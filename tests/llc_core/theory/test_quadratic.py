"""λ of networks of squared units against what the rank of the Jacobian and single units say."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from llc_core.theory.quadratic import quadratic_network_coefficient


@pytest.mark.parametrize("inputs, units, rank", [(3, 3, 3), (4, 6, 4), (5, 2, 2), (6, 4, 4)])
def test_where_the_zeros_are_a_manifold_it_is_half_the_rank_of_the_jacobian(inputs, units, rank):
    """At full rank of inputs or of units no form of degree four is left."""
    w = np.random.default_rng(inputs).standard_normal((units, inputs))
    rows = []
    for k in range(units):
        for i in range(inputs):
            move = np.zeros_like(w)
            move[k, i] = 1
            rows.append((move.T @ w + w.T @ move).ravel())
    assert quadratic_network_coefficient(inputs, units, rank).value == Fraction(
        int(np.linalg.matrix_rank(np.array(rows))), 2
    )


def test_one_input_is_a_sum_of_squares():
    """(Σ w_k² − q)²: ½ on a sphere, and H/4 at 0, where it is a form of degree four in H numbers."""
    assert quadratic_network_coefficient(1, 7, 1).value == Fraction(1, 2)
    assert quadratic_network_coefficient(1, 7, 0).value == Fraction(7, 4)


def test_a_unit_more_is_free_at_full_rank_alone():
    at = [[quadratic_network_coefficient(4, units, rank).value for units in (4, 5, 6)] for rank in (4, 3, 1)]
    assert at[0][0] == at[0][1] == at[0][2]
    assert np.diff(at[1]).tolist() == [Fraction(1, 4)] * 2 and np.diff(at[2]).tolist() == [Fraction(3, 4)] * 2


def test_other_ranks_are_refused():
    with pytest.raises(ValueError, match="rank is 3"):
        quadratic_network_coefficient(4, 2, 3)
