"""Which cause is likely behind an error of λ̂ that an answer shows, from what is known of the run."""

from __future__ import annotations

import math

from llc_core.diagnostics.causes import cause_of_law, law_is_known
from llc_core.diagnostics.evidence import Evidence
from llc_core.diagnostics.remedies import HELD, LAW, MIXING, NOISE, STEP, Remedy, remedy
from llc_core.samplers.base import MetropolisSampler

NEAR_LIMIT = 0.5
"""From this share of the stability limit on, what is expected of the step to first order is too little."""


def cause_of(e: Evidence, off: float, of_a_formula: bool = False) -> str:
    """The cause that what is known of a run makes likely, where λ̂ is `off` (λ̂ / truth − 1) from what it should be.

    It must explain at least half of the error. of_a_formula: whether the truth is one for large n, which may itself be off.
    """
    wanted = abs(off) / (1 + off) / 2 * e.llc if off > -1 else math.inf
    known = law_is_known(e)
    if known and e.law_bias * off > 0 and abs(e.law_bias) >= wanted:
        return cause_of_law(e)
    if not (known or e.exact_law):
        return LAW
    if off > 0 and not known and _has_step(e):
        if max(e.noise_inflation, e.step_bias) >= wanted:
            return NOISE if e.noise_inflation > e.step_bias else STEP
        if not of_a_formula or e.step_size > NEAR_LIMIT * e.stable_step:
            return STEP
    return HELD if of_a_formula else MIXING


def _has_step(e: Evidence) -> bool:
    """Whether a step size can be what is wrong: no test accepts or refuses its steps, and there is one."""
    exact = isinstance(e.sampler, MetropolisSampler) or (e.sampler is not None and e.sampler.needs_conditionals)
    return not exact and math.isnan(e.acceptance)


def remedy_of(e: Evidence, cause: str, off: float) -> Remedy:
    """What helps against this cause of an error `off` (λ̂ / truth − 1)."""
    return remedy(cause, e.sampler, e.step_size, off / (1 + off) if off > -1 else math.nan)
