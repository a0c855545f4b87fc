"""Which unit a worker gets next. Units of one problem go to one worker, which then makes the problem's data only once."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable

from llc_core.sweeps.unit import Unit


class Assignment:
    """Units that are not given out yet, by problem.

    A worker stays with its problem until that is done. It then takes the next problem that no other worker has, and if there
    is none it helps with the problem of which most is left.
    """

    def __init__(self, units: Iterable[Unit]):
        self._left: dict[str, deque[Unit]] = {}
        self._at: dict[str | None, str] = {}
        for unit in units:
            self._left.setdefault(json.dumps(unit.description, sort_keys=True), deque()).append(unit)

    def next(self, worker: str | None) -> Unit | None:
        """The next unit for this worker, which is then given out; None when all are."""
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
        """Forget all workers but these: other workers may take their problems."""
        there = set(workers)
        self._at = {worker: problem for worker, problem in self._at.items() if worker in there}
