"""The rests one after the other as a job of the run manager: chains at each, until all have been measured."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.pages.stages.config import StagesConfig
from app.pages.stages.scene import get_scene, problem, settings
from llc_core import Estimate, Run, RunConfig


@dataclass(frozen=True)
class StagesProgress:
    """steps: of each chain, over all rests.  at: the rest that is measured now.

    llc, llc_se: [K + 1] at each rest, nan before its first number; the spread of the chains as long as it is measured.
    estimates: of the rests that are done, in order.
    """

    steps: int
    total_steps: int
    at: int
    llc: np.ndarray
    llc_se: np.ndarray
    estimates: tuple[Estimate, ...]
    notes: tuple[str, ...] = ()


class StagesLog:
    """Nothing is streamed: a progress holds all of the staircase."""

    def since(self, cursor: int) -> tuple[int, tuple[()]]:
        return cursor, ()


class StagesJob:
    """Raises ValueError, in words for the visitor, for configurations that cannot be run."""

    def __init__(self, config: StagesConfig):
        self.config, self.scene = config, get_scene(config)
        count = len(self.scene)
        self._llc, self._se = np.full(count, math.nan), np.full(count, math.nan)
        self._estimates: list[Estimate] = []
        self._done = 0
        self.log = StagesLog()
        self._run = self._begin(0)

    def _begin(self, at: int) -> Run:
        made = problem(self.config, self.scene, self.scene[at])
        return Run(RunConfig(problem=made.to_dict(), **settings(self.config)), made)

    @property
    def finished(self) -> bool:
        return len(self._estimates) == len(self.scene)

    @property
    def total_steps(self) -> int:
        return len(self.scene) * self.config.steps

    def advance(self, steps: int) -> StagesProgress:
        """At most so many steps of the chains at one rest."""
        at = len(self._estimates)
        left = self.config.steps - self._run.steps_done
        seen = self._run.advance(min(steps, left))
        self._done = at * self.config.steps + self._run.steps_done
        running = seen.llc[np.isfinite(seen.llc)]
        if len(running) > 1:
            self._llc[at], self._se[at] = running.mean(), running.std(ddof=1) / len(running) ** 0.5
        if self._run.finished:
            found = self._run.estimates()[0]
            self._estimates.append(found)
            self._llc[at], self._se[at] = found.llc, found.llc_se
            self._done = (at + 1) * self.config.steps  # also where all chains have died before
            if not self.finished:
                self._run = self._begin(at + 1)
        return self.progress()

    def progress(self) -> StagesProgress:
        at = min(len(self._estimates), len(self.scene) - 1)
        return StagesProgress(
            self._done, self.total_steps, at, self._llc.copy(), self._se.copy(), tuple(self._estimates)
        )

    def judge(self) -> Any:
        """Each rest has its own estimate, see `StagesProgress`."""
        return None

    def record(self, snapshot: Any, estimate: Any) -> None:
        """There is no log, see `StagesLog`."""
