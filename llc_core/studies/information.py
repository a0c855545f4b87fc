"""What a learning coefficient and a singular fluctuation say about losses: WBIC, WAIC and the four errors.

Notation: losses are means per sample in nats, L_n(w0) the training loss at w0, β = nβ/n. In expectation over data sets,
with λ the learning coefficient and ν = ν(β) the singular fluctuation at the same β (Watanabe 2009, ch. 6; 2010, "Equations
of states in singular statistical estimation", theorem 1; to order 1/n, at a realisable or regular w0):

    Bayes training       B_t = L(w0) + ((λ − ν)/β − ν)/n        Bayes generalisation   B_g = L(w0) + ((λ − ν)/β + ν)/n
    Gibbs training       G_t = L(w0) + (λ/β − ν)/n              Gibbs generalisation   G_g = L(w0) + (λ/β + ν)/n

At β = 1: B_g = L(w0) + λ/n and G_g = L(w0) + (λ + ν)/n. Since λ̂ = nβ·E(L_n(w) − L_n(w0)) and L_n(w0) → L(w0), the Gibbs
training line says that λ̂ is λ − βν on average: what fitting the noise takes away. `debiased` gives it back.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

from llc_core.fields import number
from llc_core.results import Estimate
from llc_core.theory import criteria


@dataclass(frozen=True)
class Losses:
    """Expected losses per sample, in nats."""

    bayes_training: float
    gibbs_training: float
    bayes_generalisation: float
    gibbs_generalisation: float


def generalisation(
    learning_coefficient: float, singular_fluctuation: float, n: float, beta: float = 1.0, loss: float = 0.0
) -> Losses:
    """The four expected losses from λ and ν(β); loss: L(w0), so that 0 gives the excess over it.

    The distribution is of first order in 1/n. λ is the same at every β; ν is not, unless the model is regular: a ν̂ measured at
    β = 1/log n belongs to the posterior at that β.
    """
    lam, nu = number("learning_coefficient", learning_coefficient), number("singular_fluctuation", singular_fluctuation)
    n, beta = number("n", n, above=0), number("beta", beta, above=0)
    return Losses(
        loss + ((lam - nu) / beta - nu) / n,
        loss + (lam / beta - nu) / n,
        loss + ((lam - nu) / beta + nu) / n,
        loss + (lam / beta + nu) / n,
    )


def wbic(estimate: Estimate) -> float:
    """WBIC = E^β[n·L_n(w)] at β = 1/log n, an estimate of the free energy −log Z: n·L_n(w0) + λ̂·log n.

    Its error is that of λ̂ times log n, beside the distribution's own O(√log n). Source: Watanabe 2013, definition 1 and theorem 4.
    """
    n, baseline = _baseline(estimate)
    if not criteria.is_of_wbic(estimate.n_beta, n):
        raise ValueError(
            f"n_beta is {estimate.n_beta:g}; WBIC is defined at n / log n = {n / math.log(n):g}, so run the estimate with "
            "n_beta=None."
        )
    return criteria.wbic(n, baseline, estimate.llc, estimate.n_beta)


def waic(estimate: Estimate) -> float:
    """WAIC = B_t + 2ν/n, an estimate of the Bayes generalisation loss at the estimate's own β, per sample.

    From λ̂ and ν̂: G_t = L_n(w0) + λ̂/(nβ) is measured, and B_t = G_t − ν/(nβ) holds to order 1/n. No distribution of λ is used.
    Source: Watanabe 2010, "Asymptotic equivalence of Bayes cross validation and WAIC", eqs. 6 and 7.
    """
    n, baseline = _baseline(estimate)
    nu = _fluctuation(estimate)
    return criteria.waic(n, baseline, estimate.llc, estimate.n_beta, nu)


def gibbs_generalisation(estimate: Estimate) -> float:
    """G_t + 2ν̂/n: the expected loss on new data of a network drawn from the posterior, per sample (Watanabe 2010)."""
    n, baseline = _baseline(estimate)
    return baseline + estimate.llc / estimate.n_beta + 2 * _fluctuation(estimate) / n


def debiased(estimate: Estimate) -> tuple[float, float]:
    """λ̂ + β·ν̂ and its standard error: an estimate of λ without the −βν of the training data, exact for regular models.

    The error counts both as independent, which is on the safe side or near it: the same chains make both.
    """
    nu, nu_se = _fluctuation(estimate), estimate.singular_fluctuation_se
    return criteria.debiased(estimate.n, estimate.llc, estimate.llc_se, estimate.n_beta, nu, nu_se)


def _baseline(estimate: Estimate) -> tuple[int, float]:
    if not isinstance(estimate, Estimate):
        raise ValueError(f"estimate must be an Estimate, not a {type(estimate).__name__}.")
    if not estimate.n or not math.isfinite(estimate.baseline_loss):
        raise ValueError("estimate does not know n and L_n(w0), so nothing can be said about losses; run it again.")
    if estimate.n < 3:
        raise ValueError(f"n is {estimate.n}; a loss per sample needs at least 3 samples.")
    if not estimate.converged:
        warnings.warn(f"The estimate itself is in doubt: {estimate.converged}", stacklevel=3)
    return estimate.n, estimate.baseline_loss


def _fluctuation(estimate: Estimate) -> float:
    if not math.isfinite(estimate.singular_fluctuation):
        raise ValueError("estimate has no singular fluctuation; run it with functional_variance=20, for example.")
    return estimate.singular_fluctuation
