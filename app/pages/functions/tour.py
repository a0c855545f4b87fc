"""The guided tour of the page "Weights and functions"."""

from __future__ import annotations

from typing import Any

from app.pages.tours import Numbers, Step, Tour

AGREE = 1.05
"""R-hat below which chains agree."""
BOTH = ("Only the function", "Both", "Neither")


def _measured(view: Any) -> Numbers:
    found = view.state.estimate
    return {} if found is None else {"weights": found.gauges.weights, "functions": found.gauges.functions}


def _who(before: Numbers, now: Numbers, shown: bool) -> tuple[int, str]:
    weights, functions = now["weights"], now["functions"]
    came = 2 if functions >= AGREE else 1 if weights < AGREE else 0
    return came, (
        f"R-hat of the function is {functions:.2f}, of single weights {weights:.2f} in the median (chains agree below {AGREE})."
    )


TOUR = Tour(
    (
        Step(
            "Thirty-two networks learn one curve. Different weights can give the same curve.",
            "What do you expect: on what will the chains agree at the end?",
            BOTH,
            _who,
            preset="same",
        ),
        Step(
            "The sampler of the paper, with the step that it prints, for 3,000 iterations.",
            "What do you expect: on what will its chains agree?",
            BOTH,
            _who,
            preset="paper",
        ),
        Step(
            "A torus: the chains begin in 201 cells that give the same functions. Hardly any chain crosses to "
            "another cell.",
            "What do you expect: on what will the chains agree?",
            BOTH,
            _who,
            preset="torus",
        ),
        Step(
            "A network without nonlinearity: twelve weights, of which the function needs four numbers.",
            "What do you expect: on what will the chains agree?",
            BOTH,
            _who,
            preset="linear",
        ),
    ),
    _measured,
)
