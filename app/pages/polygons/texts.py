"""The page in words and numbers."""

from __future__ import annotations

from app.estimates.texts import READOUTS
from app.pages.polygons.scene import named
from app.style.numbers import coefficient, number
from llc_core.potentials import Superposition

CELLS = [
    *READOUTS[:2],
    {
        "key": "truth",
        "label": "exact λ at w0",
        "tip": "Half of the weights that cannot move without a loss (Chen et al. 2023). λ̂ tends to it as n grows.",
    },
    *READOUTS[2:],
]
EXACT = [
    {"key": "local", "label": "λ of this polygon", "tip": "Half of all weights but the free ones."},
    {"key": "half", "label": "d/2", "tip": "What λ would be if every weight counted."},
    {"key": "free", "label": "free weights", "tip": "Directions along which the loss does not change at all."},
    {"key": "loss", "label": "loss at w0", "tip": "The mean squared error over all data, by a formula."},
]


def exact_values(problem: Superposition) -> dict[str, str]:
    """Values of EXACT."""
    exact = problem.local_learning_coefficient
    return {
        "local": coefficient(exact),
        "half": number(problem.dim / 2),
        "free": f"{problem.dim - round(2 * float(exact))} of {problem.dim}",
        "loss": number(problem.baseline_loss),
    }


def question(problem: Superposition, with_answers: bool) -> str:
    """The page in a sentence."""
    asked = f"{problem.features} features share two numbers. What does the {named(problem).lower()} cost?"
    if not with_answers:
        return f"{asked} It has {problem.dim} weights, and near it 2λ of them count."
    exact = float(problem.local_learning_coefficient)
    return f"{asked} {round(2 * exact)} of its {problem.dim} weights count: λ = {exact:g}."


def free_words(problem: Superposition) -> str:
    """What can move without a loss, for the card with the picture."""
    left = problem.features - problem.sides
    turn = "The polygon may turn: that costs nothing."
    if not left:
        return f"{turn} Nothing else is free."
    which = "the last feature" if left == 1 else f"the last {left} features"
    if problem.left_out == "mean":
        return f"{turn} Of {which} only the mean is seen, and it holds every weight."
    return f"{turn} Of {which} nothing is seen, so their weights wander (hollow dots)."
