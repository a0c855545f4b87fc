"""Whether λ̂ speaks of w0 at all: w0 may lie above the minimum, λ̂ may hang on the temperature, on the data, or on γ.
Long, since what is measured, its limits and what is said of it are read together.

λ̂ from how much nβ·ΔL varies stands beside that from its mean, with what γ has to do with both. Write X = nβ·ΔL and
G = (γ/2)‖w − w0‖². Scaling U = X + G by t near 1 gives d E[X]/dt = −Cov(X, X + G) (an exact identity of exponential families). Where
the loss is homogeneous about its minimum in what γ does not hold, E[X] at t is E[X]/t, so that Cov(X, X + G) = E[X] = λ whatever
the degree, and on a quadratic for any γ. What is taken off every loss, such as L_n(w0), drops out of the covariance and not out of
the mean. Without γ it is (nβ)²·Var(L_n) (SIVE, arXiv 2606.22389).

d E[X]/d log γ = −Cov(X, G) says how much of λ̂ is γ's.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from llc_core.diagnostics import causes, chances
from llc_core.diagnostics.convergence import standard_error
from llc_core.diagnostics.evidence import Evidence, kept_by_gamma
from llc_core.verdicts import POLISH, POLISHED, TEMPERATURES, Advice, Fault, Kind

FEWEST_LOOKS = 8
KNOWN = 0.5
"""A value that is known to no better than this share of itself is not told."""


class FromVariance(NamedTuple):
    """llc, se: λ̂ from the variance and its standard error.  gap, gap_se: λ̂ from the mean less that, where both share their chance.
    of_gamma, of_gamma_se: Cov(X, G), by which λ̂ falls where log γ rises by 1.  All in units of λ̂; nan: not known.
    unknown: why `llc` is not known, in words that can follow a colon; empty where it is."""

    llc: float = math.nan
    se: float = math.nan
    gap: float = math.nan
    gap_se: float = math.nan
    of_gamma: float = math.nan
    of_gamma_se: float = math.nan
    unknown: str = ""


TOO_SHORT = "the run is too short"
TOO_NOISY = "its error is more than half of it"
LOST = "too many chains diverged"
WEIGHTED = "the states weigh differently"
INTERACTING = "the chains act on one another"
OF_A_PRIOR = "the chains begin at draws of a prior"
OF_BATCHES = "so short a run sees the losses of minibatches alone"
UNSEEN = "nothing was seen of γ's part in it"
"""Why λ̂ from the variance is not known."""


class Looks(NamedTuple):
    """What was seen of some chains at the same moments, [looks, C].

    loss: X.  pull: 2G.  along: δ·∇X with gradients of all data, for which δ = w − w0; None: not known.
    """

    loss: np.ndarray
    pull: np.ndarray
    along: np.ndarray | None = None


def from_variance(trace: np.ndarray | None, looks: Looks, heat: float, heat_se: float = math.nan) -> FromVariance:
    """trace: X [T, C] after burn-in, of losses on all data; None where those of the steps hold the noise of minibatches, and the
    losses of `looks` then stand for it.

    heat: what the step's size and noise add to λ̂. On a quadratic they add twice that to the variance, which is taken off.
    heat_se: its error where it was measured; nan: half of what formulas expect.
    """
    of_gamma = _least(_with_gamma(looks))
    losses = looks.loss if trace is None else trace
    if losses.shape[0] < FEWEST_LOOKS or losses.shape[1] < 1 or not np.isfinite(losses).all():
        return FromVariance(of_gamma=of_gamma[0], of_gamma_se=of_gamma[1], unknown=TOO_SHORT)
    mean = losses.mean()
    square = (losses - mean) ** 2
    value, se = float(square.mean()), standard_error(square.mean(axis=0), square)
    between = standard_error(losses.mean(axis=0), losses)
    value += between**2 if math.isfinite(between) else 0.0  # the mean that is taken off follows the draws
    difference = losses - square
    gap, gap_se = mean - value, standard_error(difference.mean(axis=0), difference)
    if not math.isfinite(of_gamma[0]):
        return FromVariance(unknown=TOO_SHORT)
    heat_se = heat_se if math.isfinite(heat_se) else abs(heat) / 2
    llc, se = value + of_gamma[0] - 2 * heat, math.hypot(se, of_gamma[1], 2 * heat_se)
    gap, gap_se = float(gap) - of_gamma[0] + heat, math.hypot(gap_se, of_gamma[1], heat / 2)
    known = se < KNOWN * abs(llc)
    if not known:
        llc, se = math.nan, math.nan
    return FromVariance(llc, se, gap, gap_se, *of_gamma, unknown="" if known else TOO_NOISY)


def _with_gamma(looks: Looks) -> list[tuple[float, float]]:
    """Cov(X, G) in the ways there are: from both, and by Stein's identity from the loss alone, which flat directions do not blur.

    E[δ·∇X] = Cov(X, δ·∇U) (Stein 1972, with the field δ·(X − E[X])), and δ·∇U = δ·∇X + 2G.
    """
    loss, pull, along = looks
    if len(loss) < FEWEST_LOOKS or loss.shape[1] < 1 or not (np.isfinite(loss).all() and np.isfinite(pull).all()):
        return []
    centred = loss - loss.mean()
    ways = [centred * (pull - pull.mean()) / 2]
    if along is not None and np.isfinite(along).all():
        ways.append(along / 2 - centred * (along - along.mean()) / 2)
    return [(float(way.mean()), standard_error(way.mean(axis=0), way)) for way in ways]


def _least(ways: list[tuple[float, float]]) -> tuple[float, float]:
    """The one that is known best."""
    known = [way for way in ways if math.isfinite(way[1])]
    return min(known, key=lambda way: way[1], default=(math.nan, math.nan))


TOLERANCE = 0.05
"""What the minimum lies lower than w0 may be this share of λ there; mean and variance may differ by this share of λ̂."""
DOUBTFUL = 0.03
"""From this share on it leaves too little of the tolerance for all else, unless the exact λ says what all together is."""
COUNTS = 0.004
"""Below this share it is not named, whatever else takes from λ̂."""
ERRORS = 3
MOSTLY = 0.25
"""λ̂ is γ's where it would fall by more than this share of itself while log γ rises by 1. Where the loss alone holds the chains in
a direction, or γ alone, nothing falls; in between, s being the loss's share of the curvature, 1 − s of s/2 does."""
SMALLER = 10.0
"""γ is divided by so much."""
OF_DATA = 0.05
"""Other data of the same size may change λ̂ by this share of it."""
SEEN = 2
"""A variance over data sets below so many of its errors may be chance."""
LEAST_N_BETA = 10.0
"""At a lower nβ the prior around w0 is all that chains would see."""
LOWER_BY, LOWER_AT_LEAST = 2.0, 4.0
"""nβ is lowered by LOWER_BY times the factor that brings the share to OF_DATA, and by LOWER_AT_LEAST at least: a half left λ̂ 6% off."""


def above_the_minimum(e: Evidence) -> Fault | None:
    """w0 lies above the minimum by more than the tolerance.

    An exact answer to the mean's own question helps against that only where λ itself stands beside it, so that nobody takes one
    for the other. A loss that still rises is another matter: λ̂ is then too low for shares of it to mean anything.
    """
    rising = e.drift > 0 and (chances.drifting(e) or chances.perhaps_drifting(e)) is not None
    fault = None if rising else _above(e, TOLERANCE)
    return fault and replace(fault, doubt=e.truth_known)


def nearly_too_far_above(e: Evidence) -> Fault | None:
    """w0 lies above the minimum by most of the tolerance, or by what another cause leaves of it.

    What else is wrong then takes λ̂ out of it. An exact answer to the mean's own question knows of that only where λ stands beside.
    """
    taken = causes.taken(e)
    left = TOLERANCE - taken / (e.llc + taken) if e.llc + taken > 0 else TOLERANCE
    fault = _above(e, max(min(DOUBTFUL, left), COUNTS))
    return fault and replace(fault, doubt=e.truth_known)


def clearly_above(e: Evidence) -> Fault | None:
    """w0 lies above the minimum by enough to be mended beside another fault."""
    fault = _above(e, DOUBTFUL)
    short = f"w0 lies above the minimum: a lower loss nearby takes {e.above:.3g} off λ̂."
    return fault and replace(fault, reason=short)


def is_far_above(llc: float, above: float, share: float = TOLERANCE) -> bool:
    """Whether what the minimum lies lower than w0 is more than this share of λ̂ there."""
    return math.isfinite(above) and above > max(share * (llc + above), 0.0)


def lower(e: Evidence) -> str:
    """The words for how far w0 lies above the minimum, and what λ̂ is there, where that is a λ̂ and known.

    Above half the number of parameters it is none: the chains are about a place that is lower still, or have not come to rest.
    """
    said, there = f"a lower loss nearby takes {e.above:.3g} off λ̂", e.llc + e.above
    se, most = e.se if math.isfinite(e.se) else 0.0, (1 + TOLERANCE) * e.parameters / 2
    if most and there - SEEN * se > most:
        return f"{said}, and with it λ̂ would be above half the number of parameters, which no learning coefficient is"
    return f"{said}, and λ̂ there is about {there:.4g}" if there > 0 and se < KNOWN * there else said


def _above(e: Evidence, share: float) -> Fault | None:
    fits_noise = e.llc <= 0 and e.expected <= 0  # `stops.not_positive` says why, and by how much it is expected to
    if fits_noise or not is_far_above(e.llc, e.above, share):
        return None
    spread = f" (from the variance {_value(e)})" if math.isfinite(e.from_variance) else ""
    return _with_gamma_named(_of_w0(Kind.ABOVE_MINIMUM, e, lower=lower(e), spread=spread), e)


def _with_gamma_named(fault: Fault, e: Evidence) -> Fault:
    """The fault, and γ's share behind it where that is large: whoever mends the one still reads a number of the other."""
    also = mostly_of_gamma(e)
    if also is None:
        return fault
    remedy = Advice.put("{move} {also}", move=fault.remedy, also=also.remedy)
    return replace(fault, reason=f"{fault.reason} {also.reason}", remedy=remedy)


def not_looked_for(e: Evidence) -> Fault | None:
    """Nothing is known of w0, neither by a descent from it nor from the variance."""
    known = math.isfinite(e.gap_se) and e.gap_se <= TOLERANCE * abs(e.llc)
    if not e.unlooked or known:
        return None
    return Kind.UNLOOKED_YET.fault() if e.unfinished else _with_gamma_named(_of_w0(Kind.UNLOOKED, e), e)


def apart(e: Evidence) -> str:
    """What mean and variance say, where they differ by more than the tolerance and chance; else nothing."""
    if not (math.isfinite(e.gap_se) and abs(e.gap) > max(TOLERANCE * abs(e.llc), ERRORS * e.gap_se)):
        return ""
    return f"the mean of the losses says {e.llc:.4g}, their variance {e.llc - e.gap:.4g} ± {e.gap_se:.2g}"


def variance_differs(e: Evidence) -> Fault | None:
    """λ̂ from the mean and from the variance differ by more than the tolerance and chance."""
    both = apart(e)
    if not both:
        return None
    found = _of_w0(Kind.VARIANCE_ABOVE, e, both=both) if e.gap < 0 else Kind.VARIANCE_BELOW.fault(both=both)
    return _with_gamma_named(found, e)


def mostly_of_gamma(e: Evidence) -> Fault | None:
    """λ̂ would be much lower with a larger γ, and higher with a smaller one: it speaks of γ."""
    known = math.isfinite(e.of_gamma_se) and e.llc > 0
    if not (known and e.of_gamma > max(MOSTLY * e.llc, ERRORS * e.of_gamma_se)):
        return None
    falls = 1 - 0.5 ** (e.of_gamma / e.llc)  # with the power of γ that it has here
    smaller = float(f"{e.localization / SMALLER:.2g}")
    change = {"localization": smaller}
    many = kept_by_gamma(e.held, e.parameters)
    return Kind.MOSTLY_OF_GAMMA.fault(change, falls=falls, held=many and f" {many}", smaller=smaller)


def hangs_on_data(e: Evidence) -> Fault | None:
    """λ̂ would be another with other data of the same size: near a singular w0 their noise moves the place where the loss is low.

    The noise in nβ·L_n grows as nβ/√n, so that more data at the same nβ help, and so does a lower nβ.
    """
    share = e.data_error / e.llc
    if not (share > OF_DATA and e.data_variance > e.data_variance_se):
        return None
    if e.data_variance <= SEEN * e.data_variance_se:
        return Kind.MAYBE_HANGS_ON_DATA.fault(share=share)
    lower = float(f"{e.n_beta / max(LOWER_BY * share / OF_DATA, LOWER_AT_LEAST):.2g}")
    far = lower < LEAST_N_BETA
    words = "." if far else f", or a lower n_beta, such as {lower:g}, whose λ̂ is of a coarser scale."
    fault = Kind.HANGS_ON_DATA.fault({} if far else {"n_beta": lower}, share=share, lower=words)
    return _with_gamma_named(replace(fault, doubt=e.truth_known), e)


def _of_w0(kind: Kind, e: Evidence, **numbers: Any) -> Fault:
    """What helps where w0 is no minimum: to move it there, where that can be, and in any case a number that does not ask for it."""
    first = POLISHED if e.polished else Advice.put("{nowhere}, or", nowhere=e.without_minimum)
    if not e.movable:
        first = "Use more data, or"
    if e.can_polish:
        first = Advice.put("{polish}, or", polish=POLISH)
    move = Advice.put("{first} {then}", first=first, then=TEMPERATURES)
    return kind.fault({"polish": True} if e.can_polish else {}, move=move, **numbers)


def _value(e: Evidence) -> str:
    return f"{e.from_variance:.4g} ± {e.from_variance_se:.2g}"
