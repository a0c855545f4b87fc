"""The tie between one visitor's page and its run: starts it when the page is on the screen, polls it, ends it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from weakref import WeakMethod

import panel as pn

from app.runs.account import Claim, account
from app.runs.job import OVER, Job, State, Status
from app.runs.manager import RunHandle, manager
from app.session.errors import report
from app.session.pace import Pace
from llc_core.fields import of_environment

FRAMES = {"many": 1, "few": 4}
"""What LLC_LAB_FRAMES may be, and by what it makes the time between two polls longer: few are for slow machines and for many
visitors at once."""
POLL_MILLISECONDS = 50
"""Time between two polls, unless a page wants another."""
EAGER_MILLISECONDS = 25
"""The same until the first run is built: a newcomer looks at an empty picture meanwhile."""
GONE_MILLISECONDS = 2000
"""A run ends when no browser has been connected for so long."""


class Live:
    """Used in the session's own callbacks only.

    show: called with the state and the new rows (None before the run is built) at every poll.
    """

    def __init__(self, show: Callable[[State, Any], None], period: int = POLL_MILLISECONDS):
        self.run: RunHandle | None = None
        self.cursor: Any = None
        self.pace = Pace()
        self._show, self._period = show, period * FRAMES[of_environment("LLC_LAB_FRAMES", tuple(FRAMES))]
        self._build: Callable[[], Job] | None = None
        self._claim = self._reserved = Claim(0)
        """The memory of the present run, and of the next one."""
        self._callback: Any = None
        self._alone = 0
        self._closed = self._eager = self._held = False
        self._document = pn.state.curdoc
        # A weak reference, since Panel keeps this callback for ever where no browser connects, as with a health check.
        start = WeakMethod(self._on_load)
        pn.state.onload(lambda: (begin := start()) and begin())

    def reserve(self, size: float, what: str) -> None:
        """Take the memory of the run that is started next, in place of the present one's. ValueError where there is not enough.

        size: bytes.  what: stands in the sentence.
        """
        self._reserved.release()
        self._reserved = account().claim(size, what, instead_of=self._claim)

    def start(self, build: Callable[[], Job], cursor: Any, playing: bool = True) -> None:
        """End the run and start another one; before the page is on the screen, only prepare it.

        cursor: where the rows of the new run's log begin.
        """
        if self.run is not None:
            self.run.cancel()
        else:
            self._claim.release()
        self._claim, self._reserved = self._reserved, Claim(0)
        self._build, self.cursor = build, cursor
        if not playing:
            self.pace.rest()
        begins = playing and not self.pace.play(None)
        self.run = manager().submit(build, begins, self._claim) if self._callback is not None else None
        if self.run is None and self._document is not None:
            ahead = WeakMethod(self._prepare)
            self._document.add_next_tick_callback(lambda: (prepare := ahead()) and prepare())

    def walk(self, steps_per_second: float | None) -> None:
        """Play at this pace from now on; None: as fast as it can."""
        played = self.playing
        self.pace.steps_per_second = steps_per_second
        if played and self.run is not None and not self.pace.play(self.run):
            self.run.play()

    def command(self, command: str, stride: int, restart: Callable[[bool], None]) -> bool:
        """Do what a button says: "play", "pause", "step" or "reset". Returns whether the run plays now.

        restart: starts a new run; its argument says whether it plays.
        """
        if command == "reset" or self.over:
            with pn.io.hold():
                restart(command != "step")
        run = self.run
        if run is None:
            return True
        if command in ("pause", "step"):
            self.pace.rest()
        if command == "pause":
            run.pause()
        elif command == "play" and not self.pace.play(run):
            run.play()
        elif command == "step":
            run.step(stride)
        return self.playing

    @property
    def can_go_on(self) -> bool:
        """Whether the run is finished, with chains that live, and can be made longer."""
        run = self.run
        return run is not None and run.can_go_on and bool(run.state.snapshot.alive.any())

    @property
    def playing(self) -> bool:
        return self.run is not None and (self.run.playing or self.pace.walking)

    @property
    def over(self) -> bool:
        """Whether there is nothing left to play."""
        return self.run is None or self.run.state.status in OVER

    def close(self) -> None:
        """Free the run; called when the session ends or the page changes."""
        self._closed = True
        if self._callback is not None and self._callback.running:
            self._callback.stop()
        if self.run is not None:
            self.run.cancel()
        else:
            self._claim.release()
        self._reserved.release()

    def _on_load(self) -> None:
        """The page is on the screen, so the run may play. One that played earlier would slow down the loading of the page."""
        if self._closed:  # before it was on the screen: a poll would hold this page and its run until the session ends
            return
        self._eager = True
        self._callback = pn.state.add_periodic_callback(self._tick, period=min(EAGER_MILLISECONDS, self._period))
        if self.run is not None:
            self.run.play()
        elif self._build is not None:
            self.run = manager().submit(self._build, claim=self._claim)

    def _prepare(self) -> None:
        """While the browser draws the page: a first step measures curvature, which takes longer than many steps after it."""
        if not self._closed and self.run is None and self._build is not None:
            self.run = manager().submit(self._build, playing=False, claim=self._claim)
            self.run.prepare()

    def _tick(self) -> None:
        if self._closed:  # Panel starts a callback in the next turn of its loop, even if it was stopped in this one
            if self._callback is not None:
                self._callback.stop()
            return
        try:
            with pn.io.hold():
                self._poll()
        except Exception as error:
            # Every poll would repeat the message, twenty times a second: say it once and stop polling.
            if self._callback is not None:
                self._callback.stop()
            report(error)

    def _poll(self) -> None:
        if self.run is None:
            return
        if not self._watched():
            self._wait_alone(self.run)
            return
        if self._held and not self.over:
            self.run.play()
        self._alone, self._held = 0, False
        self.pace.tick(self.run)
        state, rows = self.run.poll(self.cursor)
        if rows is not None and self._eager:
            self._eager, self._callback.period = False, self._period
        if self.pace.walking and state.status is Status.PAUSED:  # between two steps
            state = replace(state, status=Status.RUNNING)
        self._show(state, rows)

    def _wait_alone(self, run: RunHandle) -> None:
        """Nobody sees the page: its run rests, since it would only hold up those of others, and ends if nobody comes back."""
        self._alone += 1
        if self._alone == 1:
            self._held = run.playing and not self.over
            if self._held:
                run.pause()
        if (
            self._alone * self._period > GONE_MILLISECONDS and not self.over
        ):  # a finished one takes no time and may go on
            run.cancel("The connection to this page was lost; press reset to start again.")

    def _watched(self) -> bool:
        """Whether a browser is connected. A session lives on for some time after its page is closed; its run need not."""
        session = getattr(getattr(self._document, "session_context", None), "session", None)
        return session is None or session.connection_count > 0
