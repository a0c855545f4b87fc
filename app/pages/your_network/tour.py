"""The guided tour of the page "Your network"."""

from __future__ import annotations

from app.pages.tours import MOVES, Numbers, Step, Tour, estimate_of, llc_moved
from app.style.numbers import number, with_error

WEIGHTS = 2_410
"""Of the network "small"."""


def _share(before: Numbers, now: Numbers, shown: bool) -> tuple[int, str]:
    share = 2 * now["llc"] / WEIGHTS
    came = 0 if share < 0.1 else 1 if share < 0.6 else 2
    found = with_error(now["llc"], now["se"])
    return (
        came,
        f"λ̂ is {found}: the network uses about {number(2 * now['llc'], 2)} of its {WEIGHTS:,} weights, {share:.1%}.",
    )


def _sign(before: Numbers, now: Numbers, shown: bool) -> tuple[int, str]:
    came = 1 if abs(now["llc"]) <= 3 * now["se"] else 0 if now["llc"] > 0 else 2
    found = with_error(now["llc"], now["se"]).replace("-", "−")
    return came, f"λ̂ is {found}; below 0 it says that w0 is no minimum."


TOUR = Tour(
    (
        Step(
            "A network of 2,410 weights has learned to read digits. Its λ̂ says how many of them it really uses.",
            "What do you expect: how many parameters does it behave like?",
            ("Under a tenth of them", "About half", "Nearly all"),
            _share,
            preset="trained",
        ),
        Step(
            "The same network after 100 steps of training, when it was not yet at its best.",
            "What do you expect of λ̂?",
            MOVES,
            llc_moved,
            preset="halfway",
        ),
        Step(
            "A deeper network that has learned. Only its last layer may move, the rest is frozen.",
            "What do you expect of λ̂, against the one before?",
            MOVES,
            llc_moved,
            preset="layer",
        ),
        Step(
            "The network before any training. Nearby the loss is lower than where it stands.",
            "What do you expect: what sign has λ̂?",
            ("Above 0", "About 0", "Below 0"),
            _sign,
            preset="start",
        ),
    ),
    estimate_of,
)
