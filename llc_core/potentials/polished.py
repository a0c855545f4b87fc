"""A w0 that was polished: the problem there, and what is said of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from torch import Tensor

from llc_core.potentials.base import Potential
from llc_core.types import Polish

FAR = 0.5
"""Share of its length by which a w0 that moves is another one."""
ELSEWHERE = 1.0
"""Share of its length, and of weights of typical size, by which a w0 that moves is at another place, whatever the loss."""
GROWN = 2.0
"""Times their length by which weights that go on growing are suspicious."""
STAYS = "w0 stays: it is a minimum already."
NEARLY = "w0 was as good as a minimum:"
FLAT = "w0 stays: the loss has no slope there, and it is a minimum."
CREEPS = "Farther out the loss falls by next to nothing, while the weights still grow."
CAME_BY = "The way came by a place without a slope, beside which the loss falls:"
SADDLE = "The loss has no slope at w0, which is no minimum all the same: from beside it the loss falls."


@dataclass(frozen=True, eq=False)
class Polished(Polish):
    """`Polish`, with the problem at the new w0, and δ [D] in float64 by which that differs from the former one.

    Where there is no minimum to find, w0 stays where it was.
    """

    problem: Potential
    delta: Tensor

    def __repr__(self) -> str:
        return self.sentence

    @property
    def record(self) -> Polish:
        """What an estimate keeps of it: numbers and words alone."""
        return Polish(**{each.name: getattr(self, each.name) for each in fields(Polish)})


def moved(distance: float, share: float, fall: float, llc: float, another: bool, elsewhere: bool) -> str:
    """share: distance as one of ‖w0‖, or nan.  llc: what the fall is worth in λ̂.  another: whether noise cannot explain that.
    elsewhere: whether w0 is far away although it can.
    """
    long = f"{100 * share:.3g}% of" if share <= 1 else f"{share:.3g} times"
    of = f" ({long} its length)" if math.isfinite(share) else ""
    said = f"w0 was moved by {distance:.3g}{of}, and the loss fell by {fall:.3g}, which adds {llc:.3g} to λ̂."
    if another:
        return f"{said} So far away it is another network than the one that was given."
    if elsewhere:
        return f"{said} The loss at w0 was nearly as low, and λ̂ speaks of the place so far away, not of the one that was given."
    return said


def flat_so_far(passes: int) -> str:
    return f"w0 stays: the loss has no slope there, and nothing lower was found near it in {passes:,} passes."


def not_asked(passes: int) -> str:
    return f"Whether the loss falls beside it was not asked to the end, since {passes:,} passes were used up:"


def endless(distance: float, before: float, after: float, form: bool) -> str:
    """before, after: the loss at w0 and so far away.  form: whether the loss is known to be one that can fall for ever."""
    remedy = "add weight decay to the loss, take a larger localization, or read λ̂ from two temperatures."
    seen = f"{distance:.3g} away from w0 the loss has fallen from {before:.3g} to {after:.3g} and still falls as the weights grow"
    if form:
        return f"There is no minimum to find: {seen}, as a cross entropy of separable classes does for ever. w0 stays; {remedy}"
    return f"No minimum was found: {seen}. w0 stays. If it falls for ever, as a cross entropy of separable classes does, {remedy}"


def unfinished(gain: float, passes: int | None, grown: bool, can_be_endless: bool) -> str:
    """gain: what λ̂ could still rise by, or infinity.  passes: that were used up; None: they were not.  grown: whether the
    weights have become much longer.  can_be_endless: whether the form of the loss allows that it falls for ever.
    """
    rest = f"another {gain:.2g} may be missing" if math.isfinite(gain) else "how much is missing is not known"
    if passes is None:
        return f"No lower point was found from there though the loss still has a slope, as at a kink; {rest}."
    said = f"That is no minimum yet: {passes:,} passes were used up, and {rest}; allow more of them."
    if not grown:
        return said
    if can_be_endless:
        return f"{said} If the loss falls for ever as the weights grow, there is none: add weight decay to it."
    return f"{said} Or polish again from there. Inputs of like size and little correlation may shorten the way."
