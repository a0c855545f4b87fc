"""Signals by which to judge one estimate: each has its number, whether it is fine, and a plain sentence."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from llc_core.diagnostics.convergence import DRIFT_SHARE, ESS_LIMIT, R_HAT_LIMIT, SPIKE_SHARE, spike_share
from llc_core.diagnostics.minimum import apart
from llc_core.results import Estimate

RISE = 0.1
"""A squared distance that rises by this share between the halves, and by 3 of its errors, is still on its way."""
FAR = 1.5
"""A chain counts as too far from w0 beyond this multiple of √(D/γ), its distance if only the localisation held it."""
AS_FAR = 0.9
"""A chain beyond this multiple of √(D/γ) is where γ lets it be, whatever the loss does."""
FEWEST_DRAWS = 1000
OWN_LAW = (0.3, 3.0)
"""Variance over mean of nβ·ΔL. Its distribution is Gamma(λ, 1) where the loss is regular up to the localisation, so the ratio is 1; sound
runs had 0.75 to 1.2, double wells and walls among them."""


@dataclass(frozen=True)
class Signal:
    """name: short, for people.  value: nan if it was not measured.  ok: False if it is known to be bad.

    note: whether it is a consequence of a setting that the reader should know of, and no fault of the chains; ok is then True.
    """

    name: str
    value: float
    ok: bool
    sentence: str
    note: bool = False


def health(estimate: Estimate) -> list[Signal]:
    """What an estimate's own numbers say about it, in a fixed order.

    Diverged chains, R-hat, ESS, drift, sign, spikes, distance from w0, the trace's own distribution, and the three terms of a
    step: (ε/2)nβ‖∇L‖, (ε/2)γ‖w − w0‖ and √(εD), as root mean squares. The terms are there for overdamped samplers in the
    coordinates of w only. A signal that was not measured has the value nan and is fine.

    A localisation that is stronger than the loss is a note and no fault. γ is the reader's choice of a neighbourhood (100 for
    the networks of Lau, Murfet & Wei), and it may be the stronger force in sound chains if most directions are flat.
    Raises ValueError for anything that is not an Estimate.
    """
    if not isinstance(estimate, Estimate):
        raise ValueError(f"estimate must be an Estimate, not a {type(estimate).__name__}.")
    return [
        _diverged(estimate),
        _r_hat(estimate),
        _ess(estimate),
        _drift(estimate),
        _sign(estimate),
        _spikes(estimate),
        _distance(estimate),
        _law(estimate),
        *_terms(estimate),
    ]


def _diverged(e: Estimate) -> Signal:
    if e.diverged:
        text = f"{e.diverged} of {e.chains} chains ran away to infinity: the step size is too large."
        return Signal("diverged chains", float(e.diverged), False, text)
    return Signal("diverged chains", 0.0, True, f"All {e.chains} chains stayed finite.")


def _r_hat(e: Estimate) -> Signal:
    if not math.isfinite(e.r_hat):
        return Signal("R-hat", math.nan, True, "R-hat was not measured: it compares at least two living chains.")
    if e.r_hat > R_HAT_LIMIT:
        text = f"R-hat is {e.r_hat:.3f}, above {R_HAT_LIMIT}: the chains tell different stories, so take more steps."
        return Signal("R-hat", e.r_hat, False, text)
    return Signal("R-hat", e.r_hat, True, f"R-hat is {e.r_hat:.3f}: the chains agree.")


def _ess(e: Estimate) -> Signal:
    if not math.isfinite(e.ess):
        return Signal("ESS", math.nan, True, "The effective sample size was not measured.")
    if e.ess < ESS_LIMIT:
        text = f"The chains hold only {e.ess:.0f} independent draws, below {ESS_LIMIT}: take more steps or a larger step size."
        return Signal("ESS", e.ess, False, text)
    return Signal("ESS", e.ess, True, f"The chains hold about {e.ess:.0f} independent draws.")


def _drift(e: Estimate) -> Signal:
    drift, error = e.diagnostics.get("drift", math.nan), e.diagnostics.get("drift_se", math.nan)
    if not (math.isfinite(drift) and math.isfinite(error) and math.isfinite(e.llc)):
        return Signal("drift", math.nan, True, "Drift was not measured: the run is too short after burn-in.")
    share = drift / abs(e.llc) if e.llc else math.inf
    if abs(drift) > max(DRIFT_SHARE * abs(e.llc), 4 * error):
        way = "rising" if drift > 0 else "falling"
        return Signal(
            "drift", drift, False, f"The loss is still {way} ({share:+.0%} from one half to the other): burn in longer."
        )
    if abs(share) > DRIFT_SHARE:
        return Signal("drift", drift, True, f"No drift ({drift:+.2g} ± {error:.2g}).".replace("-", "−"))
    return Signal(
        "drift", drift, True, f"The loss no longer drifts ({share:+.1%} from one half to the other).".replace("-", "−")
    )


def _sign(e: Estimate) -> Signal:
    if math.isnan(e.llc):
        return Signal("sign", math.nan, False, "There is no estimate.")
    if e.llc <= 0:
        text = f"λ̂ is {e.llc:.3g}, but a learning coefficient is positive: "
        if e.expected is not None and e.expected <= 0:
            text += f"the loss fits the noise of the data (expected here: {e.expected:.3g}), so take more data or a smaller n_beta."
        else:
            text += "w0 may not be a minimum, or the baseline is noisy."
        return Signal("sign", e.llc, False, text)
    return Signal("sign", e.llc, True, "λ̂ is positive, as a learning coefficient is.")


def _spikes(e: Estimate) -> Signal:
    kept = e.trace[e.trace_steps >= e.burn_in]
    share = spike_share(kept[:, np.isfinite(kept).all(axis=0)])
    if math.isnan(share):
        return Signal("spikes", math.nan, True, "Spikes were not looked for: too few draws.")
    if share > SPIKE_SHARE:
        text = f"One draw in a thousand carries {share:.0%} of λ̂: the chains are thrown out and come back, so reduce step_size."
        return Signal("spikes", share, False, text)
    return Signal("spikes", share, True, f"No spikes: the highest thousandth of the draws carries {share:.1%} of λ̂.")


def _distance(e: Estimate) -> Signal:
    value = e.diagnostics.get("distance", math.nan)
    gamma = float(e.setting.get("localization", e.config.localization or 0.0))
    if not math.isfinite(value):
        return Signal("distance", math.nan, True, "The distance from w0 was not measured.")
    if not (gamma > 0 and e.dim):
        return Signal("distance", value, True, f"The chains are {value:.3g} from w0; no localisation keeps them near.")
    reach = math.sqrt(e.dim / gamma)
    rise, error = (e.diagnostics.get(name, math.nan) for name in ("distance_drift", "distance_drift_se"))
    if value <= FAR * reach and rise > max(RISE, 3 * error):
        # By itself no fault: of sixteen networks of a thousand parameters those that rise are right, and one that stands is 6% low.
        # How many directions are slow is counted, and the verdict weighs that (`chances.unspread`).
        many = e.diagnostics.get("unspread", math.nan)
        slow = f"about {many:.0f} of {e.dim:,} directions are slow" if many >= 1 else "some flat directions are slow"
        text = (
            f"The chains are {value:.3g} from w0, and their squared distance still rises ({rise:+.0%} from one half to the other): "
            f"{slow}. A loss that stands does not show what λ̂ is farther out."
        )
        return Signal("distance", value, True, text, note=True)
    if value > FAR * reach:
        text = (
            f"The chains are {value:.3g} from w0, further than γ alone would let them ({reach:.3g}): reduce step_size."
        )
        return Signal("distance", value, False, text)
    if value > AS_FAR * reach:
        text = f"The chains went as far as γ lets them ({value:.2g}): the estimate depends on γ."
        return Signal("distance", value, True, text, note=True)
    return Signal("distance", value, True, f"The chains are {value:.3g} from w0. γ alone would let them {reach:.3g}.")


def _law(e: Estimate) -> Signal:
    """The data's noise moves the mean of nβ·ΔL and leaves its variance, which is λ still.

    In the wide band the verdict's own comparison decides, which takes off what γ and the sampler do to the variance.
    """
    kept = e.trace[e.trace_steps >= e.burn_in]
    kept = kept[:, np.isfinite(kept).all(axis=0)]
    if e.config.gradient != "full" or kept.size < FEWEST_DRAWS or not abs(kept.mean()) > 0:
        return Signal(
            "spread", math.nan, True, "The variance of the losses was not checked: they are noisy or too few."
        )
    ratio = float(kept.var() / kept.mean())
    if OWN_LAW[0] <= ratio <= OWN_LAW[1]:
        low, high = OWN_LAW
        both = apart(e.evidence)
        if both:
            text = f"nβ·ΔL does not vary as it should: {both}. So w0 is no minimum, or λ̂ changes with the temperature."
            return Signal("spread", ratio, True, text, note=True)
        roughly = "" if math.isfinite(e.evidence.gap_se) else "roughly "
        text = (
            f"nβ·ΔL varies {roughly}as it should: variance over mean is {ratio:.2f}, and {low:g} to {high:g} is usual."
        )
        return Signal("spread", ratio, True, text)
    text = (
        f"nβ·ΔL has a variance of {kept.var():.3g} around a mean of {kept.mean():.3g}. A posterior that the loss shapes has the same "
        "for both. So the loss fits noise, w0 is no minimum, the localisation keeps the chains, or they are not at rest."
    )
    return Signal("spread", ratio, True, text, note=True)


def _terms(e: Estimate) -> list[Signal]:
    gradient, localization, noise = (
        e.diagnostics.get(f"{name}_term", math.nan) for name in ("gradient", "localization", "noise")
    )
    if not math.isfinite(gradient):
        return []
    too_strong, held = gradient > noise, localization > gradient
    return [
        Signal(
            "gradient term",
            gradient,
            not too_strong,
            f"The loss moves a chain {gradient:.2g} per step, the noise {noise:.2g}: "
            + (
                "a step overshoots, so reduce step_size." if too_strong else "the noise is the larger, as it should be."
            ),
        ),
        Signal(
            "localisation term",
            localization,
            True,
            f"The localisation moves a chain {localization:.2g} per step, the loss {gradient:.2g}: "
            + (
                "γ sets the neighbourhood that λ̂ speaks of, which is a choice and not a failure of the chains; λ̂ falls as γ "
                "grows, so compare a smaller localization."
                if held
                else "the loss is the stronger."
            ),
            note=held,
        ),
        Signal("noise term", noise, True, f"The noise moves a chain {noise:.2g} per step."),
    ]
