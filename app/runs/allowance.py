"""What one visitor's run may take of the server's memory: everybody shares it."""

from __future__ import annotations

import math
import os

from llc_core import Potential, RunConfig
from llc_core.engine.memory import memory_needed
from llc_core.potentials import Price

VISITOR_MEMORY = "LLC_LAB_VISITOR_MEMORY"
"""The megabytes that one run of a visitor may take, in the environment: its problem as many, and its chains as many."""
DEFAULT_MEGABYTES = 600.0
"""Room for 32 chains of the largest network that the page takes, and in float32 for a sweep of 12 × 4 chains of it."""


def allowance() -> float:
    """Megabytes that one run of a visitor may need; ValueError where the environment says nonsense."""
    text = os.environ.get(VISITOR_MEMORY, "")
    if not text:
        return DEFAULT_MEGABYTES
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not value > 0:
        raise ValueError(f"{VISITOR_MEMORY} is {text!r}; set it to a number of megabytes above 0, such as 600.")
    return value


def check_price(price: Price, remedy: str) -> None:
    """ValueError, one sentence, for a problem whose data and products take more than a visitor may have.

    It is said from the problem's description, before any of it is made. remedy: what makes such a problem smaller.
    """
    if price.peak > allowance() * 2**20:
        raise ValueError(
            f"This problem needs {price.peak / 2**20:,.0f} MB for its data and products, and this server gives each run "
            f"{allowance():,.0f} MB: {remedy}."
        )


def check_allowance(config: RunConfig, problem: Potential) -> None:
    """ValueError, one sentence, for a complete configuration whose chains take more than a visitor may have."""
    need, chains = memory_needed(config, problem)
    if need > allowance() * 2**20:
        raise ValueError(
            f"{chains:,} chains of {problem.dim:,} parameters need {need / 2**20:,.0f} MB, and this server gives each run "
            f"{allowance():,.0f} MB: use fewer chains{', float32' if config.dtype == 'float64' else ''} or a smaller network."
        )
