"""The process-wide run manager: one worker thread steps all jobs in turn, sessions poll.

A job is anything that goes forward step by step: chains of a sampler, or points of a curve that take a while each. Jobs
are built in threads of their own, since that may take seconds. The worker is the only writer. Sessions send commands
(play, pause, step, cancel) and read copies; the worker never touches anything that belongs to a session.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from typing import Any

from app.runs.job import OVER, Job, Log, State, Status

log = logging.getLogger(__name__)

BLOCK_SECONDS = 0.03
"""Wall time between two looks at the commands when one run is active; several runs share it."""
BREATH_SECONDS = 0.001
"""Sleep after each block: hands the interpreter lock to the event loop, which then ticks on time."""
MAX_BLOCK = 4096
HEARTBEAT_SECONDS = 60.0
"""Long enough for a server at its limit: a page that is closed ends its run within seconds by itself (`app.session.live`)."""
ESTIMATE_SECONDS = 0.6
ESTIMATE_SHARE = 0.1
"""Estimates may take at most this share of the time."""
BUILDERS = 2
CAPACITY = 8
"""Runs that are stepped at the same time; the others wait in a queue."""
TURN_SECONDS = 1.0
"""While others wait, a run goes to the end of the queue after it has used so much time of the worker."""


def cores() -> int:
    """torch's threads for all that computes here: one core stays free for the event loop and, on a laptop, for the browser."""
    return max(1, (os.cpu_count() or 2) - 1)


def _begin() -> None:
    """In every thread that computes. A new one has as many threads of torch's as were wished for last in any thread, and where
    a run is in the middle of a step, that is one."""
    import torch

    torch.set_num_threads(cores())


class RunHandle:
    """A session's end of a run: send commands, read what is new."""

    def __init__(self, manager: RunManager, build: Callable[[], Job], playing: bool):
        self._manager, self._build = manager, build
        self._lock = threading.Lock()
        self._state = State()
        self._log: Log | None = None
        self._playing = playing
        self._pending = 0
        self._orders = 0
        """Grows when what was asked for before no longer counts."""
        self._polled = time.monotonic()
        # Owned by the worker:
        self._building: Future[Job] | None = None
        self._run: Job | None = None
        self._longer = False
        self._block = 1
        self._served = 0
        self._used = 0.0
        self._next_estimate = 0.0
        self._estimated_at = -1

    # -- commands -----------------------------------------------------------------------------------------------------

    def play(self) -> None:
        self._command(playing=True)

    def pause(self) -> None:
        self._command(playing=False)

    def step(self, steps: int = 1) -> None:
        """Do exactly `steps` more steps, then pause. Steps that are still to be done come on top."""
        with self._lock:
            if self._playing:
                self._orders += 1
            self._playing, self._pending = False, self._pending + max(1, steps)
            self._polled = time.monotonic()
        self._manager._wake()

    def go_on(self) -> bool:
        """Make a finished run twice as long and play it. False where it cannot be."""
        with self._lock:
            if not self.can_go_on:
                return False
            self._longer, self._playing, self._pending = True, True, 0
            self._orders += 1
            self._polled = time.monotonic()
            self._publish(status=Status.RUNNING)
        self._manager._take_back(self)
        return True

    @property
    def can_go_on(self) -> bool:
        return self._state.status is Status.FINISHED and _lengthens(self._run)

    def cancel(self, message: str = "") -> None:
        """Stop for good and free the run; takes effect within one block."""
        with self._lock:
            if self._state.status is Status.FINISHED:
                self._run = None
            elif self._state.status not in OVER:
                self._publish(status=Status.CANCELLED, message=message)
        self._manager._wake()

    def _command(self, playing: bool) -> None:
        with self._lock:
            self._playing, self._pending = playing, 0
            self._orders += 1
            self._polled = time.monotonic()
        self._manager._wake()

    # -- reading ------------------------------------------------------------------------------------------------------

    @property
    def state(self) -> State:
        return self._state

    @property
    def playing(self) -> bool:
        return self._playing

    def poll(self, cursor: Any) -> tuple[State, Any]:
        """The state and the rows after `cursor`, None before the job is built; also tells that someone is looking."""
        with self._lock:
            self._polled = time.monotonic()
            return self._state, self._log.since(cursor) if self._log is not None else None

    # -- for the worker -----------------------------------------------------------------------------------------------

    @property
    def _wants_steps(self) -> bool:
        return self._state.status not in OVER and (self._playing or self._pending > 0)

    def _publish(self, **changes: Any) -> None:
        """Replace the state; the caller holds the lock."""
        self._state = replace(self._state, version=self._state.version + 1, **changes)


class RunManager:
    """Round-robin over the runs that want steps, one block at a time."""

    def __init__(
        self,
        *,
        block_seconds: float = BLOCK_SECONDS,
        heartbeat_seconds: float = HEARTBEAT_SECONDS,
        capacity: int = CAPACITY,
        turn_seconds: float = TURN_SECONDS,
    ):
        self._block_seconds = block_seconds
        self._heartbeat_seconds, self._capacity, self._turn_seconds = heartbeat_seconds, capacity, turn_seconds
        self._runs: list[RunHandle] = []
        self._turn = 0
        self._condition = threading.Condition()
        self._closed = False
        self._builders = ThreadPoolExecutor(BUILDERS, thread_name_prefix="builds", initializer=_begin)
        self._thread = threading.Thread(target=self._work, name="runs", daemon=True)
        self._thread.start()

    def submit(self, build: Callable[[], Job], playing: bool = True) -> RunHandle:
        """Queue a run; returns at once. Errors arrive as a state with status FAILED and a message.

        build: makes the job, in a thread of its own.
        """
        handle = RunHandle(self, build, playing)
        with self._condition:
            if self._closed:
                raise RuntimeError("The run manager is closed.")
            self._runs.append(handle)
            self._condition.notify()
        return handle

    def _take_back(self, handle: RunHandle) -> None:
        """A finished run has been made longer."""
        with self._condition:
            if handle not in self._runs:
                self._runs.append(handle)
            self._condition.notify()

    def close(self) -> None:
        """Stop the worker (for tests)."""
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

    def _wake(self) -> None:
        with self._condition:
            self._condition.notify()

    # -- the worker thread --------------------------------------------------------------------------------------------

    def _work(self) -> None:
        _begin()
        while not self._closed:
            handle = None
            try:
                handle = self._next()
                if handle is not None:
                    before = time.monotonic()
                    self._serve(handle)
                    handle._used += time.monotonic() - before
                    time.sleep(BREATH_SECONDS)
            except Exception as error:
                log.exception("A run failed.")
                if handle is not None:
                    self._fail(handle, error)

    def _next(self) -> RunHandle | None:
        """The run whose turn it is, or None after a short wait."""
        with self._condition:
            self._drop_finished()
            wanting = [h for h in self._runs if h._wants_steps]
            if len(wanting) > self._capacity:
                wanting = self._rotate(wanting)
            active = wanting[: self._capacity]
            for place, handle in enumerate(wanting[self._capacity :], start=1):
                self._queue(handle, place)
            # A paused run deserves one look: it may not have been built or judged yet.
            candidates = active + [h for h in self._runs if not h._wants_steps and self._needs_look(h)]
            candidates = [h for h in candidates if h._building is None or h._building.done()]
            if not candidates:
                self._condition.wait(timeout=0.5)
                return None
            self._turn += 1
            handle = min(candidates, key=lambda h: h._served)
            handle._served = self._turn
            return handle

    def _rotate(self, wanting: list[RunHandle]) -> list[RunHandle]:
        """Those who have had their turn go to the end: a run of an hour must not shut out a class."""
        had = [h for h in wanting[: self._capacity] if h._used >= self._turn_seconds]
        for handle in had:
            handle._used = 0.0
            self._runs.remove(handle)
            self._runs.append(handle)
        return [h for h in wanting if h not in had] + had

    def _drop_finished(self) -> None:
        limit = time.monotonic() - self._heartbeat_seconds
        for handle in self._runs:
            if handle._polled < limit and handle.state.status not in OVER:
                handle.cancel(
                    "This run was stopped because its page was not looking any more; press reset to start again."
                )
        for handle in self._runs:
            with handle._lock:  # a finished run may be made longer at any moment
                status = handle._state.status
                if status not in OVER:
                    continue
                if status is not Status.FINISHED or not _lengthens(handle._run):
                    handle._run = None
                if handle._building is not None:
                    handle._building.cancel()
                    handle._building = None
        self._runs = [h for h in self._runs if h.state.status not in OVER]

    @staticmethod
    def _needs_look(handle: RunHandle) -> bool:
        if handle.state.status in OVER:
            return False
        if handle._run is None or handle.state.status not in (Status.PAUSED, Status.FINISHED):
            return True
        return 0 < handle.state.steps != handle._estimated_at

    @staticmethod
    def _queue(handle: RunHandle, place: int) -> None:
        with handle._lock:
            if handle._state.status not in OVER and (handle._state.status, handle._state.place) != (
                Status.QUEUED,
                place,
            ):
                handle._publish(status=Status.QUEUED, place=place)

    def _serve(self, handle: RunHandle) -> None:
        """One block of one run, and an estimate where one is due."""
        if handle.state.status in OVER:
            return
        if handle._run is None:
            if handle._building is None:
                handle._building = self._builders.submit(handle._build)
                handle._building.add_done_callback(lambda future: self._wake())
                return
            run = handle._building.result()
            with handle._lock:
                handle._run, handle._log = run, run.log
                handle._building = None  # it would keep the job
        run = handle._run
        if run is None or handle.state.status in OVER:  # cancelled meanwhile
            return
        if handle._longer:
            with handle._lock:
                handle._longer = False
                run.go_on()  # type: ignore[attr-defined]
        if handle._wants_steps and not run.finished:
            self._advance(handle, run)
        pausing = not handle._wants_steps
        now = time.monotonic()
        steps = handle.state.steps
        if steps and steps != handle._estimated_at and (run.finished or pausing or now >= handle._next_estimate):
            estimate = run.judge()
            spent = time.monotonic() - now
            handle._next_estimate = time.monotonic() + max(ESTIMATE_SECONDS, spent / ESTIMATE_SHARE)
            handle._estimated_at = steps
            with handle._lock:
                handle._publish(estimate=estimate)
        status = Status.FINISHED if run.finished else Status.PAUSED if pausing else Status.RUNNING
        with handle._lock:
            if handle._state.status not in OVER and (handle._state.status != status or handle._state.place):
                handle._publish(status=status, place=0)

    def _advance(self, handle: RunHandle, run: Job) -> None:
        with handle._lock:
            pending, orders = handle._pending, handle._orders
        sharing = max(1, min(self._capacity, sum(h._wants_steps for h in self._runs)))
        steps = min(handle._block, pending) if pending else handle._block
        before = time.monotonic()
        snapshot = run.advance(steps)
        spent = time.monotonic() - before
        if steps == handle._block:
            wished = steps * min(2.0, max(0.5, self._block_seconds / sharing / max(spent, 1e-6)))
            handle._block = min(MAX_BLOCK, max(1, round(wished)))
        with handle._lock:
            run.record(snapshot, handle._state.estimate)
            if pending and orders == handle._orders:
                handle._pending = max(0, handle._pending - steps)
            if handle._state.status not in OVER:
                handle._publish(snapshot=snapshot, notes=handle._state.notes + snapshot.notes)

    @staticmethod
    def _fail(handle: RunHandle, error: Exception) -> None:
        message = (
            str(error)
            if isinstance(error, ValueError)
            else f"The run stopped unexpectedly ({type(error).__name__}: {error})."
        )
        with handle._lock:
            if handle._state.status not in OVER:
                handle._publish(status=Status.FAILED, message=message)


def _lengthens(job: Job | None) -> bool:
    return hasattr(job, "go_on")


@cache
def manager() -> RunManager:
    """The one manager of this process for what moves on the screen."""
    return _until_exit(RunManager())


@cache
def background() -> RunManager:
    """Another one, for jobs whose single steps take long: in the first one they would make every picture stutter."""
    return _until_exit(RunManager())


def _until_exit(made: RunManager) -> RunManager:
    # A thread that is still inside compiled code when the interpreter goes would abort the process.
    atexit.register(made.close)
    return made
