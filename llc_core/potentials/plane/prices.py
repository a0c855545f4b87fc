"""What a planar landscape takes in memory, from its description alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llc_core.potentials.plane.regression import planar_from
from llc_core.potentials.prices import Price

HELD, PEAK = 24, 104
"""Bytes of a sample and output: x and y together and y once more are kept; beside them single sets, and what coefficients are
made of."""


def planar_price(description: Mapping[str, Any]) -> Price:
    """Raises ValueError as `planar_from`. The landscape itself is a few numbers: samples are drawn where they are first used."""
    landscape = planar_from(description)
    sets, outputs = landscape.data_sets, landscape.model.outputs
    numbers, means = sets * landscape.n * outputs, 8 * sets * (2 * outputs + 1) ** 2
    return Price(landscape.dim, HELD * numbers + means, PEAK * numbers + means)
