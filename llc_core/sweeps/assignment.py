"""Which unit a worker gets next: those of one problem go to one worker, which then makes the problem's data only once."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable

from llc_core.sweeps.unit import Unit


class Assignment:
    """Units in their order, by problem. A worker stays with its problem, then takes the next one that nobody has; when
    there is none it helps where most is left."""

    def __init__(self, units: Iterable[Unit]):
        self._left: dict[str, deque[Unit]] = {}
        self._at: dict[str | None, str] = {}
        for unit in units:
            self._left.setdefault(json.dumps(unit.description, sort_keys=True), deque()).append(unit)

    def next(self, worker: str | None) -> Unit | None:
        """The next unit for this worker, which is then out of the list; None when all are."""
        if not self._left:
            return None
        problem = self._at.get(worker)
        if problem not in self._left:
            taken = set(self._at.values())
            free = (p for p in self._left if p not in taken)
            problem = next(free, None) or max(self._left, key=lambda p: len(self._left[p]))
            self._at[worker] = problem
        assert problem is not None
        unit = self._left[problem].popleft()
        if not self._left[problem]:
            del self._left[problem]
        return unit

    def forget(self, workers: Iterable[str | None]) -> None:
        """Only these are still there: problems of all others are free."""
        there = set(workers)
        self._at = {worker: problem for worker, problem in self._at.items() if worker in there}
