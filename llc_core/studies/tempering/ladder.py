"""Where the levels of a ladder lie: at equal rates of rejected swaps between neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from llc_core.fields import number, short, whole

MOST = 200
FEWEST = 6
REJECTED = 0.35
"""Share of rejected swaps at which the number of levels aims."""


def given_levels(ladder: Any) -> np.ndarray | int | None:
    """What the user asked for: levels [K] that begin with 0, their number, or None. ValueError says what does not fit."""
    if ladder is None:
        return None
    if isinstance(ladder, int) and not isinstance(ladder, bool):
        return whole("ladder", ladder, FEWEST, MOST)
    if isinstance(ladder, str) or not isinstance(ladder, Sequence | np.ndarray):
        raise ValueError(f"ladder is {short(ladder)}; give a number of levels, or a rising list of n_beta.")
    values = [number("ladder", value) for value in ladder]
    values = values if values and values[0] == 0 else [0.0, *values]
    if not 3 <= len(values) <= MOST or min(np.diff(values)) <= 0:
        raise ValueError(f"ladder is {short(ladder)}; give 2 to {MOST - 1} values of n_beta above 0 that rise.")
    return np.array(values)


def geometric(first: float, last: float, levels: int) -> np.ndarray:
    """0, then `levels` − 1 values from `first` to `last`."""
    return np.concatenate([[0.0], np.geomspace(first, last, levels - 1)])


def equal_rejection(n_beta: np.ndarray, rejected: np.ndarray, levels: int | None) -> np.ndarray:
    """Levels with the same end points between which the barrier Λ, the sum of the rates of rejection, grows evenly.

    n_beta: [K].  rejected: [K − 1] rates.  levels: how many; None: as many as bring the rate near REJECTED.
    Λ is interpolated in log(1 + nβ/nβ_1). Source: Syed et al. 2022, algorithm 2.
    """
    rate = np.maximum(rejected, 1e-3)
    barrier = np.concatenate([[0.0], np.cumsum(rate)])
    if levels is None:
        levels = int(np.clip(np.ceil(barrier[-1] / REJECTED) + 1, FEWEST, MOST))
    from scipy.interpolate import PchipInterpolator

    place = np.log1p(n_beta / n_beta[1])
    spread = PchipInterpolator(barrier, place)(np.linspace(0, barrier[-1], levels))
    found = n_beta[1] * np.expm1(spread)
    found[0], found[-1] = 0.0, n_beta[-1]
    return found
