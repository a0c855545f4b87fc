"""What a job of the run manager is, and what a page sees of its run."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol


class Status(StrEnum):
    STARTING = "starting"
    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"


OVER = {Status.FINISHED, Status.FAILED, Status.CANCELLED}


class Progress(Protocol):
    """What a job reports after some steps: a frozen copy."""

    @property
    def steps(self) -> int: ...
    @property
    def notes(self) -> tuple[str, ...]: ...


class Log(Protocol):
    """What a job leaves behind for the screen: rows, of which a reader asks for those after its cursor."""

    def since(self, cursor: Any) -> Any: ...


class Job(Protocol):
    """What the manager steps. Only the worker thread uses it; `log` is read by others, under a lock.

    A job with a method `go_on()` is kept when it is finished, and can then be made longer: `RunHandle.go_on`.
    """

    @property
    def log(self) -> Log: ...
    @property
    def finished(self) -> bool: ...
    def advance(self, steps: int) -> Progress:
        """Do at most so many steps."""

    def judge(self) -> Any:
        """The result of all steps so far. May take a moment: it is asked for with restraint."""

    def record(self, snapshot: Any, estimate: Any) -> None:
        """Write a snapshot into the log; `estimate` is the latest one, or None."""


@dataclass(frozen=True)
class State:
    """What a page shows of a run. `version` grows with every change.

    place: number in the queue (0: not waiting).  message: a sentence for the user when the run failed or was cancelled.
    snapshot: the job's last `Progress`.  estimate: what it last judged; each None before the first.
    """

    status: Status = Status.STARTING
    version: int = 0
    place: int = 0
    message: str = ""
    snapshot: Any = None
    estimate: Any = None
    notes: tuple[str, ...] = ()

    @property
    def steps(self) -> int:
        return self.snapshot.steps if self.snapshot else 0
