"""What a Bayesian network takes in memory, from its description alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llc_core.potentials.bayesian.data import Data
from llc_core.potentials.bayesian.network import checked_widths
from llc_core.potentials.bayesian.passes import Layout
from llc_core.potentials.prices import Price

COPIES = 8
"""Arrays of the parameters' size that one chain's evaluation holds, with the prior's variances beside them."""


def bayesian_price(values: Mapping[str, Any]) -> Price:
    """Raises ValueError where widths or data cannot be."""
    widths = checked_widths(values.get("widths", (1, 20, 20, 1)))
    data = Data.of(values.get("data", {"name": "wave"}))
    parameters = Layout(widths).dim
    held = 8 * (2 * data.x.size + 4 * len(data.y) + parameters)
    return Price(parameters, held, held + 8 * (COPIES * parameters + 4 * len(data.y) * (sum(widths) + 1)))
