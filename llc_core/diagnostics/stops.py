"""What stops a verdict before anything is weighed: chains that died or stand still, a step that is too large, no positive λ̂."""

from __future__ import annotations

import math

from llc_core.diagnostics.causes import law_is_known
from llc_core.diagnostics.convergence import SPIKE_SHARE
from llc_core.diagnostics.evidence import Evidence, Fault

FEWEST_STEPS = 32
LOW_ACCEPTANCE = 0.1
ROUNDING_SHARE = 0.02
"""Rounding alone may be this share of the estimate. The measure sees only the end of a chain's way: it was 5% for an estimate
that was 78% too high."""
UNDONE_SHARE = 0.05
LEAST_SHARE = 0.2
"""Kish's share of weighted states below which a few states carry the average."""


def no_estimate(e: Evidence) -> Fault | None:
    if e.dead > e.chains / 2:
        return Fault(
            f"{e.dead} of {e.chains} chains diverged, so there is no estimate.", e.smaller_step, change=e.smaller_change
        )
    return None


def too_few_steps(e: Evidence) -> Fault | None:
    if e.kept_steps < FEWEST_STEPS:
        return Fault(f"Only {e.kept_steps} steps after burn-in: too few to judge.", "Run longer.", True)
    return None


def wrong_settings(e: Evidence) -> Fault | None:
    """What is known against the settings, unless what they do to λ̂ was measured."""
    return Fault(e.caveat) if e.caveat and not law_is_known(e) else None


def uneven_weights(e: Evidence) -> Fault | None:
    if e.effective_share < LEAST_SHARE:
        reason = f"The states weigh so unevenly that they are worth {e.effective_share:.0%} of as many equal ones."
        return Fault(reason, "Use a smaller zeta, or more bins.")
    return None


def refusals(e: Evidence) -> Fault | None:
    if e.acceptance < LOW_ACCEPTANCE:
        return Fault(
            f"Only {e.acceptance:.0%} of the proposals were accepted: the chains hardly move.",
            e.smaller_step,
            change=e.smaller_change,
        )
    return None


def unstable_step(e: Evidence) -> Fault | None:
    if math.isnan(e.acceptance) and math.isfinite(e.stable_step) and e.step_size > e.stable_step * 1.02:
        reason = f"The step size {e.step_size:.2g} is above the stability limit {e.stable_step:.2g}: the estimate is inflated."
        return Fault(reason, e.smaller_step, change=e.smaller_change)
    return None


def lost_chains(e: Evidence) -> Fault | None:
    if e.dead:
        return Fault(
            f"{e.dead} of {e.chains} chains diverged and were left out.", e.smaller_step, change=e.smaller_change
        )
    return None


def not_positive(e: Evidence) -> Fault | None:
    """The sentence says which of the reasons it is, as far as the evidence tells."""
    if e.llc > 0:
        return None
    reason = f"The estimate is {e.llc:.3g}, but a learning coefficient is positive"
    if math.isnan(e.llc):
        return Fault("There is no estimate.")
    if e.expected <= 0:
        return Fault(
            f"{reason}: the minimum of L_n lies below L_n(w0) by more than λ/nβ at this n, since the loss fits the noise of the "
            f"data (expected here: {e.expected:.3g}).",
            "Use more data, a smaller nβ, or an estimate at the minimum of L_n (polish=True).",
            change={"polish": True},
        )
    if e.llc > -2 * e.se:
        return Fault(f"{reason}: it does not differ from 0 within its error ({e.se:.2g}).", "Take more steps.", True)
    if not e.exact_losses and math.isnan(e.acceptance):  # a Metropolis test wants the losses of all data
        return Fault(
            f"{reason}: the baseline is noisy, or losses below L_n(w0) are found.",
            "Use the same-batch baseline and full gradients; if it stays negative, w0 is no minimum of this loss.",
        )
    return Fault(
        f"{reason}: on the same data the chains find losses below L_n(w0), so w0 is no minimum of L_n.",
        "Polish w0 (polish=True). If w0 is the true parameter, L_n fits the noise: use more data or a smaller nβ.",
        change={"polish": True},
    )


def standing_still(e: Evidence) -> Fault | None:
    if math.isinf(e.r_hat):
        return Fault(
            "No chain has moved since burn-in: every proposal is refused, or the step is too small for the precision.",
            "Give another step size, or leave it automatic.",
        )
    return None


def rounding(e: Evidence) -> Fault | None:
    if e.rounding > ROUNDING_SHARE * e.llc:
        reason = (
            f"Rounding alone puts nβ·ΔL of these chains off by {e.rounding:.2g}, {e.rounding / e.llc:.0%} of the estimate: "
            "their layers are of sizes that the precision cannot hold together."
        )
        return Fault(reason, "Use float64 precision.", change={"dtype": "float64"})
    return None


def thrown_out(e: Evidence) -> Fault | None:
    """Chains that were put back, and those that came back by themselves."""
    remedy = f"{e.smaller_step} Or use HMC, which rejects such steps."
    if e.spikes > SPIKE_SHARE:
        reason = f"One draw in a thousand carries {e.spikes:.0%} of the estimate: the step throws chains out, and they come back."
        return Fault(reason, remedy, change=e.smaller_change)
    if e.undone > UNDONE_SHARE and e.bursts > e.chains:
        reason = (
            f"The loss burst {e.bursts} times and a chain was put back: the step is too large where the chains come to."
        )
        return Fault(reason, remedy, change=e.smaller_change)
    return None
