"""WBIC, WAIC and λ̂ without what fitting the noise takes from it, from the numbers of one estimate.

Notation as in `llc_core.studies.information`, which has the distributions and their sources.
"""

from __future__ import annotations

import math

SAME = 1e-3
"""nβ and n/log n count as equal within this share."""


def is_of_wbic(n_beta: float, n: int) -> bool:
    """Whether nβ is n / log n, at which WBIC is defined."""
    return n >= 3 and abs(n_beta * math.log(n) / n - 1) <= SAME


def wbic(n: int, baseline: float, llc: float, n_beta: float) -> float:
    """n·L_n(w0) + λ̂/β."""
    return n * baseline + llc * n / n_beta


def waic(n: int, baseline: float, llc: float, n_beta: float, nu: float) -> float:
    """B_t + 2ν̂/n, where B_t = L_n(w0) + (λ̂ − ν̂)/nβ."""
    return baseline + (llc - nu) / n_beta + 2 * nu / n


def debiased(n: int, llc: float, llc_se: float, n_beta: float, nu: float, nu_se: float) -> tuple[float, float]:
    """λ̂ + βν̂ and its standard error."""
    beta = n_beta / n
    return llc + beta * nu, math.hypot(llc_se, beta * nu_se)
