"""Whether chains have spread along flat directions, where the measure of their law does not tell it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from llc_core.diagnostics import convergence as diagnostics
from llc_core.engine.above_minimum import can_be_asked
from llc_core.engine.law import LEAST_LOOKS, has_no_law, without_heat
from llc_core.engine.setup import Setup
from llc_core.observables.look import Group
from llc_core.observables.spread_count import SpreadCount
from llc_core.observables.term_sizes import TermSizes

MOST_LOOKS = 400
"""Looks cost two products of vectors each, and batches' noise wants many."""


class Spreading(NamedTuple):
    """unspread, se: how many directions the chains have not spread along as far as γ lets them, with its error.
    pull: the mean of γ‖w − w0‖². nan: not known."""

    unspread: float = math.nan
    se: float = math.nan
    pull: float = math.nan


def spread_count(setup: Setup) -> SpreadCount | None:
    """What counts them in a run whose law is not measured; None where ∇U is not what the chains follow, or exact answers tell."""
    if setup.sampler.needs_conditionals and can_be_asked(setup):
        return SpreadCount(TermSizes.every)  # for γ's share alone, at steps whose energy is looked at anyway
    if has_no_law(setup):
        return None
    # A step that is watched is not replayed on a GPU, so there it is one that is watched in any case.
    least = 1 if setup.like.device.type == "cpu" else TermSizes.every
    kept = setup.planned_steps - setup.adapting
    return SpreadCount(least * max(1, kept // (least * MOST_LOOKS)))


def spreading(count: SpreadCount | None, group: Group, heat: float, llc: float) -> Spreading:
    """What was counted of a group's chains.  heat, llc: as in `llc_core.engine.law.without_heat`."""
    if count is None:
        return Spreading()
    seen = count.seen(group)
    if len(seen.unspread) < LEAST_LOOKS or seen.unspread.size == 0 or not np.isfinite(seen.unspread).all():
        return Spreading()
    means = np.average(seen.unspread, axis=0, weights=seen.weights)
    chance = diagnostics.standard_error(means, seen.unspread, seen.weights)
    many, error = without_heat(float(means.mean()), chance, heat, llc)
    return Spreading(many, error, float(np.average(seen.pull, weights=seen.weights)))
