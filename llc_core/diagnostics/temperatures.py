"""Whether λ̂ from several temperatures can be trusted: what speaks of chains is asked, and nothing that speaks of w0."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from llc_core.diagnostics import causes, chances, minimum, stops
from llc_core.diagnostics.evidence import Evidence
from llc_core.verdicts import Fault, Kind, Verdict

BENT = 0.05
"""From the lowest temperature to the highest the slope may change by this share of it."""
ERRORS = 3
"""A change below so many of its errors may be chance."""

Question = Callable[[Evidence], Fault | None]


def leverage(place: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What each of K means counts in a line through them by least squares: in its slope, in its value at 0, and in a bend, each [K].

    place: [K], where they lie.  weight: [K].
    The bend is by how much the slope of the parabola through them changes from the lowest place to the highest: 0 of two means.
    """
    apart = np.sqrt(weight)
    slope, at_zero = np.linalg.lstsq(
        apart[:, None] * np.stack([place, np.ones_like(place)], 1), np.diag(apart), rcond=None
    )[0]
    bend = np.zeros_like(place)
    if len(place) > 2:
        powers = apart[:, None] * np.stack([place**2, place, np.ones_like(place)], 1)
        bend = 2 * np.ptp(place) * np.linalg.lstsq(powers, np.diag(apart), rcond=None)[0][0]
    return slope, at_zero, bend


def not_rising(e: Evidence) -> Fault | None:
    if e.llc > 0:
        return None
    return (Kind.NAN if math.isnan(e.llc) else Kind.SLOPE_UNSEEN if e.llc > -2 * e.se else Kind.SLOPE_FALLS).fault()


def wide_error(e: Evidence) -> Fault | None:
    return Kind.WIDE_SLOPE.fault(share=e.se / e.llc) if chances.wide_error(e) else None


def noisy(e: Evidence) -> Fault | None:
    """As `chances.noisy`."""
    return wide_error(e) if causes.may_be_noise(e) else None


OF_A_LEVEL: tuple[Question, ...] = (
    stops.no_estimate,
    stops.too_few_steps,
    stops.wrong_settings,
    stops.uneven_weights,
    stops.refusals,
    stops.unstable_step,
    stops.lost_chains,
    stops.standing_still,
    stops.rounding,
    stops.thrown_out,
    chances.drifting,
    chances.spread_of_chains,
    chances.few_draws,
)
"""Asked of the chains at each temperature."""
OF_THE_SLOPE: tuple[Question, ...] = (
    not_rising,
    chances.drifting,
    chances.out_of_range,
    noisy,
    causes.systematic,
    chances.perhaps_drifting,
    wide_error,
    chances.disagreeing,
    chances.spread_of_chains,
    chances.few_draws,
    chances.unseen_drift,
    causes.unknown_law,
    chances.unspread,
    minimum.hangs_on_data,
    chances.refuted,
)
"""Asked of what the slope is made of. Here and above the most serious comes first."""


def judge_slope(
    levels: Sequence[tuple[float, Evidence]],
    slope: Evidence,
    change: float = math.nan,
    change_se: float = math.nan,
    over: float = math.nan,
    over_se: float = math.nan,
) -> Verdict:
    """The first fault, and what to change; else a sentence that says what was checked.

    levels: temperature and evidence of each, its λ̂ measured from the line's own minimum.  slope: evidence of the slope, where every
    level counts as it does in the line.  change, change_se: as in `FromTemperatures`.  over, over_se: how far above L(w0) the line
    meets temperature 0, in units of λ̂. The loss at the minimum is no higher than that.
    """
    known = chances.known_right(slope)
    asked = [(f"At temperature {t:g}: ", question, e) for question in OF_A_LEVEL for t, e in levels]
    asked += [("", question, slope) for question in OF_THE_SLOPE]
    for where, question, evidence in asked:
        fault = question(evidence)
        if fault is not None and not (fault.doubt and known):
            return Verdict.refused(fault, where, chances.contradiction(slope) if fault.doubt else "")
    if over > max(BENT * slope.llc, ERRORS * over_se):
        return Verdict.refused(Kind.LINE_TOO_HIGH.fault(over=over / slope.llc, error=over_se / slope.llc))
    if math.isnan(change):
        change, change_se = _bend_by_variance(levels, slope)
    if abs(change) > max(BENT * slope.llc, ERRORS * change_se):
        return Verdict.refused(Kind.BENT.fault(bend=change / slope.llc, error=change_se / slope.llc))
    return Verdict.settled(Kind.TEMPERATURES_SETTLED, _checked([e for _, e in levels], slope, change, change_se))


def _bend_by_variance(levels: Sequence[tuple[float, Evidence]], slope: Evidence) -> tuple[float, float]:
    """Of two levels the slope itself shows no bend. The variance at a level is the slope there: what of it and of the slope differs
    most, with its error."""
    known = [e for _, e in sorted(levels, key=lambda level: level[0]) if math.isfinite(e.from_variance)]
    apart = [(e.from_variance - slope.llc, math.hypot(e.from_variance_se, slope.se)) for e in known]
    if len(known) == 2:
        cold, hot = known
        apart.append((hot.from_variance - cold.from_variance, math.hypot(hot.from_variance_se, cold.from_variance_se)))
    # A mean above the variance bends too; one below it may be of a w0 that is no minimum.
    apart += [(-e.gap, e.gap_se) for _, e in levels if e.gap > 0 and math.isfinite(e.gap_se)]
    apart = [each for each in apart if each[1] > 0]  # an error that is not known says nothing
    return max(apart, key=lambda each: abs(each[0]) / each[1], default=(math.nan, math.nan))


def hangs_on_spread(levels: Sequence[tuple[float, Evidence]], slope: Evidence) -> bool:
    """Whether directions that were not spread along are all that speaks against the slope."""
    return chances.unspread(slope) is not None and bool(judge_slope(levels, replace(slope, unspread=math.nan)))


def _checked(levels: Sequence[Evidence], slope: Evidence, change: float, change_se: float) -> list[str]:
    checked = ["no chain diverged", "no drift"]
    r_hat, ess = max(e.r_hat for e in levels), min(e.ess for e in levels)
    if math.isfinite(r_hat):
        checked.append(f"R-hat at most {r_hat:.3f}")
    if math.isfinite(ess):
        checked.append(f"ESS at least {ess:.0f}")
    if slope.idle:
        checked.append(f"the loss does not depend on {slope.idle:,} of {slope.parameters:,} directions")
    if math.isfinite(change):
        checked.append(f"the slope changes by {change / slope.llc:+.0%} ± {change_se / slope.llc:.0%}")
    return checked
