"""Bands of two widths are held to overlap and to be about as wide, and not to be equal."""

from __future__ import annotations

import numpy as np
import pytest

from llc_core.studies.papers.function_space.bands import alike_bands

CHAINS, INPUTS = 500, 5
BAND = 2 * 1.2816
"""Width of the middle 80% of a standard normal."""


def functions(middle: float, sd: float, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(middle, sd, (CHAINS, INPUTS))


@pytest.mark.parametrize(
    "middle, sd, holds",
    [
        (1.0, 1.2, [True, True]),
        (BAND + 0.6, 1.0, [False, True]),
        (0.5, 2.0, [True, False]),
        (0.0, 1.5, [True, None]),
    ],
)
def test_bands_are_alike_where_they_overlap_and_are_about_as_wide(middle, sd, holds):
    claims = alike_bands(("H = 20", "H = 80"), functions(0.0, 1.0, 0), functions(middle, sd, 1))
    assert [claim.holds for claim in claims] == holds


def test_the_edge_of_one_input_decides():
    other = functions(0.0, 1.0, 1)
    other[:, 3] += BAND + 0.6
    assert alike_bands(("", ""), functions(0.0, 1.0, 0), other)[0].holds is False
