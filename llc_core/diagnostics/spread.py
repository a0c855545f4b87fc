"""Whether the chains have spread along flat directions as far as γ lets them: where they have not, λ̂ is that of a smaller place."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from llc_core.diagnostics.causes import weighed
from llc_core.diagnostics.evidence import Evidence
from llc_core.diagnostics.remedies import FAST, MIXING, remedy
from llc_core.samplers.registry import samplers
from llc_core.verdicts import Fault, Kind

TOLERANCE = 0.05
"""What chains have not seen may be worth this share of the answer."""
SEEN = 2
"""A count below so many of its errors may be chance."""
WORTH = 0.5
"""No direction adds more than this to λ (Watanabe 2009, theorem 7.2: λ ≤ D/2)."""
STEPS_HELP = 16
"""Where γ‖w − w0‖² would have to grow by more than this factor, a longer run of the same chains does not get there."""
WIDER = 3
"""γ is raised so far that chains which spread by diffusion reach this multiple of what it then lets them."""


def unspread(e: Evidence) -> Fault | None:
    """Directions that have not been spread along, where they could be worth more than is allowed.

    Along a direction that is flat at w0 the loss need not stay flat: as chains spread λ̂ may rise, by no more than ½ for each. That
    it does is not known, so this is a doubt.
    """
    if not has_not_spread(e) or _worth(e) <= TOLERANCE * (e.llc + _worth(e)):
        return None
    if e.localization == 0:
        return Kind.HELD_BY_NOTHING.fault(unspread=e.unspread, parameters=e.parameters)
    times = e.unspread / e.pull if e.pull > 0 else math.inf
    fault = Kind.UNSPREAD.fault(_change(e, times), told=told(e), help=_remedy(e, times))
    return replace(fault, wants_steps=times < STEPS_HELP)


def _worth(e: Evidence) -> float:
    """By how much λ̂ may be too low: what the directions may add, and what other causes take from it."""
    known = weighed(e)
    return WORTH * e.unspread + (max(-known[0], 0.0) if known else 0.0)


def _is_fast(e: Evidence) -> bool:
    return e.sampler is not None and e.sampler.name == FAST


def has_not_spread(e: Evidence) -> bool:
    """Whether the count of such directions stands out of its error."""
    return bool(e.parameters) and math.isfinite(e.unspread_se) and e.unspread > max(SEEN * e.unspread_se, WORTH)


def without_idle(e: Evidence, many: int, unspread: float, unspread_se: float) -> Evidence:
    """The same for directions other than the `many` that the loss does not depend on where the chains are.

    unspread, unspread_se: how many of the others the chains have not spread along. If that stands out of its error, the loss may
    depend on the idle ones where the chains have not been, and all of them count.
    """
    left = replace(e, unspread=unspread, unspread_se=unspread_se, idle=many)
    return left if many and math.isfinite(unspread_se) and not has_not_spread(left) else e


def told(e: Evidence) -> str:
    return (
        f"The chains have not spread along about {e.unspread:.0f} of {e.parameters:,} directions as far as γ (localization) lets "
        "them"
    )


def _remedy(e: Evidence, times: float) -> str:
    faster = remedy(MIXING, e.sampler).sentence
    if not math.isfinite(times):
        return faster
    smaller = f"sk about the place that they reach, by a larger γ, such as {_larger(e, times):g}."
    if times < STEPS_HELP:
        return f"{faster} Or a{smaller}"
    name = samplers()[FAST].label
    if _is_fast(e):
        return f"A{smaller}"
    return f"Use a sampler that moves faster ({name}). Or a{smaller}"


def _change(e: Evidence, times: float) -> dict[str, Any]:
    """The setting that a click changes, where steps do not help: a faster sampler answers the same question, so it comes first."""
    if times < STEPS_HELP:
        return {}
    if not _is_fast(e):
        return {"sampler": FAST}
    return {"localization": _larger(e, times)} if math.isfinite(times) else {}


def _larger(e: Evidence, times: float) -> float:
    """γ of about the place that the chains reach, in two digits."""
    return float(f"{max(WIDER * times, 2) * e.localization:.2g}")
