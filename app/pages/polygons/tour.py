"""The guided tour of the page "Polygons"."""

from __future__ import annotations

from typing import Any

from app.pages.tours import MOVES, Numbers, Step, Tour, estimate_of, llc_moved
from app.style.numbers import with_error

VALUES = (9.0, 7.0, 5.0)


def _nearest(before: Numbers, now: Numbers, shown: bool) -> tuple[int, str]:
    came = min(range(len(VALUES)), key=lambda place: abs(VALUES[place] - now["llc"]))
    return came, f"λ̂ is {with_error(now['llc'], now['se'])}."


def _measured(view: Any) -> Numbers:
    """What λ̂ should read is known here within a percent, and is not called exact."""
    found = estimate_of(view)
    return {**found, "exact": found["llc"]} if found else found


TOUR = Tour(
    (
        Step(
            "Five of six features stand in a pentagon, and the sixth is left out. There are 18 weights.",
            "What do you expect: which value is λ̂ nearest to?",
            ("9, half of all weights", "7", "5, one for each corner"),
            _nearest,
            preset="pentagon",
        ),
        Step(
            "All six features get a place in a hexagon. Its loss is smaller.",
            "What do you expect of λ̂?",
            MOVES,
            llc_moved,
            preset="hexagon",
        ),
        Step(
            "The pentagon again, but the sixth feature answers with its mean. Now its weights can be seen.",
            "What do you expect of λ̂?",
            MOVES,
            llc_moved,
            preset="mean",
        ),
        Step(
            "Nine features, of which four are left out. There are 27 weights.",
            "What do you expect of λ̂?",
            MOVES,
            llc_moved,
            preset="left",
        ),
    ),
    _measured,
)
