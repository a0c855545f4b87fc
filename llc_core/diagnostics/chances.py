"""What longer chains mend: a loss or a distance that still drifts, chains that differ, errors too large to tell; and whether the chains
have spread along flat directions as far as γ lets them: where they have not, λ̂ is that of a smaller place.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from llc_core.diagnostics.causes import cause_of, may_be_noise, remedy_of, taken
from llc_core.diagnostics.convergence import DRIFT_SHARE, ESS_LIMIT, R_HAT_LIMIT
from llc_core.diagnostics.evidence import Evidence
from llc_core.diagnostics.remedies import FAST, MIXING, remedy
from llc_core.results import AGREES, agrees
from llc_core.samplers.registry import samplers
from llc_core.verdicts import Fault, Kind

SE_SHARE = 0.05
DRIFT_UNSEEN = 0.2
"""A drift of this share of the estimate must be one that would be seen: 2 errors of the drift are less. What chains that approach
their level exponentially have left in their mean is half the drift, once the run is long against the approach: 10%, as 2 errors of
SE_SHARE are. What chance does to a drift that is not seen does not count again: it is in the estimate's own error, which is half
of the drift's."""
DRIFT_LIKELY = 0.15
"""The same of a drift beyond 2 of its errors. As one beyond 4 is a fault of its own, what passes is below 10%, and the mean is off
by 5%."""
OFFSET_SHARE, OFFSET_CHANCE = 0.03, 1e-3
"""Chains disagree if they have more of their own than this share of the estimate, with less than this chance."""
BEYOND = 4
"""No learning coefficient is above half the number of parameters (Watanabe 2009, theorem 7.2, for losses that are analytic at
a minimum). If an estimate is this many times above it, its chains are far from w0: they were thrown out, or began there."""
NEAR_LIMIT = 0.5
"""From this share of the stability limit on, the step size may be the reason that chains are thrown out."""
AT_LIMIT = 0.9
"""From this share of the stability limit on, a rising loss is put down to the step size: chains that were carried to steeper
places had steps at 97 and 98%. Below it, a rising loss mostly means that the run is too short."""


def drifting(e: Evidence) -> Fault | None:
    """A drift that stands out of its error."""
    if not (math.isfinite(e.drift_se) and abs(e.drift) > max(DRIFT_SHARE * abs(e.llc), 4 * e.drift_se)):
        return None
    if e.drift > 0 and math.isnan(e.acceptance) and e.step_size > AT_LIMIT * e.stable_step:
        of_limit = e.step_size / e.stable_step
        return Kind.DRIFT_AT_LIMIT.fault(**_drift(e), of_limit=of_limit, step=e.stable_step / 5)
    return Kind.DRIFT.fault(**_drift(e))


def perhaps_drifting(e: Evidence) -> Fault | None:
    """A drift that may be chance, and would matter if it is not."""
    if abs(e.drift) > 2 * e.drift_se and abs(e.drift) + 2 * e.drift_se > DRIFT_LIKELY * e.llc:
        return Kind.MAYBE_DRIFT.fault(**_drift(e))
    return None


def unseen_drift(e: Evidence) -> Fault | None:
    """That no drift is seen says something only where one would be."""
    if not math.isfinite(e.drift_se):
        return Kind.UNKNOWN_DRIFT.fault(faster=_faster(e))
    most = 2 * e.drift_se
    return Kind.UNSEEN_DRIFT.fault(**_drift(e), most=most / e.llc) if most > DRIFT_UNSEEN * e.llc else None


def _drift(e: Evidence) -> dict[str, Any]:
    way = "rising" if e.drift > 0 else "falling"
    return {"way": way, "share": e.drift / e.llc, "error": e.drift_se / e.llc, "faster": _faster(e)}


def out_of_range(e: Evidence) -> Fault | None:
    if not e.parameters or e.llc <= BEYOND * e.parameters / 2:
        return None
    fault = Kind.OUT_OF_RANGE.fault(llc=e.llc, most=e.parameters / 2)
    if e.step_size > NEAR_LIMIT * e.stable_step:
        return replace(fault, remedy=e.smaller_step, wants_steps=False, change=e.smaller_change)
    return fault


def disagreeing(e: Evidence) -> Fault | None:
    """Means of chains that differ by more than chance, and by more than matters."""
    if e.chain_chance < OFFSET_CHANCE and e.chain_offset > OFFSET_SHARE * e.llc:
        return Kind.DISAGREEMENT.fault(share=e.chain_offset / e.llc)
    return None


def wide_error(e: Evidence) -> Fault | None:
    return Kind.WIDE_ERROR.fault(share=e.se / e.llc) if math.isfinite(e.se) and e.se > SE_SHARE * e.llc else None


def noisy(e: Evidence) -> Fault | None:
    """The same where a bias of the sampler was measured that may be no more than this noise."""
    return wide_error(e) if may_be_noise(e) else None


def spread_of_chains(e: Evidence) -> Fault | None:
    if math.isfinite(e.r_hat) and e.r_hat > R_HAT_LIMIT:
        return Kind.R_HAT.fault(r_hat=e.r_hat, limit=R_HAT_LIMIT)
    return None


def few_draws(e: Evidence) -> Fault | None:
    if math.isfinite(e.ess) and e.ess < ESS_LIMIT:
        return Kind.FEW_DRAWS.fault(ess=e.ess)
    return None if math.isfinite(e.se) else Kind.UNKNOWN_ERROR.fault(faster=_faster(e))


def refuted(e: Evidence) -> Fault | None:
    """Chains that agree with one another, and not with the posterior: they stay near w0, or what they follow is another distribution."""
    if agrees(e.llc, e.se, e.reference, e.reference_se) is not False:
        return None
    off = e.llc / e.reference - 1
    cause = cause_of(e, off)
    help = remedy_of(e, cause, off)
    gibbs = "" if e.sampler is not None and e.sampler.needs_conditionals else " Or use Gibbs where it is offered."
    fault = Kind.REFUTED.fault(help.change, far=_far(e), help=f"{help.sentence}{gibbs}")
    return replace(fault, wants_steps=cause == MIXING)


def contradiction(e: Evidence) -> str:
    """A sentence for behind a doubt that an answer turns into certainty; empty where there is none."""
    wrong = agrees(e.llc, e.se, e.reference, e.reference_se) is False
    return f" The estimate is wrong, {_far(e)}." if wrong else ""


def _far(e: Evidence) -> str:
    far = f"{abs(e.llc / e.reference - 1):.0%} {'below' if e.llc < e.reference else 'above'}"
    drawn = "exact draws from the posterior give" if e.reference_se else "the exact value here is"
    known = f"{e.reference:.4g} ± {e.reference_se:.2g}" if e.reference_se else f"{e.reference:.4g}"
    return f"{far} what it should be: {drawn} {known}"


def known_right(e: Evidence) -> bool:
    """Whether an exact answer lies beside the estimate, by less than the share that is allowed: its own error bar may be wrong
    where its chains leave doubts, so that it does not count."""
    share = abs(e.llc - e.reference) + e.reference_se
    return math.isfinite(share) and math.isfinite(e.se) and share <= AGREES * abs(e.reference)


def _faster(e: Evidence) -> str:
    return remedy(MIXING, e.sampler).sentence


TOLERANCE = 0.05
"""What chains have not seen may be worth this share of the answer."""
SEEN = 2
"""A count below so many of its errors may be chance."""
TAKES = 0.02
"""Other causes that take more than this share of λ̂ leave less of the tolerance."""
WORTH = 0.5
"""No direction adds more than this to λ (Watanabe 2009, theorem 7.2: λ ≤ D/2)."""
STEPS_HELP = 16
"""Where γ‖w − w0‖² would have to grow by more than this factor, a longer run of the same chains does not get there."""
WIDER = 3
"""γ is raised so far that chains which spread by diffusion reach this multiple of what it then lets them."""


def unspread(e: Evidence) -> Fault | None:
    """Directions that have not been spread along, where they could be worth more than is allowed.

    Along a direction that is flat at w0 the loss need not stay flat: as chains spread λ̂ may rise, by no more than ½ for each. That
    it does is not known, so this is a doubt.
    """
    if not has_not_spread(e) or _worth(e) <= TOLERANCE * (e.llc + _worth(e)):
        return None
    if e.localization == 0:
        return Kind.HELD_BY_NOTHING.fault(unspread=e.unspread, parameters=e.parameters)
    times = e.unspread / e.pull if e.pull > 0 else math.inf
    fault = Kind.UNSPREAD.fault(_change(e, times), told=told(e), help=_remedy(e, times))
    return replace(fault, wants_steps=times < STEPS_HELP)


def _worth(e: Evidence) -> float:
    """By how much λ̂ may be too low: what the directions may add, and what else takes from it."""
    return WORTH * e.unspread + _taken(e)


def _taken(e: Evidence) -> float:
    """By other causes, and by a w0 above the minimum."""
    return taken(e) + (max(e.above, 0.0) if math.isfinite(e.above) else 0.0)


def _is_fast(e: Evidence) -> bool:
    return e.sampler is not None and e.sampler.name == FAST


def has_not_spread(e: Evidence) -> bool:
    """Whether the count of such directions stands out of its error. Less than half of one matters only beside other causes."""
    if not (e.parameters and math.isfinite(e.unspread_se)):
        return False
    least = WORTH if _taken(e) <= TAKES * e.llc else 0.0
    return e.unspread > max(SEEN * e.unspread_se, least)


def without_idle(e: Evidence, many: int, unspread: float, unspread_se: float) -> Evidence:
    """The same for directions other than the `many` that the loss does not depend on where the chains are.

    unspread, unspread_se: how many of the others the chains have not spread along. If that stands out of its error, the loss may
    depend on the idle ones where the chains have not been, and all of them count.
    """
    left = replace(e, unspread=unspread, unspread_se=unspread_se, idle=many)
    return left if many and math.isfinite(unspread_se) and not has_not_spread(left) else e


def told(e: Evidence) -> str:
    return (
        f"The chains have not spread along about {e.unspread:.0f} of {e.parameters:,} directions as far as γ (localization) lets "
        "them"
    )


def _remedy(e: Evidence, times: float) -> str:
    faster = remedy(MIXING, e.sampler).sentence
    if not math.isfinite(times):
        return faster
    smaller = f"sk about the place that they reach, by a larger γ, such as {_larger(e, times):g}."
    if times < STEPS_HELP:
        return f"{faster} Or a{smaller}"
    name = samplers()[FAST].label
    if _is_fast(e):
        return f"A{smaller}"
    return f"Use a sampler that moves faster ({name}). Or a{smaller}"


def _change(e: Evidence, times: float) -> dict[str, Any]:
    """The setting that a click changes, where steps do not help: a faster sampler answers the same question, so it comes first."""
    if times < STEPS_HELP:
        return {}
    if not _is_fast(e):
        return {"sampler": FAST}
    return {"localization": _larger(e, times)} if math.isfinite(times) else {}


def _larger(e: Evidence, times: float) -> float:
    """γ of about the place that the chains reach, in two digits."""
    return float(f"{max(WIDER * times, 2) * e.localization:.2g}")
