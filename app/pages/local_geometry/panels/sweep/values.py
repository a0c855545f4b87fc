"""Which values a sweep runs: around the present one, up to beyond the stability limit, or between two ends."""

from __future__ import annotations

import math

import numpy as np

from app.controls.labels import field_label
from app.controls.scales import is_logarithmic
from llc_core.fields import Hyper, check_hyper
from llc_core.samplers.base import Sampler
from llc_core.samplers.registry import numeric_fields

COUNT = 12
ABOVE, BEYOND = 5, 1.5
"""Number of values above the engine's step size, and the last of them as a multiple of the stability limit."""
LOWEST = 0.01
"""Smallest step size of a sweep as a share of the engine's, where the stability limit is far away."""
DECADES = 1.5
"""How far a sweep of another logarithmic field reaches to either side of its value."""
UNKNOWN_RATIO = 3.0
"""Largest step size as a multiple of the engine's, where the stability limit is not known."""
Values = tuple[float, ...]
Ends = tuple[float | None, float | None]
COMMON = {
    "n_beta": Hyper(1.0, 1e12, log=True, help="Inverse temperature times n."),
    "localization": Hyper(0.0, 1e9, log=True, symbol=r"\gamma", help="Strength of the spring to w0."),
}


def sweepable(sampler: Sampler | type[Sampler]) -> dict[str, str]:
    """field → label for people, of every number that may differ between the chains of one run."""
    labels = {name: field_label(name, about) for name, about in numeric_fields(sampler).items()}
    return {**labels, "n_beta": "nβ", "localization": "Localization γ"}


def step_sizes(about: Hyper, default: float, limit: float, count: int = COUNT) -> Values:
    """Evenly in the logarithm, the engine's own among them, up to beyond the stability limit."""
    highest = BEYOND * limit if math.isfinite(limit) and limit > default else UNKNOWN_RATIO * default
    above = (highest / default) ** (1 / ABOVE)
    # Where the stability limit is far above the engine's step size, a range as wide below it would show nothing new.
    below = min(above, LOWEST ** (-1 / (count - 1 - ABOVE)))
    values = [default * (above if k > 0 else below) ** k for k in range(ABOVE - count + 1, ABOVE + 1)]
    return _within(about, values)


def values_around(about: Hyper, current: float | None, count: int = COUNT) -> Values:
    """Values of a field around its present one, or over its whole range where that is short; the present one is there."""
    if not is_logarithmic(about):
        low = about.low if math.isfinite(about.low) else (current or 0.0) - 1.0
        high = about.high if math.isfinite(about.high) else (current or 0.0) + 1.0
        inner = np.linspace(low, high, count + 2)[1:-1]
        if current is not None and low <= current <= high:
            inner[np.argmin(np.abs(inner - current))] = current
        return _within(about, inner.tolist())
    centre = current if current else 1.0
    low = max(centre * 10**-DECADES, about.low if about.low > 0 else 0.0)
    high = min(centre * 10**DECADES, about.high)
    return _within(about, np.geomspace(low, high, count).tolist())


def evenly_in_logarithm(field: str, about: Hyper) -> bool:
    return field == "step_size" or is_logarithmic(about)


def about_field(sampler: Sampler, field: str) -> Hyper:
    """What is known of a key of `sweepable`."""
    return {**numeric_fields(sampler), **COMMON}[field]


def check_ends(field: str, about: Hyper, ends: Ends) -> Ends:
    """The ends, if the field can be swept between them; ValueError with one sentence if not."""
    for name, value in zip(("from", "to"), ends, strict=True):
        if value is None:
            continue
        check_hyper("sweep", name, value, about)
        if evenly_in_logarithm(field, about) and value <= 0:
            raise ValueError(
                f"sweep.{name} is {value:g}; {field} is swept in equal factors, so write a number above 0."
            )
    low, high = ends
    if low is not None and high is not None and low >= high:
        raise ValueError(f"sweep.from is {low:g} and sweep.to is {high:g}; the first must be the smaller.")
    return ends


def values_between(field: str, about: Hyper, automatic: Values, ends: Ends, count: int = COUNT) -> Values:
    """`automatic` values, or `count` evenly between ends of which at least one is given; whole where the field counts."""
    if ends != (None, None):
        low = automatic[0] if ends[0] is None else ends[0]
        high = automatic[-1] if ends[1] is None else ends[1]
        if low >= high:
            raise ValueError(
                f"A sweep from {low:.3g} to {high:.3g} has no values; one of these ends is automatic, so write the other too."
            )
        between = np.geomspace if evenly_in_logarithm(field, about) else np.linspace
        automatic = _within(about, between(low, high, count).tolist())
    if field.endswith("_steps"):  # a count
        return tuple(dict.fromkeys(float(round(value)) for value in automatic))
    return automatic


def _within(about: Hyper, values: list[float]) -> Values:
    """Short numbers that the field takes."""
    kept = []
    for value in values:
        short = float(f"{value:.3g}")
        try:
            check_hyper("sweep", "value", short, about)
        except ValueError:
            continue
        kept.append(short)
    return tuple(dict.fromkeys(kept))
