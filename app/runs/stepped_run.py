"""The worker's end of a run: it builds the job, steps it block by block and has it judged."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Executor, Future

from app.runs.handle import RunHandle
from app.runs.job import Job, Status

MAX_BLOCK = 4096
ESTIMATE_SECONDS = 0.6
ESTIMATE_SHARE = 0.1
"""Estimates may take at most this share of the time."""


class SteppedRun:
    """Only the worker thread uses it. What the session sees goes through `handle`.

    turn: number of the last turn it had.  used: seconds of the worker since it last went to the end of the queue.  whole: all of them.
    """

    def __init__(self, build: Callable[[], Job], handle: RunHandle):
        self.handle = handle
        self.turn = 0
        self.used = self.whole = 0.0
        self._build = build
        self._building: Future[Job] | None = None
        self._block = 1
        self._next_estimate = 0.0
        self._judged_at = -1

    @property
    def is_building(self) -> bool:
        return self._building is not None and not self._building.done()

    @property
    def needs_look(self) -> bool:
        """Whether it needs a turn even where it is paused: it may not have been built or judged yet."""
        handle = self.handle
        if handle.over:
            return False
        if handle.job is None:
            return True
        if handle.awaited:
            return False
        if handle.state.status is not Status.PAUSED:
            return True
        return 0 < handle.state.steps != self._judged_at

    def serve(self, builders: Executor, block_seconds: float) -> None:
        """One block of steps that should take so long, and an estimate where one is due."""
        handle = self.handle
        if handle.over:
            return
        before = time.monotonic()
        job = self._built_job(builders)
        if job is None or handle.over:  # not built yet, or cancelled meanwhile
            return
        handle.lengthen_if_asked(job)
        if handle.wants_steps and not job.finished:
            self._advance(job, block_seconds)
        resting = not handle.wants_steps and not handle.awaited
        self._judge(job, at_once=job.finished or resting)
        handle.settle(Status.FINISHED if job.finished else Status.PAUSED if resting else Status.RUNNING)
        spent = time.monotonic() - before
        self.used += spent
        self.whole += spent

    def fail(self, error: BaseException) -> None:
        unexpected = f"The run stopped unexpectedly ({type(error).__name__}: {error})."
        self.handle.fail(str(error) if isinstance(error, ValueError) else unexpected)

    def free(self) -> bool:
        """Free the memory of a run that is over. Returns whether it is."""
        if not self.handle.free():
            return False
        if self._building is not None:
            self._building.cancel()
            self._building = None
        return True

    def _built_job(self, builders: Executor) -> Job | None:
        """The job. At the first call it begins to be built, in a thread of its own, and there is none yet."""
        if self.handle.job is None:
            if self._building is None:
                self._building = builders.submit(self._build)
                self._building.add_done_callback(lambda future: self.handle.attend())
                return None
            self.handle.built(self._building.result())
            self._building = None  # it would keep the job
        return self.handle.job

    def _advance(self, job: Job, block_seconds: float) -> None:
        asked = self.handle.steps_asked
        steps = min(self._block, asked[0]) if asked[0] else self._block
        before = time.monotonic()
        snapshot = job.advance(steps)
        spent = time.monotonic() - before
        if steps == self._block:
            factor = min(2.0, max(0.5, block_seconds / max(spent, 1e-6)))
            self._block = min(MAX_BLOCK, max(1, round(steps * factor)))
        self.handle.advanced(job, snapshot, steps, asked)

    def _judge(self, job: Job, at_once: bool) -> None:
        now, steps = time.monotonic(), self.handle.state.steps
        if not steps or steps == self._judged_at or not (at_once or now >= self._next_estimate):
            return
        estimate = job.judge()
        spent = time.monotonic() - now
        self._next_estimate = time.monotonic() + max(ESTIMATE_SECONDS, spent / ESTIMATE_SHARE)
        self._judged_at = steps
        self.handle.judged(estimate)
