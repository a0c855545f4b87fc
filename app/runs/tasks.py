"""Kinds of jobs: a `TaskJob` does a list of calculations and keeps every result; of a `NewestJob` only the newest state counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Done:
    """How many calculations are done."""

    steps: int
    notes: tuple[str, ...] = ()


class Results:
    """Append-only list."""

    def __init__(self) -> None:
        self.items: list[Any] = []

    def since(self, cursor: int) -> tuple[int, list[Any]]:
        """The new cursor and the results after `cursor`."""
        return len(self.items), self.items[cursor:]


class TaskJob:
    """Every task returns one result."""

    def __init__(self, tasks: Sequence[Callable[[], Any]]):
        self._tasks = list(tasks)
        self._fresh: list[Any] = []
        self._done = 0
        self.log = Results()

    @property
    def finished(self) -> bool:
        return self._done >= len(self._tasks)

    def advance(self, steps: int) -> Done:
        for task in self._tasks[self._done : self._done + steps]:
            self._fresh.append(task())
            self._done += 1
        return Done(self._done)

    def judge(self) -> None:
        return None

    def record(self, snapshot: Done, estimate: None) -> None:
        self.log.items += self._fresh
        self._fresh = []


class NoRows:
    """The log of a job that adds no rows."""

    def since(self, cursor: Any) -> None:
        return None


class NewestJob:
    """All that is new is in the state: there is nothing to judge, and the log has no rows."""

    log = NoRows()

    def judge(self) -> None:
        return None

    def record(self, snapshot: Any, estimate: Any) -> None:
        return None
