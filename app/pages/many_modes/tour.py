"""The guided tour of the page "Many modes"."""

from __future__ import annotations

from typing import Any

from app.pages.many_modes.texts import at_least, median, small
from app.pages.tours import Numbers, Step, Tour

SIDES = ("The left one", "The right one", "They are equally near")
QUESTION = "What do you expect: which side ends nearer to the exact masses?"


def _measured(view: Any) -> Numbers:
    seen = view.state.snapshot
    if seen is None:
        return {}
    kls = {side: seen.side(side).kl for side in ("left", "right")}
    return {**{side: median(kl) for side, kl in kls.items()}, "factor": at_least(kls["left"], kls["right"])}


def _nearer(before: Numbers, now: Numbers, shown: bool) -> tuple[int, str]:
    left, right, factor = now["left"], now["right"], now["factor"]
    came = 2 if factor <= 1 else 0 if left < right else 1
    sure = "the trials show no difference" if factor <= 1 else f"that is a factor of {factor:.1f} at least"
    return (
        came,
        f"The median KL from the exact masses is {small(left)} on the left and {small(right)} on the right: {sure}.",
    )


TOUR = Tour(
    (
        Step(
            "Left: contour sampling, which flattens the energy. Right: replica exchange, which borrows heat from hotter copies.",
            QUESTION,
            SIDES,
            _nearer,
            preset="modes",
            telling=True,
        ),
        Step(
            "Replica exchange on both sides: the hottest copy has temperature 3 on the left, 12 on the right.",
            QUESTION,
            SIDES,
            _nearer,
            preset="hotter",
            telling=True,
        ),
        Step(
            "The same ladder twice. Left: copies may swap at every 20th step. Right: at each.",
            QUESTION,
            SIDES,
            _nearer,
            preset="seldom",
            telling=True,
        ),
        Step(
            "Left: one chain whose steps grow and shrink in cycles. Right: five plain chains, as many gradients in all.",
            QUESTION,
            SIDES,
            _nearer,
            preset="cyclical",
            telling=True,
        ),
    ),
    _measured,
)
