"""The range and the scale of a field's slider."""

from __future__ import annotations

import math

from llc_core.fields import Hyper

DECADES = 3
"""Powers of ten that a logarithmic slider covers on either side of its reference value. Typing reaches the full range."""


def is_logarithmic(about: Hyper) -> bool:
    """Whether the field says so, or its range is too wide for a linear slider to be set exactly."""
    return about.log or (about.low >= 0 and about.high / max(about.low, 1.0) > 1e4)


def slider_range(about: Hyper, reference: float) -> tuple[float, float]:
    """End points of the slider, in the units it moves in (decimal logarithms where logarithmic)."""
    if is_logarithmic(about):
        reference = reference if reference > 0 else 1.0
        low = max(about.low, reference * 10**-DECADES) if about.low > 0 else reference * 10**-DECADES
        high = min(about.high, reference * 10**DECADES)
        return math.log10(low), math.log10(max(high, low * 10))
    low = about.low if math.isfinite(about.low) else reference - max(1.0, abs(reference))
    high = about.high if math.isfinite(about.high) else reference + max(1.0, abs(reference))
    return low, high
