"""What puts λ̂ off however long the chains are: the step's size, minibatch noise, the sampler's own distribution, rounding. Long, since which
of them is likely behind an error that an answer shows is told here too.

Causes add up with their signs: two of them may cancel, and two that are harmless alone may be too much together.
"""

from __future__ import annotations

import math
from dataclasses import replace

from llc_core.diagnostics.convergence import R_HAT_LIMIT
from llc_core.diagnostics.evidence import Cause, Evidence
from llc_core.diagnostics.remedies import FAST, HELD, LAW, MIXING, NOISE, STEP, STRAIGHT, Remedy, another_law, remedy
from llc_core.samplers.base import MetropolisSampler
from llc_core.verdicts import Fault, Kind

TOLERANCE = 0.05
"""All causes together, with their error, may be this share of the estimate."""
ERRORS = 1
"""So many errors of a bias count as part of it."""
FORMULA = 0.1
"""Of what a formula of first order expects, so much is its error"""
FORMULA_LEAST = 0.005
"""… and at least this share of the estimate."""
SEEN = 2
"""A measured bias below so many of its errors is not known well enough to be named."""
CONTRADICTS = 3
"""A measure that is so many errors from what is expected takes its place; a nearer one is averaged with it."""
NAMES = {STEP: "The step size", NOISE: "Minibatch noise", LAW: "The sampler's own bias"}


def systematic(e: Evidence) -> Fault | None:
    """All causes and their error against the tolerance; the sentence names the largest of those that point the same way.

    Rounding has no sign that is known: it is taken as the worse one. (Beyond 2% it is a stop of its own.) Where the distribution is not
    known nothing is said here: `unknown_law` comes behind all that asks for steps, since a measure needs chains that agree.
    """
    known = weighed(e)
    if known is None or _harmless(e) or _lost_in_its_error(e):
        return None
    total, unsigned = known[0], max(e.rounding, 0.0)
    found = causes(e)
    same_way = [cause for cause in found if cause.size * total >= 0] or [_of_the_law(e)]
    largest = max(same_way, key=lambda cause: abs(cause.size))
    together = ""
    if abs(abs(total) + unsigned - abs(largest.size)) > 0.005 * e.llc:
        sign = math.copysign(1, total)
        together = f", all causes together {(total + sign * unsigned) / e.llc:+.0%}"
    help = _quick(remedy(largest.kind, e.sampler, e.step_size, largest.size / e.llc), e)
    fault = Kind.SYSTEMATIC.fault(
        help.change,
        caveat=f"{e.caveat} " if e.caveat else "",
        name=largest.name,
        verb="is measured" if largest.measured else "alone is expected",
        adds=_adds(largest.size / e.llc),
        together=together,
        help=help.sentence,
    )
    return replace(fault, doubt=not largest.measured)


def unknown_law(e: Evidence) -> Fault | None:
    """A distribution that is not the target needs the measure of what that does."""
    if _harmless(e) or not (weighed(e) is None or _lost_in_its_error(e)):
        return None
    help, measured = _quick(remedy(LAW, e.sampler), e), measure(e)
    if measured is not None:
        words = f"{help.sentence[0].lower()}{help.sentence[1:]}"
        return Kind.ROUGH_LAW.fault(help.change, error=measured[1] / e.llc, help=words)
    if e.sampler is not None and not e.sampler.exact_law:
        help = _quick(another_law(e.sampler), e)
    return Kind.UNKNOWN_LAW.fault(help.change, help=help.sentence)


def _quick(help: Remedy, e: Evidence) -> Remedy:
    """Of the two samplers that a sentence names, the faster one where gradients are of all data."""
    return replace(help, change={"sampler": FAST}) if e.exact_losses and help.change == {"sampler": STRAIGHT} else help


def _harmless(e: Evidence) -> bool:
    """Whether all causes with their error leave λ̂ within the tolerance."""
    if answer_is_known(e) and _within(e, e.law_bias, e.law_rest_se):
        return True  # whatever the law: the measure says what λ̂ should be, and it is that
    known = weighed(e)
    return known is not None and _within(e, *known)


def _lost_in_its_error(e: Evidence) -> bool:
    """Whether what is known of a distribution that is not the target does not stand out of its error."""
    known = weighed(e)
    return known is not None and not as_expected(e) and abs(known[0]) < SEEN * known[1]


def _within(e: Evidence, bias: float, error: float) -> bool:
    """Whether λ̂ is within the tolerance of the answer, as high and as low as that may be.

    The tolerance is a share of the answer and not of λ̂: where λ̂ is too high, a share of it is more than the same of the answer.
    """
    most = ERRORS * error + max(e.rounding, 0.0)
    high, low = bias + most, most - bias
    return high <= TOLERANCE * (e.llc - high) and low <= TOLERANCE * (e.llc + low)


def causes(e: Evidence) -> list[Cause]:
    """Those with a sign: the measured bias where it counts for more than what is expected, else that."""
    if _weight(e) > 0.5:
        return [_of_the_law(e)]
    return [
        Cause(e.step_bias, STEP, NAMES[STEP]),
        Cause(e.noise_inflation, NOISE, NAMES[NOISE]),
    ]


def weighed(e: Evidence) -> tuple[float, float] | None:
    """The bias of all causes with a sign, and what the error of its measure does to it; None where nothing is known of a distribution
    that is not the target.

    What formulas expect and what was measured are averaged by their errors, so that a rough measure leaves what is expected, and
    a sharp one takes its place; where they contradict one another, the measure counts alone.
    """
    measured, expected, weight = measure(e), expectation(e), _weight(e)
    if measured is None:
        return None if expected is None else (expected[0], 0.0)
    rest = 0.0 if expected is None else (1 - weight) * expected[0]
    return weight * measured[0] + rest, weight * measured[1]


def taken(e: Evidence) -> float:
    """By how much these causes make λ̂ too low, 0 where they do not: it adds to what other kinds of fault may take.

    Of a measure that is outweighed by what formulas expect, as much as is beyond its error counts all the same.
    """
    known, measured = weighed(e), measure(e)
    low = -known[0] if known else 0.0
    return max(low, -measured[0] - ERRORS * measured[1] if measured else 0.0, 0.0)


def _weight(e: Evidence) -> float:
    """Of the measured bias, beside what is expected."""
    measured, expected = measure(e), expectation(e)
    if measured is None:
        return 0.0
    if (
        _is_off(e)
        or expected is None
        or abs(measured[0] - expected[0]) > CONTRADICTS * math.hypot(measured[1], expected[1])
    ):
        return 1.0
    return expected[1] ** 2 / (expected[1] ** 2 + measured[1] ** 2)


def measure(e: Evidence) -> tuple[float, float] | None:
    """The measured bias and its error; of chains that disagree a measure says nothing."""
    if not (math.isfinite(e.law_bias) and math.isfinite(e.law_bias_se)) or e.r_hat > R_HAT_LIMIT:
        return None
    # A few chains may happen to agree on it: it is not better known than what λ̂ should be by it.
    return e.law_bias, max(e.law_bias_se, e.law_rest_se) if math.isfinite(e.law_rest_se) else e.law_bias_se


def expectation(e: Evidence) -> tuple[float, float] | None:
    """What formulas of first order expect, and their error; None for a distribution that is not the target, whatever the step."""
    if not as_expected(e):
        return None
    total = e.step_bias + e.noise_inflation
    return total, FORMULA * abs(total) + FORMULA_LEAST * abs(e.llc)


def as_expected(e: Evidence) -> bool:
    """Whether the step and the noise are all that can put λ̂ off."""
    return e.exact_law and not e.caveat


def answer_is_known(e: Evidence) -> bool:
    """Whether the measure says what λ̂ should be: λ̂ − law_bias, within law_rest_se."""
    return measure(e) is not None and math.isfinite(e.law_rest_se)


def _is_off(e: Evidence) -> bool:
    """Whether λ̂ lies beyond chance from what the measure says it should be, and by more than the tolerance.

    The bias may be known roughly and the answer well: what chance does to both is not in λ̂ − law_bias. (SGNHT on a normal law: 6.50 ±
    .19 with a bias of .70 ± .26, and an answer known to seven digits.) What a formula expects then has no say.
    """
    if not answer_is_known(e):
        return False
    answer = e.llc - e.law_bias
    return abs(e.law_bias) - SEEN * e.law_rest_se > max(TOLERANCE * answer, CONTRADICTS * e.se)


def may_be_noise(e: Evidence) -> bool:
    """Whether a bias that was measured, and that no formula expects, is no larger than what chance does to λ̂ itself: the next run then
    measures another, and a smaller step only makes that one noisier."""
    measured, expected = measure(e), expectation(e)
    if measured is None or expected is None or not abs(measured[0]) < CONTRADICTS * e.se:
        return False
    return _within(e, *expected)


def law_is_known(e: Evidence) -> bool:
    """Whether the measure says something: the bias is known to within the tolerance, or stands out of its error."""
    measured = measure(e)
    return measured is not None and (ERRORS * measured[1] < TOLERANCE * e.llc or abs(measured[0]) > SEEN * measured[1])


def _of_the_law(e: Evidence) -> Cause:
    kind = cause_of_law(e)
    return Cause(e.law_bias, kind, NAMES[kind if _expected(e) else LAW], True)


def cause_of_law(e: Evidence) -> str:
    """What was measured of a sampler's distribution, as what is expected to explain at least half of it; of a distribution that is the target, the
    larger of what is expected."""
    if e.exact_law or _expected(e):
        return NOISE if e.noise_inflation > e.step_bias else STEP
    return LAW


def _expected(e: Evidence) -> bool:
    """Whether what is expected to be in a measured bias explains half of it."""
    return e.law_bias > 0 and max(e.noise_inflation, e.step_bias) > e.law_bias / 2


def _adds(share: float) -> str:
    """share: of the estimate, not of what it should be: 40% of an estimate is an error of +67%."""
    return f"make up about {share:.0%} of" if share > 0 else f"subtract about {-share:.0%} from"


NEAR_LIMIT = 0.5
"""From this share of the stability limit on, what is expected of the step to first order is too little."""


def cause_of(e: Evidence, off: float, of_a_formula: bool = False) -> str:
    """The cause that what is known of a run makes likely, where λ̂ is `off` (λ̂ / truth − 1) from what it should be.

    It must explain at least half of the error. of_a_formula: whether the truth is one for large n, which may itself be off.
    """
    wanted = abs(off) / (1 + off) / 2 * e.llc if off > -1 else math.inf
    known = law_is_known(e)
    if known and e.law_bias * off > 0 and abs(e.law_bias) >= wanted:
        return cause_of_law(e)
    if not (known or e.exact_law):
        return LAW
    if off > 0 and not known and _has_step(e):
        if max(e.noise_inflation, e.step_bias) >= wanted:
            return NOISE if e.noise_inflation > e.step_bias else STEP
        if not of_a_formula or e.step_size > NEAR_LIMIT * e.stable_step:
            return STEP
    return HELD if of_a_formula else MIXING


def is_unbiased(e: Evidence) -> bool:
    """Whether the sampler is exact at any step: a test accepts or refuses it, or its draws are those of the target."""
    exact = isinstance(e.sampler, MetropolisSampler) or (e.sampler is not None and e.sampler.needs_conditionals)
    return exact or math.isfinite(e.acceptance)


def said_of_the_law(e: Evidence) -> str:
    """What a trusted run says of its sampler's bias, with its error; empty where nothing is known or to be said.

    A measure beyond the tolerance that what is expected outweighs is chance, and is said to be; and so is all that is measured
    of a sampler that is exact.
    """
    measured, expected = measure(e), expectation(e)
    if measured is None or is_unbiased(e) or not law_is_known(e):
        return ""
    seen = f"{measured[0] / e.llc:+.1%} ± {measured[1] / e.llc:.1%}"
    if expected is not None and _weight(e) <= 0.5 and abs(measured[0]) > TOLERANCE * e.llc:
        return f"the sampler itself is expected to add {_size(expected[0] / e.llc)}, and {seen} was measured, which may be chance"
    return f"the sampler itself adds {seen}"


def _size(share: float) -> str:
    return f"{share:+.1%}" if abs(share) >= 0.0005 else "nothing"


def _has_step(e: Evidence) -> bool:
    """Whether a step size can be what is wrong: no test accepts or refuses its steps, and there is one."""
    return not is_unbiased(e)


def remedy_of(e: Evidence, cause: str, off: float) -> Remedy:
    """What helps against this cause of an error `off` (λ̂ / truth − 1)."""
    return remedy(cause, e.sampler, e.step_size, off / (1 + off) if off > -1 else math.nan)
