"""The guided tour of the page "Local geometry"."""

from __future__ import annotations

from collections.abc import Callable

from app.pages.tours import MOVES, Numbers, Step, Tour, estimate_of, exactly, llc_moved
from app.style.numbers import number, with_error


def _below_half(count: int) -> Callable[[Numbers, Numbers, bool], tuple[int, str]]:
    """Where λ̂ lies to half the number of parameters: options below, about, above."""

    def outcome(before: Numbers, now: Numbers, told: bool) -> tuple[int, str]:
        half, room = count / 2, max(3 * now["se"], 0.05 * count / 2)
        came = 1 if abs(now["llc"] - half) <= room else 0 if now["llc"] < half else 2
        found = with_error(now["llc"], now["se"])
        like = number(2 * now["llc"], 2)
        words = f"λ̂ is {found}: the network uses about {like} of its {count} weights{exactly(now, told)}."
        return came, words

    return outcome


def _error_bar(before: Numbers, now: Numbers, told: bool) -> tuple[int, str]:
    ratio = now["se"] / before["se"]
    came = 0 if ratio > 1.25 else 2 if ratio < 0.8 else 1
    return (
        came,
        f"The standard error was {number(before['se'], 2)} and is {number(now['se'], 2)}, {ratio:.1f} times as large.",
    )


def _agree(before: Numbers, now: Numbers, told: bool) -> tuple[int, str]:
    came = 0 if now["r_hat"] < 1.05 else 1
    found = with_error(now["llc"], now["se"])
    return came, f"R-hat is {now['r_hat']:.3f} (they agree below 1.05), and λ̂ reads {found}{exactly(now, told)}."


def _spring(before: Numbers, now: Numbers, told: bool) -> tuple[int, str]:
    """What λ̂ should be is known for a weak spring only."""
    came, words = llc_moved(before, now, False)
    weak = f" With a weak spring {number(now['exact'])} is exact at this n." if told else ""
    return came, words + weak


HALF = ("Below half", "About half", "Above half")
TOUR = Tour(
    (
        Step(
            "The small network has 24 weights. Were each of them needed, λ would be half of that, 12.",
            "What do you expect: where does λ̂ end, against 12?",
            HALF,
            _below_half(24),
            preset="tiny",
        ),
        Step(
            "Now the chains take an eighth of the steps. Nothing else changes.",
            "What do you expect of the standard error?",
            ("It grows", "It stays", "It shrinks"),
            _error_bar,
            change={"steps": 1_000},
        ),
        Step(
            "γ is a spring that ties the chains to w0. It becomes ten million times stronger.",
            "What do you expect of λ̂?",
            MOVES,
            _spring,
            change={"localization": 1e7},
        ),
        Step(
            "A network of one layer is ordinary linear regression: 48 weights, one best point.",
            "What do you expect: where does λ̂ end, against 24?",
            HALF,
            _below_half(48),
            preset="regular",
        ),
        Step(
            "A network of two layers. The step is ten thousand times smaller than it could be, so the chains "
            "hardly leave w0.",
            "What do you expect: will the chains agree with one another?",
            ("Yes", "No"),
            _agree,
            preset="small",
        ),
    ),
    estimate_of,
)
