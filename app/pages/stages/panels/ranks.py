"""Two layers of two units by the ranks of both: what λ is at each point of a fibre, said and measured where a cell is pressed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from app.components.cells import Cells, cell
from app.runs.job import Job, State
from app.runs.manager import background
from app.runs.tasks import TaskJob
from app.session.job_panel import JobPanel
from app.style.numbers import number, with_error
from llc_core import DeepLinearNetwork, Estimate, LearningCoefficient, estimate, learning_coefficient

UNITS = 2
WIDTHS = (UNITS, UNITS, UNITS)
LOCALIZATION = 30.0
"""At γ = 1 chains that begin at ranks (2, 0) walk as far as (1, 1), and read the λ from there."""
SETTINGS: dict[str, Any] = {"chains": 8, "steps": 500, "burn_in": 0.2, "localization": LOCALIZATION, "seed": 0}
TITLE = "Two layers of two units"
WORDS = (
    "Local is not global. The product BA of two 2 × 2 layers can be the same with other ranks of A and B. "
    "All such pairs are its fibre, and λ depends on the ranks. Bold: it is above the least λ of that product. Press a cell to go there."
)
INVITATION = "Chains will begin at the cell that you press."
MEETING = {
    (
        0,
        0,
        0,
    ): "Three sheets of the fibre meet here. B = 0 and A = 0 have dimension 4, and pairs of rank 1 have dimension 5.",
    (1, 0, 0): "Two sheets of the fibre meet here: B = 0 of dimension 4, and pairs of rank 1 of dimension 5.",
    (0, 1, 0): "Two sheets of the fibre meet here: A = 0 of dimension 4, and pairs of rank 1 of dimension 5.",
    (
        1,
        1,
        1,
    ): "Two sheets of dimension 4 cross here: on one A has rank 2, on the other one B. The crossing makes m = 2.",
}
"""Points at which the fibre is no smooth sheet."""


@dataclass(frozen=True)
class Point:
    """Ranks of A, of B and of BA, and the exact λ and m there; least: of any point with a product of this rank."""

    a: int
    b: int
    product: int
    found: LearningCoefficient
    least: Fraction

    @property
    def weights(self) -> list[np.ndarray]:
        """A and B of these ranks, with ones and zeros."""
        kept = [k < self.product for k in range(UNITS)]
        apart = [UNITS - 1 - k < self.b - self.product for k in range(UNITS)]
        both = np.array(kept, float) + np.array(apart, float)
        return [np.diag([float(k < self.a) for k in range(UNITS)]), np.diag(both)]

    @property
    def leaving(self) -> int:
        """Directions of the eight in which the product changes at first order: the rank of its derivative."""
        return UNITS * (self.a + self.b) - self.a * self.b

    @property
    def problem(self) -> DeepLinearNetwork:
        return DeepLinearNetwork(self.weights)

    @property
    def fibre(self) -> str:
        """One sentence on all A and B of the same product, near this point."""
        if (self.a, self.b, self.product) in MEETING:
            return MEETING[self.a, self.b, self.product]
        flat = UNITS * sum(WIDTHS[1:]) - self.leaving
        return f"The fibre is a smooth sheet of dimension {flat} here. {self.leaving} directions leave it, and each counts ½."


def points() -> list[Point]:
    """Row by row of A's rank, then by B's, then by that of the product."""
    from llc_core import local_learning_coefficient

    made = []
    for a in range(UNITS + 1):
        for b in range(UNITS + 1):
            for rank in range(max(0, a + b - UNITS), min(a, b) + 1):
                found = local_learning_coefficient(list(WIDTHS), [[2, a, rank], [0, 2, b], [0, 0, 2]])
                made.append(Point(a, b, rank, found, learning_coefficient(list(WIDTHS), rank).value))
    return made


def described(point: Point) -> str:
    """What the point is. The fibre: all A and B with the same product."""
    above = "" if point.found.value == point.least else f" The least λ of this product is {point.least}."
    return (
        f"Rank A = {point.a}, rank B = {point.b}, rank BA = {point.product}: "
        f"λ = {point.found.value}, m = {point.found.multiplicity}.{above} {point.fibre}"
    )


class RanksPanel(JobPanel):
    """go: called with the ranks of the pressed cell; says whether the page's marker went there."""

    stopped = ""

    def __init__(self, go: Callable[[Point], bool]) -> None:
        super().__init__("", INVITATION, runs=background)
        self._go, self._points = go, points()
        self.found: Estimate | None = None
        rows = [
            [[_cell(point) for point in self._points if (point.a, point.b) == (a, b)] for b in range(UNITS + 1)]
            for a in range(UNITS + 1)
        ]
        self.table = Cells(
            title=TITLE,
            words=WORDS,
            rows=[f"rank A = {a}" for a in range(UNITS + 1)],
            columns=[f"rank B = {b}" for b in range(UNITS + 1)],
            cells=rows,
            sizing_mode="stretch_width",
            margin=0,
        )
        self.table.listener = self._on_cell

    def begin(self) -> Callable[[], Job]:
        self.found = None
        self.say("Chains begin here.")
        return partial(_job, self._points[self.table.chosen])

    def receive(self, state: State, items: list[Estimate]) -> None:
        if items:
            self.found = items[-1]
            self.say(measured(self.found))

    def _on_cell(self, place: int) -> None:
        point = self._points[place]
        there = " The marker of the training stands at this point now." if self._go(point) else ""
        self.table.said = described(point) + there
        self.stop()
        self._on_button(None)


def measured(found: Estimate) -> str:
    """What the chains read, beside what they should."""
    if not found.converged:
        return f"Not trusted: {found.converged.reason}"
    reads = found.expected
    expected = "" if reads is None else f", where {number(reads, 3)} is expected at this n"
    return f"Chains that begin here read λ̂ = {with_error(found.llc, found.llc_se)}{expected}. γ = {LOCALIZATION:g} holds them near."


def _job(point: Point) -> TaskJob:
    """In a thread of the run manager."""
    return TaskJob([lambda: estimate(point.problem, "Gibbs", progress=False, **SETTINGS)])


def _cell(point: Point) -> dict[str, Any]:
    raised = point.found.value > point.least
    name = f"rank A {point.a}, rank B {point.b}, rank BA {point.product}: λ {point.found.value}, m {point.found.multiplicity}"
    label = f"{point.found.value} (m = {point.found.multiplicity})"
    return cell(f"{label}, least {point.least}" if raised else label, name, raised)
