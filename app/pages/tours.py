"""A guided tour of a page: steps that change one thing each. The visitor predicts first; then the measured numbers say what came out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.runs.job import OVER, State, Status
from app.style.numbers import number, with_error

Numbers = Mapping[str, float]


@dataclass(frozen=True)
class Step:
    """One step of a tour.

    words: what is done, and whatever must be known for a guess.  question: "What do you expect: …?".  options: two or three answers.
    preset: a tile that is pressed.  change: or fields of the page's configuration that are changed, see `PageView.configuration`.
    outcome: of the numbers before the change and after it (`Tour.measured`; none before the first step), and whether exact values may
    be named: the place of the option that came true, and one plain sentence with the numbers. It is called where all numbers are there.
    telling: whether the outcome itself is an exact answer: where answers are hidden, it is said once they are revealed.
    """

    words: str
    question: str
    options: Sequence[str]
    outcome: Callable[[Numbers, Numbers, bool], tuple[int, str]]
    preset: str = ""
    change: Mapping[str, Any] = field(default_factory=dict)
    telling: bool = False


@dataclass(frozen=True)
class Tour:
    """measured: the numbers of a page whose run is over; nan where the run gave none."""

    steps: Sequence[Step]
    measured: Callable[[Any], Numbers]


def is_over(state: State) -> bool:
    """Whether a run has come to its end."""
    return state.status in OVER


def known(numbers: Numbers) -> bool:
    """Whether there is something to compare."""
    return bool(numbers) and all(math.isfinite(value) for value in numbers.values())


MOVES = ("It rises", "It stays", "It falls")
"""Options of a step whose outcome is `llc_moved`."""


def estimate_of(view: Any) -> Numbers:
    """Of a page that estimates λ: λ̂, its standard error, what it should be where that is known (else λ̂ itself), and R-hat."""
    found = view.state.estimate
    if view.state.status is not Status.FINISHED or found is None:
        return {}
    exact = view.reference if view.reference is not None else found.expected
    return {
        "llc": found.llc,
        "se": found.llc_se,
        "exact": found.llc if exact is None or not math.isfinite(exact) else exact,
        "r_hat": found.r_hat if math.isfinite(found.r_hat) else 1.0,
    }


def went(before: float, after: float, error: float) -> int:
    """0: it rose, 1: it stayed within three standard errors, 2: it fell."""
    if abs(after - before) <= 3 * error:
        return 1
    return 0 if after > before else 2


def llc_moved(before: Numbers, now: Numbers, shown: bool) -> tuple[int, str]:
    """Whether λ̂ rose, stayed or fell, of `MOVES`, in a sentence with both values."""
    was, is_now = with_error(before["llc"], before["se"]), with_error(now["llc"], now["se"])
    came = went(before["llc"], now["llc"], math.hypot(before["se"], now["se"]))
    apart = " (no further apart than three standard errors)" if came == 1 else ""
    return came, f"λ̂ was {was} and is {is_now}{apart}{exactly(now, shown)}.".replace("-", "−")


def exactly(now: Numbers, shown: bool) -> str:
    """What λ̂ should be, for the end of a sentence; empty where it is hidden or not known."""
    return f"; exact at this n: {number(now['exact'])}" if shown and now["exact"] != now["llc"] else ""
