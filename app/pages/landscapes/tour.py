"""The guided tour of the page "Landscapes"."""

from __future__ import annotations

from app.pages.tours import MOVES, Numbers, Step, Tour, estimate_of, exactly, llc_moved
from app.style.numbers import with_error

VALUES = (1.0, 0.5, 0.0)


def _nearest(before: Numbers, now: Numbers, shown: bool) -> tuple[int, str]:
    came = min(range(len(VALUES)), key=lambda place: abs(VALUES[place] - now["llc"]))
    return came, f"λ̂ is {with_error(now['llc'], now['se'])}{exactly(now, shown)}."


TOUR = Tour(
    (
        Step(
            "Two parameters, and one best point that is curved both ways.",
            "What do you expect: which value is λ̂ nearest to?",
            ("1, half of both parameters", "½, half of one", "0"),
            _nearest,
            preset="regular",
        ),
        Step(
            "Now the loss is 0 along a whole line: moving along it costs nothing.",
            "What do you expect of λ̂?",
            MOVES,
            llc_moved,
            preset="line",
        ),
        Step(
            "A second such line crosses the first. Where they meet, the chains find still more room.",
            "What do you expect of λ̂?",
            MOVES,
            llc_moved,
            preset="crossing",
        ),
        Step(
            "The same crossing, but all chains begin at (2, 2), far from the valleys.",
            "What do you expect of λ̂?",
            MOVES,
            llc_moved,
            preset="away",
        ),
        Step(
            "One of the two valleys becomes flatter: the loss grows with the fourth power across it.",
            "What do you expect of λ̂?",
            MOVES,
            llc_moved,
            preset="square",
        ),
    ),
    estimate_of,
)
