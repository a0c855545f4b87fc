"""The sentence that says whether to trust an estimate, and what to change."""

from __future__ import annotations

import math

import numpy as np

from llc_core.diagnostics.convergence import DRIFT_SHARE, ESS_LIMIT, R_HAT_LIMIT, SPIKE_SHARE
from llc_core.types import Verdict

SE_SHARE = 0.05
BEYOND = 4
"""No learning coefficient is above half the number of parameters (Watanabe 2009, theorem 7.2, for losses that are analytic at
a minimum). If an estimate is this many times above it, its chains are far from w0: they were thrown out, or began there."""
NEAR_LIMIT = 0.5
"""From this share of the stability limit on, the step size may be the reason that chains are thrown out."""
AT_LIMIT = 0.9
"""From this share of the stability limit on, a rising loss is put down to the step size: chains that were carried to steeper
places had steps at 97 and 98%. Below it, a rising loss mostly means that the run is too short."""
UNDONE_SHARE = 0.05
LOW_ACCEPTANCE = 0.1
ROUNDING_SHARE = 0.02
"""Rounding may be this share of the estimate. The measure sees only the end of a chain's way: it was 5% for an estimate that was
78% too high."""


def judge(
    *,
    llc: float,
    se: float,
    chains: int,
    dead: int,
    r_hat: float,
    ess: float,
    drift: float,
    drift_se: float,
    step_size: float,
    stable_step: float,
    noise_inflation: float,
    step_bias: float = 0.0,
    rounding: float = 0.0,
    spikes: float = math.nan,
    bursts: int = 0,
    undone: float = 0.0,
    acceptance: float = math.nan,
    kept_steps: int,
    caveat: str = "",
    parameters: int = 0,
) -> Verdict:
    """The most serious finding first; a clean run says what was checked.

    spikes: `convergence.spike_share`, if the losses are exact.  bursts: how often a chain was put back after burn-in
    (`llc_core.engine.stepping.bursts`).  undone: the share of the kept steps that this cost.
    """
    smaller = _smaller(step_size, stable_step)
    if dead > chains / 2:
        return Verdict(False, f"{dead} of {chains} chains diverged, so there is no estimate.", smaller)
    if kept_steps < 32:
        return Verdict(False, f"Only {kept_steps} steps after burn-in: too few to judge.", "Run longer.", True)
    if caveat:
        return Verdict(False, caveat, "")
    if acceptance < LOW_ACCEPTANCE:
        reason = f"Only {acceptance:.0%} of the proposals were accepted: the chains hardly move."
        return Verdict(False, reason, smaller)
    if math.isnan(acceptance) and math.isfinite(stable_step) and step_size > stable_step * 1.02:
        reason = (
            f"The step size {step_size:.2g} is above the stability limit {stable_step:.2g}: the estimate is inflated."
        )
        return Verdict(False, reason, smaller)
    if dead:
        return Verdict(False, f"{dead} of {chains} chains diverged and were left out.", smaller)
    if not llc > 0:
        return Verdict(
            False,
            f"The estimate is {llc:.3g}, but a learning coefficient is positive.",
            "w0 may not be a minimum of this loss, or the baseline is noisy: use baseline='same_batch' and full gradients.",
        )
    if math.isinf(r_hat):
        return Verdict(
            False,
            "No chain has moved since burn-in: every proposal is refused, or the step is too small for the precision.",
            "Give another step_size, or leave it out.",
        )
    if rounding > ROUNDING_SHARE * llc:
        reason = (
            f"Rounding alone puts nβ·ΔL of these chains off by {rounding:.2g}, {rounding / llc:.0%} of the estimate: their "
            "layers are of sizes that the precision cannot hold together."
        )
        return Verdict(False, reason, "Use dtype='float64'.")
    if (undone > UNDONE_SHARE and bursts > chains) or spikes > SPIKE_SHARE:
        reason = (
            f"The loss burst {bursts} times and a chain was put back: the step is too large where the chains come to."
        )
        if spikes > SPIKE_SHARE:
            reason = f"One draw in a thousand carries {spikes:.0%} of the estimate: the step throws chains out, and they come back."
        return Verdict(False, reason, f"{smaller} Or use HMC, which rejects such steps.")
    threshold = max(DRIFT_SHARE * abs(llc), 4 * drift_se) if math.isfinite(drift_se) else math.inf
    if abs(drift) > threshold:
        way = "rising" if drift > 0 else "falling"
        reason = f"The loss is still {way} ({drift / llc:+.0%} between the two halves after burn-in)"
        if drift > 0 and math.isnan(acceptance) and step_size > AT_LIMIT * stable_step:
            reason += (
                f" with a step at {step_size / stable_step:.0%} of the stability limit: it may carry the chains away."
            )
            return Verdict(False, reason, f"Reduce step_size below {stable_step / 5:.2g} and take more steps.")
        return Verdict(
            False,
            f"{reason}: the chains have not settled.",
            "Take more steps, or a sampler that moves faster (UnderdampedLangevin).",
            True,
        )
    if parameters and llc > BEYOND * parameters / 2:
        reason = (
            f"The estimate is {llc:.3g}, but no learning coefficient is above half the number of parameters, "
            f"{parameters / 2:,g}: the chains are far out."
        )
        if step_size > NEAR_LIMIT * stable_step:
            return Verdict(False, reason, smaller)
        return Verdict(False, reason, "Take more steps, or begin nearer to w0.", True)
    if math.isfinite(se) and se > SE_SHARE * llc:
        reason = f"The standard error is {se / llc:.0%} of the estimate: the chains disagree."
        return Verdict(False, reason, "Take more steps or more chains.", True)
    if step_bias > 0.05 * llc and not noise_inflation > step_bias:  # the larger cause is the one to name
        return Verdict(
            False,
            f"The step size alone is expected to add about {step_bias / llc:.0%} to this estimate.",
            "Use a smaller step size (and more steps), or UnderdampedLangevin with full gradients.",
        )
    if noise_inflation > 0.05 * llc:
        return Verdict(
            False,
            f"Minibatch noise alone is expected to add about {noise_inflation / llc:.0%} to this estimate.",
            "Use a smaller step size, a larger batch, or gradient='control_variate' or 'full'.",
        )
    if math.isfinite(r_hat) and r_hat > R_HAT_LIMIT:
        reason = f"R-hat is {r_hat:.3f}, above {R_HAT_LIMIT}: the chains do not agree yet."
        return Verdict(False, reason, "Take more steps.", True)
    if math.isfinite(ess) and ess < ESS_LIMIT:
        reason = f"Only {ess:.0f} effective samples (ESS): the error bar is itself uncertain."
        return Verdict(False, reason, "Take more steps.", True)
    checked = ["no chain diverged", "no drift"] if chains > 1 else ["no divergence", "no drift"]
    if math.isfinite(r_hat):
        checked.append(f"R-hat {r_hat:.3f}")
    if math.isfinite(ess):
        checked.append(f"ESS {ess:.0f}")
    if np.isfinite(stable_step):
        checked.append(f"step size at {step_size / stable_step:.0%} of the stability limit")
    if bursts:
        checked.append(f"bursts put back: {bursts}")
    start = (
        "The chains agree and have settled" if chains > 1 else "The only chain has settled; agreement was not checked"
    )
    return Verdict(True, f"{start} ({', '.join(checked)}).")


def _smaller(step_size: float, stable_step: float) -> str:
    if not (math.isfinite(stable_step) and stable_step > 0):
        return "Reduce step_size."
    if step_size < stable_step:  # the limit was measured elsewhere
        return f"Reduce step_size below {step_size / 2:.2g}."
    return f"Reduce step_size below {stable_step:.2g}, or leave it automatic."
