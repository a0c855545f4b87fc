"""What stops a verdict before anything is weighed: chains that died or stand still, a step that is too large, no positive λ̂."""

from __future__ import annotations

import math
from typing import Any

from llc_core.diagnostics.causes import law_is_known
from llc_core.diagnostics.convergence import SPIKE_SHARE
from llc_core.diagnostics.evidence import Evidence
from llc_core.verdicts import AT_MINIMUM, POLISH, Advice, Fault, Kind

FEWEST_STEPS = 32
LOW_ACCEPTANCE = 0.1
ROUNDING_SHARE = 0.02
"""Rounding alone may be this share of the estimate. The measure sees only the end of a chain's way: it was 5% for an estimate
that was 78% too high."""
UNDONE_SHARE = 0.05
LEAST_SHARE = 0.2
"""Kish's share of weighted states below which a few states carry the average."""


def no_estimate(e: Evidence) -> Fault | None:
    return _smaller(Kind.NO_ESTIMATE, e, dead=e.dead, chains=e.chains) if e.dead > e.chains / 2 else None


def too_few_steps(e: Evidence) -> Fault | None:
    return Kind.TOO_FEW_STEPS.fault(kept=e.kept_steps) if e.kept_steps < FEWEST_STEPS else None


def wrong_settings(e: Evidence) -> Fault | None:
    """What is known against the settings, unless what they do to λ̂ was measured."""
    return Kind.SETTINGS.fault(caveat=e.caveat) if e.caveat and not law_is_known(e) else None


def uneven_weights(e: Evidence) -> Fault | None:
    return Kind.UNEVEN_WEIGHTS.fault(share=e.effective_share) if e.effective_share < LEAST_SHARE else None


def refusals(e: Evidence) -> Fault | None:
    return _smaller(Kind.REFUSALS, e, share=e.acceptance) if e.acceptance < LOW_ACCEPTANCE else None


def unstable_step(e: Evidence) -> Fault | None:
    if math.isnan(e.acceptance) and math.isfinite(e.stable_step) and e.step_size > e.stable_step * 1.02:
        return _smaller(Kind.UNSTABLE_STEP, e, step=e.step_size, limit=e.stable_step)
    return None


def lost_chains(e: Evidence) -> Fault | None:
    return _smaller(Kind.LOST_CHAINS, e, dead=e.dead, chains=e.chains) if e.dead else None


def not_positive(e: Evidence) -> Fault | None:
    """The sentence says which of the reasons it is, as far as the evidence tells."""
    if e.llc > 0:
        return None
    if math.isnan(e.llc):
        return Kind.NAN.fault()
    if e.llc == 0 and not e.se > 0:
        return Kind.FLAT.fault()
    if e.expected <= 0:
        return _polish(Kind.FITS_NOISE, e, AT_MINIMUM, f" (expected here: {e.expected:.3g})")
    if e.llc > -2 * e.se:
        return Kind.NOT_FROM_ZERO.fault(llc=e.llc, se=e.se)
    if not e.exact_losses and math.isnan(e.acceptance):  # a Metropolis test wants the losses of all data
        return Kind.NOISY_BASELINE.fault(llc=e.llc)
    return _polish(Kind.NO_MINIMUM, e, Advice.put("{polish}. ", polish=POLISH))


def _polish(kind: Kind, e: Evidence, move: str, answer: str = "") -> Fault:
    return kind.fault({"polish": True} if e.can_polish else {}, answer, llc=e.llc, move=move if e.can_polish else "")


def standing_still(e: Evidence) -> Fault | None:
    return Kind.STANDING_STILL.fault(since=" since burn-in") if math.isinf(e.r_hat) else None


def rounding(e: Evidence) -> Fault | None:
    if e.rounding > ROUNDING_SHARE * abs(e.llc) > 0:
        return Kind.ROUNDING.fault({"dtype": "float64"}, size=e.rounding, share=e.rounding / abs(e.llc))
    return None


def thrown_out(e: Evidence) -> Fault | None:
    """Chains that were put back, and those that came back by themselves."""
    if e.spikes > SPIKE_SHARE:
        return _smaller(Kind.SPIKES, e, share=e.spikes)
    if e.undone > UNDONE_SHARE and e.bursts > e.chains:
        return _smaller(Kind.BURSTS, e, many=e.bursts)
    return None


def _smaller(kind: Kind, e: Evidence, **numbers: Any) -> Fault:
    """What a smaller step mends."""
    return kind.fault(e.smaller_change, smaller=e.smaller_step, **numbers)
