"""The guided tour of the page "Stationary bias"."""

from __future__ import annotations

from typing import Any

from app.pages.tours import Numbers, Step, Tour

SIDES = ("The left one", "The right one", "Both alike")


def _measured(view: Any) -> Numbers:
    found = view.state.estimate
    if found is None:
        return {}
    sides = {"left": found.left, "right": found.right}
    return {
        **{side: each.to_target for side, each in sides.items()},
        **{f"{side}_second": each.second for side, each in sides.items()},
        "chance": max(each.floor for each in sides.values()),
    }


def _nearer(before: Numbers, now: Numbers, shown: bool) -> tuple[int, str]:
    left, right = now["left"], now["right"]
    alike = abs(left - right) <= 3 * now["chance"]
    came = 2 if alike else 0 if left < right else 1
    return (
        came,
        f"The left histogram is {left:.3f} from the target, the right one {right:.3f} (0 the same, 1 nothing in common).",
    )


def _wider(before: Numbers, now: Numbers, shown: bool) -> tuple[int, str]:
    left, right = now["left_second"], now["right_second"]
    came = 1 if abs(left / right - 1) < 0.05 else 0 if left > right else 2
    return came, f"The mean of x² is {left:.2f} on the left and {right:.2f} on the right."


TOUR = Tour(
    (
        Step(
            "Left: PSGLD as it was published. Right: the same with its whole correction term Γ.",
            "What do you expect: which histogram ends nearer to the orange line?",
            SIDES,
            _nearer,
            preset="hole",
        ),
        Step(
            "Now on the right the metric stops adapting after burn-in, which costs nothing.",
            "What do you expect: which one ends nearer?",
            SIDES,
            _nearer,
            preset="frozen",
        ),
        Step(
            "Left: Monge steps, short where the slope is steep. Right: plain SGLD.",
            "What do you expect of the left histogram?",
            ("It is wider", "It is as wide", "It is narrower"),
            _wider,
            preset="monge",
        ),
        Step(
            "Left: Adam's direction is added to the drift, and the noise stays as it was. Right: plain SGLD.",
            "What do you expect of the left histogram?",
            ("It is wider", "It is as wide", "It is narrower"),
            _wider,
            preset="adam",
        ),
    ),
    _measured,
)
