"""How fast a run plays: as fast as it can, or so many steps a second, so that single steps can be seen."""

from __future__ import annotations

import time

from app.runs.handle import RunHandle


class Pace:
    """steps_per_second: None for as fast as it can."""

    def __init__(self) -> None:
        self.steps_per_second: float | None = None
        self._due = 0.0
        self._looked = 0.0

    def play(self, run: RunHandle | None) -> bool:
        """Begin to walk, where the pace is set; returns whether it is."""
        self._due, self._looked = 1.0, time.monotonic()
        if self.steps_per_second is None:
            return False
        if run is not None:
            run.pause()
        return True

    def tick(self, run: RunHandle) -> None:
        """Of a run that walks: ask for the steps that are due since the last tick. Those that it could not do in time are not made
        up for."""
        if self.steps_per_second is None:
            return
        now = time.monotonic()
        self._due += (now - self._looked) * self.steps_per_second
        self._looked = now
        steps = int(self._due)
        self._due -= steps
        if steps and not run.wants_steps:
            run.step(steps)
