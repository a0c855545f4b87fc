"""What longer chains mend: a loss or a distance that still drifts, chains that differ, errors too large to tell."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from llc_core.diagnostics.convergence import DRIFT_SHARE, ESS_LIMIT, R_HAT_LIMIT
from llc_core.diagnostics.evidence import Evidence
from llc_core.diagnostics.remedies import MIXING, remedy
from llc_core.diagnostics.suspects import cause_of, remedy_of
from llc_core.results import AGREES, agrees
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


def spread_of_chains(e: Evidence) -> Fault | None:
    if math.isfinite(e.r_hat) and e.r_hat > R_HAT_LIMIT:
        return Kind.R_HAT.fault(r_hat=e.r_hat, limit=R_HAT_LIMIT)
    return None


def few_draws(e: Evidence) -> Fault | None:
    if math.isfinite(e.ess) and e.ess < ESS_LIMIT:
        return Kind.FEW_DRAWS.fault(ess=e.ess)
    return None if math.isfinite(e.se) else Kind.UNKNOWN_ERROR.fault(faster=_faster(e))


def refuted(e: Evidence) -> Fault | None:
    """Chains that agree with one another, and not with the posterior: they stay near w0, or what they follow is another law."""
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
