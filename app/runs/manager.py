"""The process-wide run manager: one worker thread steps all jobs in turn, sessions poll.

A job is anything that goes forward step by step: chains of a sampler, or points of a curve that take a while each. Jobs
are built in threads of their own, since that may take seconds. The worker is the only writer. Sessions send commands
(play, pause, step, cancel) and read copies; the worker never touches anything that belongs to a session.
"""

from __future__ import annotations

import atexit
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

from app.runs.account import Claim
from app.runs.giving_way import SHARE, pages_wait
from app.runs.handle import RunHandle
from app.runs.job import Job
from app.runs.stepped_run import SteppedRun
from app.runs.threads import set_threads

log = logging.getLogger(__name__)

BLOCK_SECONDS = 0.03
"""Wall time between two looks at the commands when one run is active; several runs share it."""
BREATH_SECONDS = 0.001
"""Sleep after each block: hands the interpreter lock to the event loop, which then ticks on time."""
HEARTBEAT_SECONDS = 60.0
"""Long enough for a server at its limit: a page that is closed ends its run within seconds by itself (`app.session.live`)."""
BUILDERS = 2
CAPACITY = 12
"""Runs that are stepped at the same time; the others wait in a queue."""
TURN_SECONDS = 1.0
"""While others wait, a run goes to the end of the queue after it has used so much time of the worker."""
FIRST_SECONDS = 0.25
"""A run that has had less of the worker goes before the others: its visitor waits for a first picture, theirs are moving."""
UNWATCHED = "This run was stopped because its page was not looking any more; press reset to start again."


class RunManager:
    """Round-robin over the runs that want steps, one block at a time."""

    def __init__(
        self,
        *,
        block_seconds: float = BLOCK_SECONDS,
        heartbeat_seconds: float = HEARTBEAT_SECONDS,
        capacity: int = CAPACITY,
        turn_seconds: float = TURN_SECONDS,
        first_seconds: float = FIRST_SECONDS,
    ):
        self._block_seconds = block_seconds
        self._heartbeat_seconds, self._capacity, self._turn_seconds = heartbeat_seconds, capacity, turn_seconds
        self._first_seconds = first_seconds
        self._runs: list[SteppedRun] = []
        self._turn = 0
        self._condition = threading.Condition()
        self._closed = False
        self._builders = ThreadPoolExecutor(BUILDERS, thread_name_prefix="builds", initializer=set_threads)
        self._thread = threading.Thread(target=self._work, name="runs", daemon=True)
        self._thread.start()

    def submit(self, build: Callable[[], Job], playing: bool = True, claim: Claim | None = None) -> RunHandle:
        """Queue a run; returns at once. Errors arrive as a state with status FAILED and a message.

        build: makes the job, in a thread of its own.  claim: the memory for it, given back when it is over.
        """
        handle = RunHandle(playing, lambda: self._attend(run), claim)
        run = SteppedRun(build, handle)
        with self._condition:
            if self._closed:
                raise RuntimeError("The run manager is closed.")
            self._runs.append(run)
            self._condition.notify()
        return handle

    def close(self) -> None:
        """Stop the worker; what waits to be built never is."""
        with self._condition:
            self._closed = True
            self._condition.notify()
        self._thread.join(timeout=10)
        self._builders.shutdown(wait=False, cancel_futures=True)

    @property
    def active(self) -> int:
        """Number of runs that are held in memory."""
        with self._condition:
            return len(self._runs)

    def _attend(self, run: SteppedRun) -> None:
        """Wake the worker. A finished run that is made longer comes back among the others."""
        with self._condition:
            if run not in self._runs and not run.handle.over:
                self._runs.append(run)
            self._condition.notify()

    # -- the worker thread --------------------------------------------------------------------------------------------

    def _work(self) -> None:
        set_threads()
        while not self._closed:
            run = None
            try:
                run = self._next()
                if run is not None:
                    before, gives_way = run.whole, pages_wait.is_set() and not self._is_awaited(run)
                    run.serve(self._builders, self._block_seconds / self._sharing())
                    time.sleep(BREATH_SECONDS + gives_way * SHARE * (run.whole - before))
            except BaseException as error:  # a network may call sys.exit(): its run ends, and no other
                if self._closed:  # the process is about to end, and there are no threads to be had any more
                    return
                log.exception("A run failed.")
                if run is not None:
                    run.fail(error)

    def _next(self) -> SteppedRun | None:
        """The run whose turn it is, or None after a short wait."""
        with self._condition:
            self._stop_unwatched()
            self._runs = [run for run in self._runs if not run.free()]
            wanting = [run for run in self._runs if run.handle.wants_steps]
            if len(wanting) > self._capacity:
                wanting = sorted(self._rotate(wanting), key=lambda run: not self._is_awaited(run))
            for place, run in enumerate(wanting[self._capacity :], start=1):
                run.handle.queue(place)
            candidates = wanting[: self._capacity]
            candidates += [run for run in self._runs if not run.handle.wants_steps and run.needs_look]
            candidates = [run for run in candidates if not run.is_building]
            if not candidates:
                self._condition.wait(timeout=0.5)
                return None
            self._turn += 1
            chosen = min(candidates, key=lambda run: run.turn)
            chosen.turn = self._turn
            return chosen

    def _is_awaited(self, run: SteppedRun) -> bool:
        """Whether somebody sees nothing until it has had its turn: a first picture, or the steps of a paused run that were asked for."""
        return run.whole < self._first_seconds or bool(run.handle.steps_asked[0])

    def _rotate(self, wanting: list[SteppedRun]) -> list[SteppedRun]:
        """Those who have had their turn go to the end: a run of an hour must not shut out a class."""
        had = [run for run in wanting[: self._capacity] if run.used >= self._turn_seconds]
        for run in had:
            run.used = 0.0
            self._runs.remove(run)
            self._runs.append(run)
        return [run for run in wanting if run not in had] + had

    def _stop_unwatched(self) -> None:
        limit = time.monotonic() - self._heartbeat_seconds
        for run in self._runs:
            if run.handle.unwatched_since(limit):
                run.handle.cancel(UNWATCHED)

    def _sharing(self) -> int:
        """Runs that share the time of a block."""
        return max(1, min(self._capacity, sum(run.handle.wants_steps for run in self._runs)))


@cache
def manager() -> RunManager:
    """The one manager of this process for what moves on the screen."""
    return _until_exit(RunManager())


@cache
def background() -> RunManager:
    """Another one, for jobs whose single steps take long: in the first one they would make every picture stutter."""
    return _until_exit(RunManager())


@cache
def long_steps() -> RunManager:
    """A third one, for runs of large networks: a single step may take minutes, for which no other job of a page should wait."""
    return _until_exit(RunManager())


def close_managers() -> None:
    """For the end of a process, while threads can still begin something: `atexit` comes after that."""
    for made in (manager, background, long_steps):
        if made.cache_info().currsize:
            made().close()


def _until_exit(made: RunManager) -> RunManager:
    # A thread that is still inside compiled code when the interpreter goes would abort the process.
    atexit.register(made.close)
    return made
