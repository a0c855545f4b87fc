"""A run of the engine that estimates a learning coefficient, as a job of the run manager."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from app.runs.history import History
from app.runs.polishing import polished
from llc_core import Estimate, Potential, Run, RunConfig, Snapshot
from llc_core.engine.resolve import Resolved
from llc_core.engine.stepping.dissection import StepParts

LARGEST_DRAWN = 3_000
"""Exact draws that confirm an estimate hold up the runs of other visitors: those of so many parameters take about a second."""


DRAWN = 400
"""The first chain's weights are kept for a drawing where there are so few, if a page does not ask for more."""


class LlcJob:
    """Steps a `llc_core.Run`; its log is a `History`."""

    def __init__(self, config: RunConfig | Resolved, problem: Potential | None = None, drawn: int = DRAWN):
        """drawn: the first chain's weights are kept where there are at most so many."""
        self._run = Run(polished(config) if isinstance(config, Resolved) else config, problem)
        self._few = self._run.problem.dim <= drawn
        self.log = History(self._run.config.chains, self._run.total_steps)

    @property
    def finished(self) -> bool:
        return self._run.finished

    @property
    def displacements(self) -> np.ndarray:
        """w − w0 of every chain now, [C, D]."""
        return self._run.displacements

    @property
    def keeps_momentum(self) -> bool:
        return "momentum" in self._run.state

    def advance(self, steps: int, look: Callable[[np.ndarray], None] | None = None, every: int = 1) -> Snapshot:
        """look: gets `displacements` after every `every` steps."""
        return self._run.advance(steps, look, every)

    def dissect(self) -> tuple[Snapshot, StepParts | None]:
        """One step, and what it was made of."""
        return self._run.dissect()

    def go_on(self) -> None:
        """For as many steps as it has; the run is finished."""
        self._run.go_on()
        self.log.go_on(self._run.total_steps, self._run.burn_in)

    def judge(self) -> Estimate:
        found = self._run.estimates(LARGEST_DRAWN)[0]
        self.log.judged(found.steps, found.llc_se)
        return found

    def record(self, snapshot: Snapshot, estimate: Estimate | None) -> None:
        if self._few:
            self.log.place = np.array(self.displacements[0], dtype=float)
        self.log.add(snapshot, estimate.llc_se if estimate is not None else math.nan)
