"""λ from how the mean loss changes with temperature: from runs at several nβ, or from one run by reweighting."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from llc_core.diagnostics.temperatures import leverage
from llc_core.fields import number
from llc_core.results import Estimate

SMALLEST_ESS = 50.0


@dataclass(frozen=True)
class TemperatureSlope:
    """E^β[n·ΔL] = intercept + llc/β by least squares over several β.

    llc, llc_se: the slope and its standard error.  intercept: −ν where ν does not depend on β.
    inverse_beta, mean: [K], the points: 1/β and E^β[n·ΔL].
    """

    llc: float
    llc_se: float
    intercept: float
    inverse_beta: np.ndarray
    mean: np.ndarray


@dataclass(frozen=True)
class Reweighted:
    """One run seen at another temperature.

    llc, llc_se: λ̂ at the new nβ.  per_chain: [C].  ess: effective number of independent draws behind it, from the
    weights and the chain's own memory.  weight_share: Kish's (Σw)²/(N·Σw²).  reason: a sentence where not to be trusted.
    """

    llc: float
    llc_se: float
    per_chain: np.ndarray
    n_beta: float
    ess: float
    weight_share: float
    reason: str = ""


def temperature_llc(estimates: Sequence[Estimate]) -> TemperatureSlope:
    """λ̂ as the slope of E^β[n·L_n] against 1/β: (E^{β1} − E^{β2})/(1/β1 − 1/β2) for two estimates.

    No baseline enters: L_n(w0) drops out, and so does −ν, the training data's share, where ν does not depend on β. The
    estimates are settings of one grid over n_beta, or separate runs of one problem at one γ; the nβ should be constants
    times n / log n. The error is the spread of the chains' own slopes when all have the same four or more chains (which is
    right for many data sets side by side too), else it is propagated as for independent estimates.
    Source: Watanabe 2013, corollary 3 (its error is O(1/√log n) as that of λ̂).
    """
    if len(estimates) < 2:
        raise ValueError(f"temperature_llc needs estimates at two or more n_beta, not {len(estimates)}.")
    problems = {str(e.config.problem) for e in estimates}
    if len(problems) > 1 or len({e.n for e in estimates}) > 1:
        raise ValueError("The estimates are of different problems; a slope over temperatures needs one problem.")
    x = np.array([e.n / e.n_beta for e in estimates])
    if not estimates[0].n or np.ptp(x) <= 1e-9 * x.max():
        raise ValueError("All estimates have the same n_beta; a slope needs at least two different ones.")
    y = np.array([e.llc for e in estimates]) * x
    error = np.array([e.llc_se for e in estimates]) * x
    weight = 1 / np.maximum(error, 1e-12 * np.abs(y) + 1e-300) ** 2 if np.isfinite(error).all() else np.ones_like(x)
    count, at_zero, _ = leverage(x, weight)
    slope = float(count @ y)
    chains = [e.per_chain for e in estimates]
    if len({len(c) for c in chains}) == 1 and len(chains[0]) >= 4:
        slopes = count @ (np.array(chains) * x[:, None])
        slopes = slopes[np.isfinite(slopes)]
        se = float(np.std(slopes, ddof=1) / math.sqrt(len(slopes))) if len(slopes) > 1 else math.nan
    else:
        se = float(np.linalg.norm(count * error))
    return TemperatureSlope(slope, se, float(at_zero @ y), x, y)


def reweight(
    trace: np.ndarray, n_beta: float, other: float, *, pool: bool = True, own_ess: float | None = None
) -> Reweighted:
    """λ̂ at nβ = other from draws at nβ = n_beta.

    trace: [T, C] nβ·ΔL after burn-in (rows of `Estimate.trace` from `burn_in` on). Each draw gets the weight
    exp(−(other − n_beta)·ΔL). pool: one normalisation over all chains, right when they share data; else one for each.
    own_ess: effective draws of the trace itself; None: all its rows. Standard error by leaving out one chain at a time
    (nan below two). Warns, and says in `reason`, when the weights leave fewer than 50 effective draws.
    Source: Watanabe 2013, section 4 (the mean at β2 as a ratio of means at β1).
    """
    n_beta, other = number("n_beta", n_beta), number("other", other)
    if min(n_beta, other) <= 0:
        raise ValueError(f"n_beta is {n_beta:g} and other {other:g}; both must be greater than 0.")
    trace = np.asarray(trace, dtype=float)
    if trace.ndim != 2 or trace.size == 0:
        raise ValueError(f"trace has shape {trace.shape}; give rows [steps, chains] after burn-in.")
    loss = trace[:, np.isfinite(trace).all(axis=0)] / n_beta
    if loss.shape[1] == 0:
        raise ValueError("trace has no chain that is finite throughout; leave out the burn-in and diverged chains.")
    log = -(other - n_beta) * loss
    log -= log.max() if pool else log.max(axis=0)
    weight = np.exp(log)
    total, weighted = weight.sum(axis=0), (weight * loss).sum(axis=0)
    per_chain = other * weighted / np.maximum(total, 1e-300)
    chains = len(total)
    if pool:
        llc = float(other * weighted.sum() / total.sum())
        rest = other * (weighted.sum() - weighted) / np.maximum(total.sum() - total, 1e-300)
        se = math.sqrt((chains - 1) * float(np.var(rest))) if chains > 1 else math.nan
        share = float(weight.sum() ** 2 / np.square(weight).sum() / weight.size)
    else:
        llc = float(per_chain.mean())
        se = float(np.std(per_chain, ddof=1) / math.sqrt(chains)) if chains > 1 else math.nan
        share = float(np.mean(total**2 / np.square(weight).sum(axis=0)) / len(weight))
    ess = share * (weight.size if own_ess is None or not math.isfinite(own_ess) else own_ess)
    reason = ""
    if ess < SMALLEST_ESS:
        reason = (
            f"Only {ess:.0f} effective draws are left at n_beta = {other:g} of a chain run at {n_beta:g}: "
            "the two are too far apart, so run at the new n_beta or at one between."
        )
        warnings.warn(reason, stacklevel=2)
    return Reweighted(llc, se, per_chain, other, ess, share, reason)


def reweighted(estimate: Estimate, n_beta: float, *, pool: bool = True) -> Reweighted:
    """`reweight` of an estimate's own trace after burn-in, with its own effective sample size."""
    kept = estimate.trace[estimate.trace_steps >= estimate.burn_in]
    return reweight(kept, estimate.n_beta, n_beta, pool=pool, own_ess=estimate.ess)
