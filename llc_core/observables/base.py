"""What observables share: means over chains with their errors."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Mean:
    """A value, its standard error over independent chains (or data sets), and the parts it is the mean of."""

    value: float = math.nan
    se: float = math.nan
    parts: np.ndarray | None = None


def _over(parts: np.ndarray) -> Mean:
    good = parts[np.isfinite(parts)]
    if len(good) == 0:
        return Mean(parts=parts)
    se = float(np.std(good, ddof=1) / math.sqrt(len(good))) if len(good) > 1 else math.nan
    return Mean(float(good.mean()), se, parts)
