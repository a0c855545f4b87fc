"""The guided tour of the page "Decisions"."""

from __future__ import annotations

from typing import Any

from app.pages.tours import Numbers, Step, Tour

SIDES = ("The left one", "The right one", "Both alike")
TELLING = ("The draws", "The single net", "Both alike")
ALIKE = 0.002
"""AUROCs nearer than this are alike."""


def _measured(view: Any) -> Numbers:
    seen = view.state.snapshot
    if seen is None:
        return {}
    if view.config.plays:
        return {side: seen.players[side].own for side in ("left", "right")}
    return {} if seen.scores is None else {"draws": seen.scores.auroc, "one": view.panel.one.auroc}


def _loses_less(before: Numbers, now: Numbers, shown: bool) -> tuple[int, str]:
    left, right = now["left"], now["right"]
    came = 2 if left == right else 0 if left < right else 1
    return came, f"By its own decisions the left one lost {left:,.0f} and the right one {right:,.0f}, in this one play."


def _tells(before: Numbers, now: Numbers, shown: bool) -> tuple[int, str]:
    draws, one = now["draws"], now["one"]
    came = 2 if abs(draws - one) < ALIKE else 0 if draws > one else 1
    return (
        came,
        f"The draws spot the digit never shown in {draws:.1%} of pairs, the single net in {one:.1%}.",
    )


TOUR = Tour(
    (
        Step(
            "Both sides are nets that learn which mushrooms to eat. Left decides by the mean of its draws. "
            "Right decides by one draw, which explores.",
            "What do you expect: which one loses less?",
            SIDES,
            _loses_less,
            preset="explore",
            telling=True,
        ),
        Step(
            "Now a rule that no straight line can learn. Left: four nets. Right: linear regression.",
            "What do you expect: which one loses less?",
            SIDES,
            _loses_less,
            preset="exclusive",
            telling=True,
        ),
        Step(
            "Another question: a net has learned five of the ten digits. Draws around it may notice those that it never saw.",
            "What do you expect: who tells them better?",
            TELLING,
            _tells,
            preset="digits",
            telling=True,
        ),
        Step(
            "Now a spring ties every draw to the trained net.",
            "What do you expect: who tells the digits better?",
            TELLING,
            _tells,
            preset="stuck",
            telling=True,
        ),
        Step(
            "And now the draws are thirty times hotter: they wander far from the net.",
            "What do you expect: who tells the digits better?",
            TELLING,
            _tells,
            preset="hot",
            telling=True,
        ),
    ),
    _measured,
)
