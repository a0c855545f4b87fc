"""Principal components of a path are those of its covariance, and those of noise are known."""

from __future__ import annotations

import numpy as np
import pytest

from llc_core.studies.paths import expected_noise, noise_path, principal_path


def test_components_are_those_of_the_covariance():
    rows = np.random.default_rng(1).standard_normal((40, 6)) * [5, 3, 1, 1, 1, 0.1]
    found = principal_path(rows, 2)
    values = np.linalg.eigvalsh(np.cov(rows.T, bias=True))[::-1]
    assert found.shares == pytest.approx(values[:2] / values.sum())
    assert found.coordinates.var(axis=0) == pytest.approx(values[:2])
    assert found.coordinates[0] @ found.coordinates[1] != 0
    assert abs(found.coordinates[:, 0] @ found.coordinates[:, 1]) < 1e-9


def test_a_straight_line_has_one_component():
    found = principal_path(np.outer(np.arange(5.0), [1.0, -2.0]))
    assert found.shares[0] == pytest.approx(1)
    assert found.coordinates[:, 0] == pytest.approx(np.sqrt(5) * np.arange(-2.0, 3.0))


@pytest.mark.parametrize("times", [3, 50, 400])
def test_of_noise_they_are_cosines_with_known_shares(times):
    """In 4,000 dimensions a share is off by about the root of two in 4,000; a component turns by as little."""
    dimensions = 4000
    found = principal_path(noise_path(times, dimensions, seed=3), 2)
    exact = expected_noise(times, 2)
    assert found.shares == pytest.approx(exact.shares, rel=6 * (2 / dimensions) ** 0.5)
    for one, other in zip(found.coordinates.T, exact.coordinates.T, strict=True):
        assert one @ other / np.linalg.norm(one) / np.linalg.norm(other) > 0.998


def test_in_the_limit_shares_fall_as_the_square_of_their_order():
    assert expected_noise(10_000).shares == pytest.approx(6 / np.pi**2 / np.arange(1, 4) ** 2, rel=1e-3)


def test_steps_that_do_not_add_up_are_no_random_walk():
    """Planted: independent rows in place of a walk have no such components."""
    rows = np.diff(noise_path(51, 4000, seed=3), axis=0)
    assert principal_path(rows, 1).shares[0] < 0.1 < expected_noise(50, 1).shares[0]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (np.zeros((2, 3)), "at least three times"),
        (np.full((4, 3), np.nan), "not finite"),
        (np.ones((4, 3)), "there is no path"),
    ],
)
def test_what_is_no_path_is_refused(rows, words):
    with pytest.raises(ValueError, match=words):
        principal_path(rows)


def test_three_times_have_two_components():
    path = principal_path(np.random.default_rng(0).standard_normal((3, 50)))
    assert path.coordinates.shape == expected_noise(3).coordinates.shape == (3, 2)
