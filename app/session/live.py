"""The tie between one visitor's page and its run: starts it when the page is on the screen, polls it, has it do what was asked for last,
ends it. Long, since it is one class: ways to a run, what the visitor says of it, and the page's clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import ceil
from typing import Any, ClassVar, TypeVar
from weakref import WeakMethod, WeakSet

import panel as pn

from app.components.transport import Transport
from app.runs import giving_way
from app.runs.account import Claim, account
from app.runs.job import OVER, Job, State, Status
from app.runs.manager import RunHandle, long_steps, manager
from app.session.clock import every
from app.session.errors import report
from app.session.pace import Pace
from app.session.preparation import Preparation
from app.session.run_state import Deed, RunState, Shown, Word
from llc_core.fields import of_environment

T = TypeVar("T")

FRAMES = {"many": 1, "few": 4}
"""What LLC_LAB_FRAMES may be, and by what it makes the time between two polls longer: few are for slow machines and for many
visitors at once."""
POLL_MILLISECONDS = 50
"""Time between two polls, unless a page wants another."""
EAGER_MILLISECONDS = 25
"""The same until the first run is built: a newcomer looks at an empty picture meanwhile."""
SIDE_BY_SIDE = 5
"""So many pages are polled as often as they like; where more move, each shows fewer pictures."""
GIVES_WAY = 4
"""Of so many polls one is made while somebody else waits for a first picture."""
GONE_MILLISECONDS = 2000
"""A run ends when no browser has been connected for so long."""


class Live:
    """Used in the session's own callbacks only.

    show: called with the state and the new rows (None before the run is built) at every poll.  transport: its buttons show what was
    asked for last.  restart: starts the run again, by `start`; ValueError where there is no room for it.
    state: what the visitor wants.  preparation: of the next run, where it takes long.
    """

    _moving: ClassVar[WeakSet[Live]] = WeakSet()
    """Those of all visitors whose run plays."""

    def __init__(
        self,
        show: Callable[[State, Any], None],
        period: int = POLL_MILLISECONDS,
        transport: Transport | None = None,
        restart: Callable[[], None] = lambda: None,
        preparation: Preparation | None = None,
    ) -> None:
        self.run: RunHandle | None = None
        self.cursor: Any = None
        self.pace, self.state, self.preparation = Pace(), RunState(), preparation or Preparation()
        self._show, self._period = show, period * FRAMES[of_environment("LLC_LAB_FRAMES", tuple(FRAMES))]
        self._transport, self._restart = transport, restart
        self._build: Callable[[], Job] | None = None
        self._slow = False
        self._claim = self._reserved = Claim(0)
        """The memory of the present run, and of the next one."""
        self._callback: Any = None
        self._alone = self._left_out = 0
        """Polls for which no browser has been connected, and polls in a row that gave way to others."""
        self._eager = False
        self._pictured: RunHandle | None = None
        """The run of which something was shown."""
        self._document = pn.state.curdoc
        # A weak reference, since Panel keeps this callback for ever where no browser connects, as with a health check.
        start = WeakMethod(self._on_load)
        pn.state.onload(lambda: (begin := start()) and begin())

    # -- ways to a run ------------------------------------------------------------------------------------------------

    def change(self, wanted: Callable[[], T], take: Callable[[T], None], fail: Callable[[str], None]) -> str:
        """Have another run. What `wanted` returns goes to `take`, which starts it, now or once it is prepared, see `Preparation.have`.

        It plays, unless the visitor says something else meanwhile. ValueErrors go to the caller now, and leave everything as it was;
        later their sentence goes to `fail`.
        """
        before, self.state = self.state, self.state.changed()
        if self.state is before:
            return ""
        request = self.state.request
        if self._on_screen:
            giving_way.awaited(self._document)
        try:
            return self.preparation.have(
                wanted, partial(self._arrive, request, take), partial(self._refuse, request, fail)
            )
        except Exception:
            self.state = before
            giving_way.drawn(self._document)
            raise
        finally:
            self._show_wish()

    def stay(self) -> None:
        """The visitor is content with the present run, whatever they had asked for before."""
        self.preparation.forget()
        self.state = self.state.refused(self.state.request)
        giving_way.drawn(self._document)
        self._show_wish()

    def reserve(self, size: float, what: str, device: str | None = None) -> None:
        """Take the memory of the run that is started next, in place of the present one's. ValueError where there is not enough.

        size: bytes, of the device where it has memory of its own.  what: stands in the sentence.
        """
        self._reserved.release()
        self._reserved = account(device).claim(size, what, instead_of=self._claim)

    def start(self, build: Callable[[], Job], cursor: Any, slow: bool = False) -> None:
        """End the run and start another one; before the page is on the screen, only prepare it.

        cursor: where the rows of the new run's log begin.  slow: whether everybody's pictures would wait for each of its steps.
        """
        if self.run is not None:
            self.run.cancel()
        else:
            self._claim.release()
        self._claim, self._reserved = self._reserved, Claim(0)
        self._build, self.cursor, self.state = build, cursor, self.state.begun()
        self._slow = slow
        self.run = None
        if self._on_screen:
            plays = self.state.shown is Shown.RUNNING and not self.pace.play(None) and not self._alone
            self.run = self._submit(build, plays)
        elif self._document is not None and self.state.shown is Shown.RUNNING:
            ahead = WeakMethod(self._prepare)
            self._document.add_next_tick_callback(lambda: (prepare := ahead()) and prepare())

    def _submit(self, build: Callable[[], Job], plays: bool) -> RunHandle:
        return (long_steps() if self._slow else manager()).submit(build, plays, self._claim)

    def _arrive(self, request: int, take: Callable[[T], None], found: T) -> None:
        """A change is prepared; where another one was asked for since then, it is not wanted any more."""
        before, self.state = self.state, self.state.prepared(request)
        if self.state is before:
            return
        try:
            take(found)
        except Exception:
            self.state = before.refused(request)
            raise
        finally:
            self._show_wish()
        self._step()

    def _refuse(self, request: int, fail: Callable[[str], None], message: str) -> None:
        self.state = self.state.refused(request)
        giving_way.drawn(self._document)
        self._show_wish()
        fail(message)

    # -- what the visitor says ----------------------------------------------------------------------------------------

    def command(self, word: str) -> None:
        """Do what a button says: "play", "pause", "step" or "reset". ValueError where a run that is over finds no room again."""
        self._look()
        before = self.state
        self.state, deed = before.after(Word(word))
        try:
            if deed is Deed.RESTART:
                with pn.io.hold():
                    self._restart()
        except ValueError:
            self.state = before
            raise
        finally:
            self._show_wish()
        if self._on_screen and deed in (Deed.PLAY, Deed.PAUSE):
            self._obey()
        elif self._on_screen and deed is Deed.STEP and self.state.preparing and self.run is not None:
            self.run.step(self._stride)  # what is owed is the other run's
        self._step()

    def walk(self, steps_per_second: float | None) -> None:
        """Play at this pace from now on; None: as fast as it can."""
        self.pace.steps_per_second = steps_per_second
        self._look()
        if self._on_screen and self.state.shown is Shown.RUNNING:
            self._obey()

    def go_on(self) -> bool:
        """Make the finished run twice as long, and play it. False where it cannot be."""
        self._look()
        if self.run is None or not self.run.go_on():
            return False
        self.state = self.state.longer()
        if self.pace.steps_per_second is not None:
            self._obey()
        self._show_wish()
        return True

    def close(self) -> None:
        """Free the run; called when the session ends or the page changes."""
        self.state = self.state.left()
        Live._moving.discard(self)
        self.preparation.close()
        if self._callback is not None and self._callback.running:
            self._callback.stop()
        if self.run is not None:
            self.run.cancel()
        else:
            self._claim.release()
        self._reserved.release()

    # -- what there is ------------------------------------------------------------------------------------------------

    @property
    def can_go_on(self) -> bool:
        """Whether the run is finished, with chains that live, and can be made longer."""
        run = self.run
        return run is not None and run.can_go_on and bool(run.state.snapshot.alive.any())

    @property
    def playing(self) -> bool:
        """What the buttons show: whether the visitor has asked last for a run that plays."""
        return self.state.playing

    @property
    def over(self) -> bool:
        """Whether there is nothing left to play."""
        return self.run is None or self.run.state.status in OVER

    @property
    def _on_screen(self) -> bool:
        return self._callback is not None

    @property
    def _walking(self) -> bool:
        return self.state.shown is Shown.RUNNING and self.pace.steps_per_second is not None

    @property
    def _stride(self) -> int:
        return self._transport.stride if self._transport is not None else 1

    def _look(self) -> None:
        """Know whether the run has ended meanwhile."""
        if self.run is None or not self.over:
            return
        before, self.state = self.state, self.state.ended(self.run.state.status is not Status.FINISHED)
        if self.state is not before:
            self._show_wish()

    def _obey(self) -> None:
        """Have the run on the screen play, walk or rest."""
        if self.run is None or self.state.shown not in (Shown.RUNNING, Shown.PAUSED):
            return
        if self.state.shown is Shown.PAUSED:
            self.run.pause()
        elif not self.pace.play(self.run):
            self.run.play()

    def _step(self) -> None:
        """Do the steps that were asked for, once there is the run that does them."""
        if self.run is not None and self._on_screen and self.state.owed and not self.state.preparing:
            self.run.step(self.state.owed * self._stride)
            self.state = self.state.stepped()

    def _show_wish(self) -> None:
        """The buttons show what was asked for last, and beside a preparation it says what comes of it."""
        if self.state.shown is Shown.LEFT:  # the screen may be gone
            return
        if self._transport is not None:
            more = self.can_go_on and not self.state.preparing
            self._transport.param.update(playing=self.state.playing, more=more)
        if self.state.preparing:
            self.preparation.say(_afterwards(self.state))

    # -- the page's clock ---------------------------------------------------------------------------------------------

    def _on_load(self) -> None:
        """The page is on the screen, so the run may play. One that played earlier would slow down the loading of the page."""
        if self.state.shown is Shown.LEFT:  # a poll would hold this page and its run until the session ends
            return
        self._eager = True
        self._callback = every(min(EAGER_MILLISECONDS, self._period), self._tick)
        self._appear()

    def _appear(self) -> None:
        """What waited for the screen begins."""
        if self.run is None and self._build is not None:
            self.run = self._submit(self._build, False)
        self._obey()
        self._step()

    def _prepare(self) -> None:
        """While the browser draws the page: a first step measures curvature, which takes longer than many steps after it."""
        if self.state.shown is Shown.RUNNING and self.run is None and self._build is not None:
            self.run = self._submit(self._build, False)
            self.run.prepare()

    def _tick(self) -> None:
        if self.state.shown is Shown.LEFT:
            # Panel starts a callback in the next turn of its loop, even if it was stopped in this one.
            if self._callback is not None:
                self._callback.stop()
            return
        if not self._has_turn():
            return
        try:
            with pn.io.hold():
                self._poll()
        except Exception as error:
            # Every poll would repeat the message, twenty times a second: say it once and stop polling.
            if self._callback is not None:
                self._callback.stop()
            report(error)

    def _has_turn(self) -> bool:
        """Of the polls of many pages some are left out: all of them would keep the event loop from what visitors do."""
        turn = 1
        if giving_way.give_way(self._document):
            turn = GIVES_WAY
        elif not giving_way.is_awaited(self._document):
            turn = ceil(len(Live._moving) / SIDE_BY_SIDE)
        self._left_out += 1
        if self._left_out < turn:
            return False
        self._left_out = 0
        return True

    def _poll(self) -> None:
        if self.run is None:
            return
        if self._watched() and self.state.shown is Shown.RUNNING and not self.over:
            Live._moving.add(self)
        else:
            Live._moving.discard(self)
        if not self._watched():
            self._wait_alone(self.run)
            return
        if self._alone and not self.over and self.state.shown is Shown.RUNNING:
            self._obey()
        self._alone = 0
        self._look()
        if self._walking:
            self.pace.tick(self.run)
        state, rows = self.run.poll(self.cursor)
        self._look()
        if rows is not None and self._eager:
            self._eager, self._callback.period = False, self._period
        if self._walking and state.status is Status.PAUSED:  # between two steps
            state = replace(state, status=Status.RUNNING)
        if self._pictured is self.run and not self.state.preparing:
            giving_way.drawn(self._document)
        self._show(state, rows)
        if state.steps or state.status in OVER:
            self._pictured = self.run  # by the next poll it is drawn
        self.preparation.poll()  # last: it may start another run, and this state is not of that one

    def _wait_alone(self, run: RunHandle) -> None:
        """Nobody sees the page: its run rests, since it would only hold up those of others, and ends if nobody comes back."""
        self._alone += 1
        if self._alone == 1 and run.playing and not self.over:
            run.pause()
        if (
            self._alone * self._period > GONE_MILLISECONDS and not self.over
        ):  # a finished one takes no time and may go on
            run.cancel("The connection to this page was lost; press reset to start again.")

    def _watched(self) -> bool:
        """Whether a browser is connected. A session lives on for some time after its page is closed; its run need not."""
        session = getattr(getattr(self._document, "session_context", None), "session", None)
        return session is None or session.connection_count > 0


def _afterwards(state: RunState) -> str:
    if state.owed:
        return "Then it does the steps that you asked for, and rests."
    return "" if state.playing else "Then it rests until you press Play."
