"""What puts λ̂ off however long the chains are: the step's size, minibatch noise, the sampler's own law, rounding.

Causes add up with their signs: two of them may cancel, and two that are harmless alone may be too much together.
"""

from __future__ import annotations

import math

from llc_core.diagnostics.convergence import R_HAT_LIMIT
from llc_core.diagnostics.evidence import Cause, Evidence, Fault
from llc_core.diagnostics.remedies import LAW, NOISE, STEP, remedy

TOLERANCE = 0.05
"""All causes together may be this share of the estimate."""
LAW_KNOWN = 0.02
"""Where the error of the measured bias is below this share of the estimate, the bias takes the place of what is expected."""
LAW_SEEN = 3
"""A bias that is known less well counts if it is beyond this many of its errors."""
NAMES = {STEP: "The step size", NOISE: "Minibatch noise", LAW: "The sampler's law"}


def systematic(e: Evidence) -> Fault | None:
    """All causes together against the tolerance; the sentence names the largest of those that point the same way.

    Rounding has no sign that is known: it is taken as the worse one. (Beyond 2% it is a stop of its own.)
    """
    unknown = _unknown_law(e)
    if unknown:
        return unknown
    found = causes(e)
    total, unsigned = sum(cause.size for cause in found), max(e.rounding, 0.0)
    # A law that is the target needs proof that it is missed; one that is not, only that it may be.
    doubt = e.law_bias_se if e.exact_law and law_is_known(e) else 0.0
    if abs(total) - doubt + unsigned <= TOLERANCE * e.llc:
        return None
    largest = max((cause for cause in found if cause.size * total >= 0), key=lambda cause: abs(cause.size))
    verb = "is measured" if largest.measured else "alone is expected"
    reason = f"{largest.name} {verb} to {_adds(largest.size / e.llc)} this estimate"
    if abs(abs(total) + unsigned - abs(largest.size)) > 0.005 * e.llc:
        sign = math.copysign(1, total)
        reason += f", all causes together {(total + sign * unsigned) / e.llc:+.0%}"
    help = remedy(largest.kind, e.sampler, e.step_size, largest.size / e.llc)
    return Fault(f"{e.caveat} {reason}.".strip(), help.sentence, change=help.change)


def causes(e: Evidence) -> list[Cause]:
    """Those with a sign: the measured bias of the law where it is known, else what is expected to be in it."""
    if law_is_known(e):
        return [_of_the_law(e)]
    return [
        Cause(e.step_bias, STEP, NAMES[STEP]),
        Cause(e.noise_inflation, NOISE, NAMES[NOISE]),
    ]


def law_is_known(e: Evidence) -> bool:
    """Whether the bias of the law was measured well, or stands out of its error; of chains that disagree it says nothing."""
    if not (math.isfinite(e.law_bias) and math.isfinite(e.law_bias_se)) or e.r_hat > R_HAT_LIMIT:
        return False
    return e.law_bias_se < LAW_KNOWN * e.llc or abs(e.law_bias) > LAW_SEEN * e.law_bias_se


def _unknown_law(e: Evidence) -> Fault | None:
    """A sampler whose law is not the target needs the measure of what that does."""
    if e.exact_law or law_is_known(e):
        return None
    help = remedy(LAW, e.sampler)
    if math.isfinite(e.law_bias) and math.isfinite(e.law_bias_se):
        reason = f"What this sampler's law adds is known only to ± {e.law_bias_se / e.llc:.0%} of the estimate."
        return Fault(reason, f"Take more steps. Or: {help.sentence[0].lower()}{help.sentence[1:]}", True, help.change)
    return Fault("What this sampler's law adds is not known here.", help.sentence, change=help.change)


def _of_the_law(e: Evidence) -> Cause:
    kind = cause_of_law(e)
    return Cause(e.law_bias, kind, NAMES[kind if _expected(e) else LAW], True)


def cause_of_law(e: Evidence) -> str:
    """What was measured of a sampler's law, as what is expected to explain at least half of it; of a law that is the target, the
    larger of what is expected."""
    if e.exact_law or _expected(e):
        return NOISE if e.noise_inflation > e.step_bias else STEP
    return LAW


def _expected(e: Evidence) -> bool:
    """Whether what is expected to be in a measured bias explains half of it."""
    return e.law_bias > 0 and max(e.noise_inflation, e.step_bias) > e.law_bias / 2


def _adds(share: float) -> str:
    return f"add about {share:.0%} to" if share > 0 else f"take about {-share:.0%} from"
