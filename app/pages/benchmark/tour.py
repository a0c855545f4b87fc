"""The guided tour of the page "Benchmark"."""

from __future__ import annotations

from typing import Any

from app.pages.benchmark.table import percent
from app.pages.benchmark.texts import best_row
from app.pages.tours import Numbers, Step, Tour
from llc_core.sweeps.series import CLOSE

MOVES = ("It grows", "It stays", "It shrinks")
ALIKE = 1.1
"""Two numbers of the same runs are alike where neither is this many times the other."""


def _measured(view: Any) -> Numbers:
    """Of the table that is shown: the least error, how many rows are right on average, and the share of runs that are right."""
    best = best_row(view.results.table)
    if best is None:
        return {}
    right = sum(abs(row.mean) <= CLOSE for row in view.results.table)
    return {"best": best.size, "close": right, "rows": len(view.results.table), "near": view.results.near}


def _moved(before: float, after: float) -> int:
    if max(before, after) <= ALIKE * min(before, after):
        return 1
    return 0 if after > before else 2


def _of_lambda(size: float) -> str:
    return f"{size:.0f} times λ" if size >= 10 else f"{percent(size)} of λ"


def _how_far(before: Numbers, now: Numbers, shown: bool) -> tuple[int, str]:
    best = now["best"]
    came = 0 if best < 0.1 else 1 if best < 1 else 2
    return came, (
        f"The least root mean square error of all is {_of_lambda(best)}. "
        f"{now['close']:.0f} of {now['rows']:.0f} rows of the table are within ±{CLOSE:.0%} on average."
    )


def _least(before: Numbers, now: Numbers, shown: bool) -> tuple[int, str]:
    was, is_now = _of_lambda(before["best"]), _of_lambda(now["best"])
    return _moved(before["best"], now["best"]), f"The least root mean square error was {was} and is {is_now}."


def _share(before: Numbers, now: Numbers, shown: bool) -> tuple[int, str]:
    was, is_now = percent(before["near"]), percent(now["near"])
    return _moved(before["near"], now["near"]), f"Of all runs {was} were within ±{CLOSE:.0%}, and {is_now} are now."


TOUR = Tour(
    (
        Step(
            "Random networks whose λ is known, and samplers with many step sizes. As printed, the loss at w0 is measured on one "
            "minibatch and the chains’ losses on others.",
            "What do you expect: how far off is the best sampler at its best step size?",
            ("Less than 10%", "Less than 100%", "More than 100%"),
            _how_far,
            preset="paper",
            telling=True,
        ),
        Step(
            "The same runs. Now the loss at w0 is taken on the same batch as the chain’s.",
            "What do you expect of the least error?",
            MOVES,
            _least,
            preset="baseline",
            telling=True,
        ),
        Step(
            "Now the runs whose gradients come from all data, so that no minibatch adds noise.",
            "What do you expect of the least error?",
            MOVES,
            _least,
            preset="full",
            telling=True,
        ),
        Step(
            "The same runs, now judged by the local λ at w0. Before, it was what λ̂ should be with these data.",
            "What do you expect of the share of runs that are right?",
            MOVES,
            _share,
            change={"truth": "local"},
            telling=True,
        ),
        Step(
            "Two samplers carry a momentum over long ways, HMC and underdamped Langevin. Both are left out.",
            "What do you expect of the least error?",
            MOVES,
            _least,
            change={"hidden": ["HMC", "UnderdampedLangevin"]},
            telling=True,
        ),
    ),
    _measured,
)
