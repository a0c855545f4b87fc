"""A run on a landscape as a job of the run manager: what every run has, and where the chains are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.runs.history import Cursor, History, NewRows
from app.runs.llc_job import LlcJob
from llc_core import Planar, Snapshot
from llc_core.engine.resolve import Resolved
from llc_core.samplers import MetropolisSampler

TRAIL = 200
"""Points of each chain's trail."""
SHOWN = 16
"""Chains whose trails are drawn."""
TURNS = 3000
"""Positions recorded in a whole run."""


@dataclass(frozen=True)
class TrailCursor:
    """How far a reader has got in the tables and in the trails."""

    rows: Cursor = Cursor()
    trail: int = 0


@dataclass(frozen=True)
class OneStep:
    """The latest step of the first chain, where it was done by itself.

    start: w before it.  drift, noise: as in `llc_core.engine.stepping.dissection.StepParts`.  accepted: whether the chain went there;
    tested: whether the sampler has such a test.  momentum: whether it keeps one, which is a part of the drift.
    """

    start: np.ndarray
    drift: np.ndarray
    noise: np.ndarray
    accepted: bool
    tested: bool
    momentum: bool


@dataclass(frozen=True)
class TrailRows:
    """New rows of the tables, and new positions w [T, C, 2] of the chains that are drawn (at most the last TRAIL).

    exact: the exact value that λ̂ should have at this n, nβ and γ.  step: None after steps that were done together.
    """

    cursor: TrailCursor
    rows: NewRows
    trail: np.ndarray
    exact: float | None
    step: OneStep | None


class TrailLog:
    """Written by the worker, read under the run's lock."""

    def __init__(self, rows: History, chains: int, exact: float | None):
        self.rows, self.exact = rows, exact
        self._ring = np.full((TRAIL, min(chains, SHOWN), 2), np.nan)
        self._count = 0
        self._step: OneStep | None = None

    def add(self, positions: list[np.ndarray], step: OneStep | None) -> None:
        self._step = step
        for place in positions[-TRAIL:]:
            self._ring[self._count % TRAIL] = place
            self._count += 1

    def since(self, cursor: TrailCursor) -> TrailRows:
        new = self.rows.since(cursor.rows)
        fresh = np.arange(max(cursor.trail, self._count - TRAIL), self._count) % TRAIL
        return TrailRows(TrailCursor(new.cursor, self._count), new, self._ring[fresh], self.exact, self._step)


class LandscapeJob:
    """Chains on a landscape. The exact value at this n is calculated first, in the thread that builds the job."""

    def __init__(self, resolved: Resolved):
        config, problem = resolved.config, resolved.problem
        assert isinstance(problem, Planar)
        assert config.n_beta is not None and config.localization is not None
        problem.expected_llc_at(config.n_beta, config.localization)  # the engine's, of the whole plane
        exact = problem.one_sided_llc_at(config.n_beta, config.localization)
        self._job = LlcJob(resolved)
        self._w0 = np.array(problem.model.w0)
        self._every = max(2, (config.steps or 0) // TURNS)
        self._fresh: list[np.ndarray] = []
        self._step: OneStep | None = None
        self._tested = isinstance(resolved.sampler, MetropolisSampler)
        self.log = TrailLog(self._job.log, config.chains, exact)
        self.judge = self._job.judge
        self._look(self._job.displacements)

    @property
    def finished(self) -> bool:
        return self._job.finished

    def advance(self, steps: int) -> Snapshot:
        """Record the positions on the way, now and again."""
        if steps == 1:
            return self._one()
        self._step = None
        return self._job.advance(steps, self._look, self._every)

    def _one(self) -> Snapshot:
        snapshot, parts = self._job.dissect()
        self._step = None
        if parts is not None:
            places = self._w0 + parts.start[0], parts.drift[0], parts.noise[0]
            self._step = OneStep(*places, bool(parts.accepted[0]), self._tested, self._job.keeps_momentum)
        self._look(self._job.displacements)
        return snapshot

    def go_on(self) -> None:
        self._job.go_on()

    def record(self, snapshot: Snapshot, estimate: object) -> None:
        self.log.add(self._fresh, self._step)
        self._fresh = []
        self._job.record(snapshot, estimate)  # type: ignore[arg-type]

    def _look(self, displacements: np.ndarray) -> None:
        self._fresh.append(self._w0 + displacements[:SHOWN])
