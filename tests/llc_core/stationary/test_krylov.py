"""GMRES against a direct solution, where it ends by itself, and where numbers are nan."""

from __future__ import annotations

import numpy as np
import pytest
from rounding import unit_roundoff

from llc_core.stationary.krylov import correction

SIZE = 60


def system(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A matrix near the unit matrix, without symmetry, and a right side."""
    random = np.random.default_rng(seed)
    return np.eye(SIZE) + random.normal(size=(SIZE, SIZE)) / (3 * SIZE**0.5), random.normal(size=SIZE)


def test_all_vectors_together_solve_the_system():
    matrix, rest = system(0)
    found = correction(lambda x: matrix @ x, lambda x: x, rest, SIZE, 0.0)
    error = unit_roundoff(np.float64) * SIZE**1.5 * np.linalg.cond(matrix) * np.linalg.norm(found)
    assert np.linalg.norm(found - np.linalg.solve(matrix, rest)) < error


@pytest.mark.parametrize("enough", [1e-2, 1e-6])
@pytest.mark.parametrize("preconditioned", [False, True])
def test_it_ends_once_enough_is_done_and_not_much_sooner(enough, preconditioned):
    """One vector fewer leaves more than enough: what is left is known without the solution."""
    matrix, rest = system(1)
    inverse = np.linalg.inv(np.diag(np.diag(matrix))) if preconditioned else np.eye(SIZE)
    asked = []

    def apply(x: np.ndarray) -> np.ndarray:
        asked.append(x)
        return matrix @ x

    def left(found: np.ndarray) -> float:
        return float(np.linalg.norm(inverse @ (rest - matrix @ found)) / np.linalg.norm(inverse @ rest))

    found = correction(apply, lambda x: inverse @ x, rest, SIZE, enough)
    count = len(asked)
    assert left(found) < enough and count < SIZE
    fewer = correction(apply, lambda x: inverse @ x, rest, count - 1, 0.0)
    assert left(fewer) > enough
    basis = np.linalg.qr(np.array(asked[:count]).T)[0]
    best = basis @ np.linalg.lstsq(inverse @ matrix @ basis, inverse @ rest, rcond=None)[0]
    assert left(found) == pytest.approx(left(best), rel=1e-6), "the least that these vectors leave"


def test_a_small_space_ends_it():
    """Two different eigenvalues take two vectors: of a third nothing but rounding is left."""
    values = np.where(np.arange(SIZE) < 9, 1.0, 4.0)
    rest = np.random.default_rng(2).normal(size=SIZE)
    found = correction(lambda x: values * x, lambda x: x, rest, SIZE, 1e-12)
    np.testing.assert_allclose(found, rest / values, rtol=1e-10)
    assert not correction(lambda x: x, lambda x: x, np.zeros(SIZE), SIZE, 1e-6).any()


def test_a_number_that_is_nan_ends_it_too():
    """It once looked for ever for what is left of such a vector."""
    rest = np.ones(SIZE)
    for place in (0, 30):
        wrong = np.where(np.arange(SIZE) == place, np.nan, 2.0)
        assert np.isnan(correction(lambda x, wrong=wrong: wrong * x, lambda x: x, rest, SIZE, 1e-6)).all()
