"""How fast a run plays: as fast as it can, or so many steps a second, so that single steps can be seen."""

from __future__ import annotations

import time

from app.runs.handle import RunHandle


class Pace:
    """steps_per_second: None for as fast as it can.  walking: whether a run is played step by step now."""

    def __init__(self) -> None:
        self.steps_per_second: float | None = None
        self.walking = False
        self._due = 0.0
        self._looked = 0.0

    def play(self, run: RunHandle | None) -> bool:
        """Begin to walk, where the pace is set; returns whether it is."""
        self.walking = self.steps_per_second is not None
        self._due, self._looked = 1.0, time.monotonic()
        if self.walking and run is not None:
            run.pause()
        return self.walking

    def rest(self) -> None:
        self.walking = False

    def tick(self, run: RunHandle) -> None:
        """Ask for the steps that are due since the last tick. Those that the run could not do in time are not made up for."""
        if run.over:
            self.rest()
        if not self.walking or self.steps_per_second is None:
            return
        now = time.monotonic()
        self._due += (now - self._looked) * self.steps_per_second
        self._looked = now
        steps = int(self._due)
        self._due -= steps
        if steps and not run.wants_steps:
            run.step(steps)
