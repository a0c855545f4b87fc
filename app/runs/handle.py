"""The session's end of a run: commands go in, copies of what is new come out."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from app.runs.account import Claim
from app.runs.job import OVER, Job, Log, State, Status


class RunHandle:
    """What a session and the worker thread share of one run. One lock guards all of it.

    playing: whether the run starts by itself.  attend: called after every command, so that the worker looks at the run.
    claim: what the run has of the memory of all; it is given back with the job.
    """

    def __init__(self, playing: bool, attend: Callable[[], None], claim: Claim | None = None):
        self.claim = claim or Claim(0)
        self.attend = attend
        self._lock = threading.Lock()
        self._state = State()
        self._job: Job | None = None
        self._log: Log | None = None
        self._playing = playing
        self._pending = 0
        """Steps that were asked for one by one and are still to be done."""
        self._commands = 0
        """Grows with every command that makes earlier steps void."""
        self._lengthen = False
        self._looked = time.monotonic()

    # -- commands -----------------------------------------------------------------------------------------------------

    def play(self) -> None:
        self._command(playing=True)

    def pause(self) -> None:
        self._command(playing=False)

    def step(self, steps: int = 1) -> None:
        """Do exactly `steps` more steps, then pause. Steps that are still to be done come on top."""
        with self._lock:
            if self._playing:
                self._commands += 1
            self._playing, self._pending = False, self._pending + max(1, steps)
            self._looked = time.monotonic()
        self.attend()

    def prepare(self) -> None:
        """Be built and do the first step, then rest until somebody plays it, however long that takes."""
        with self._lock:
            self._playing, self._pending, self._looked = False, 1, math.inf
        self.attend()

    def go_on(self) -> bool:
        """Make a finished run twice as long and play it. False where it cannot be."""
        with self._lock:
            if not self.can_go_on:
                return False
            self._lengthen, self._playing, self._pending = True, True, 0
            self._commands += 1
            self._looked = time.monotonic()
            self._publish(status=Status.RUNNING)
        self.attend()
        return True

    @property
    def can_go_on(self) -> bool:
        return self._state.status is Status.FINISHED and _lengthens(self._job)

    def cancel(self, message: str = "") -> None:
        """Stop for good and free the run; takes effect within one block."""
        with self._lock:
            if self._state.status is Status.FINISHED:
                self._drop()
            elif self._state.status not in OVER:
                self._publish(status=Status.CANCELLED, message=message)
        self.attend()

    def _command(self, playing: bool) -> None:
        with self._lock:
            self._playing, self._pending = playing, 0
            self._commands += 1
            self._looked = time.monotonic()
        self.attend()

    # -- reading ------------------------------------------------------------------------------------------------------

    @property
    def state(self) -> State:
        return self._state

    @property
    def over(self) -> bool:
        return self._state.status in OVER

    @property
    def playing(self) -> bool:
        return self._playing

    def poll(self, cursor: Any) -> tuple[State, Any]:
        """The state and the rows after `cursor`, None before the job is built; also tells that someone is looking."""
        with self._lock:
            self._looked = time.monotonic()
            return self._state, self._log.since(cursor) if self._log is not None else None

    # -- for the worker alone -----------------------------------------------------------------------------------------

    @property
    def job(self) -> Job | None:
        """None before it is built, and after the run is over."""
        return self._job

    @property
    def awaited(self) -> bool:
        """Whether the run was prepared, and nobody has looked at it since."""
        return self._looked == math.inf

    @property
    def wants_steps(self) -> bool:
        return not self.over and (self._playing or self._pending > 0)

    @property
    def steps_asked(self) -> tuple[int, int]:
        """Steps to do one by one, 0 where the run plays. Then the number by which `advanced` knows that they still count."""
        with self._lock:
            return self._pending, self._commands

    def unwatched_since(self, moment: float) -> bool:
        """Whether nobody has looked since a moment of the monotonic clock, at a run that is not over."""
        return self._looked < moment and not self.over

    def queue(self, place: int) -> None:
        with self._lock:
            if not self.over and (self._state.status, self._state.place) != (Status.QUEUED, place):
                self._publish(status=Status.QUEUED, place=place)

    def built(self, job: Job) -> None:
        with self._lock:
            self._job, self._log = job, job.log

    def lengthen_if_asked(self, job: Job) -> None:
        with self._lock:
            if self._lengthen:
                self._lengthen = False
                job.go_on()  # type: ignore[attr-defined]

    def advanced(self, job: Job, snapshot: Any, steps: int, asked: tuple[int, int]) -> None:
        """The job has done so many steps. asked: what `steps_asked` was before them."""
        pending, commands = asked
        with self._lock:
            job.record(snapshot, self._state.estimate)
            if pending and commands == self._commands:
                self._pending = max(0, self._pending - steps)
            if not self.over:
                self._publish(snapshot=snapshot, notes=self._state.notes + snapshot.notes)

    def judged(self, estimate: Any) -> None:
        with self._lock:
            self._publish(estimate=estimate)

    def settle(self, status: Status) -> None:
        """The run is being stepped, rests or is finished, and waits for no place."""
        with self._lock:
            if not self.over and (self._state.status is not status or self._state.place):
                self._publish(status=status, place=0)

    def fail(self, message: str) -> None:
        with self._lock:
            if not self.over:
                self._publish(status=Status.FAILED, message=message)

    def free(self) -> bool:
        """Free the job of a run that is over, unless it can be made longer. Returns whether the run is over."""
        with self._lock:  # a finished run may be made longer at any moment
            if self.over and not self.can_go_on:
                self._drop()
            return self.over

    def _drop(self) -> None:
        """Free the job; the caller holds the lock."""
        self._job = None
        self.claim.release()

    def _publish(self, **changes: Any) -> None:
        """Replace the state; the caller holds the lock."""
        self._state = replace(self._state, version=self._state.version + 1, **changes)


def _lengthens(job: Job | None) -> bool:
    return hasattr(job, "go_on")
