"""What a visitor wants of a run: their last word decides, whatever comes when. Pure: no Panel, no thread, no clock.

While a change is prepared there are two runs: the one on the screen, and the one that is to come. A word counts for both. The run
on the screen obeys at once, and stays where the change is refused; the one to come begins as the last word says.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum


class Shown(StrEnum):
    """What the run on the screen has been asked for, or how it ended."""

    NOTHING = "nothing"
    RUNNING = "running"
    PAUSED = "paused"
    FINISHED = "finished"
    FAILED = "failed"
    LEFT = "left"
    """The visitor has left the page; nothing counts any more."""


class Word(StrEnum):
    """What the buttons say."""

    PLAY = "play"
    PAUSE = "pause"
    STEP = "step"
    RESET = "reset"


class Deed(StrEnum):
    """What a word does to the run on the screen."""

    NOTHING = "nothing"
    PLAY = "play"
    PAUSE = "pause"
    STEP = "step"
    RESTART = "restart"


OVER = {Shown.NOTHING, Shown.FINISHED, Shown.FAILED}
"""There is nothing to play or to pause."""


@dataclass(frozen=True)
class RunState:
    """shown: of the run on the screen.  then: RUNNING or PAUSED, as the run begins that is being prepared; None: nothing is.

    owed: presses of Step for the run to come, or for one that is not on the screen yet.  request: number of the newest change.
    """

    shown: Shown = Shown.NOTHING
    then: Shown | None = None
    owed: int = 0
    request: int = 0

    @property
    def preparing(self) -> bool:
        return self.then is not None

    @property
    def playing(self) -> bool:
        """What the buttons show: what was asked for last."""
        return (self.then or self.shown) is Shown.RUNNING

    # -- what the visitor does ----------------------------------------------------------------------------------------

    def after(self, word: Word) -> tuple[RunState, Deed]:
        """A button is pressed."""
        if self.shown is Shown.LEFT:
            return self, Deed.NOTHING
        goes = Shown.RUNNING if word in (Word.PLAY, Word.RESET) else Shown.PAUSED
        if word is Word.RESET:
            deed = Deed.RESTART
        elif (
            self.shown in OVER
        ):  # what is over stays to be seen while another run is on its way, and where Pause comes too late
            deed = Deed.NOTHING if self.preparing or word is Word.PAUSE else Deed.RESTART
        else:
            deed = Deed(word)
        return replace(
            self,
            shown=self.shown if deed is Deed.NOTHING else goes,
            then=goes if self.preparing else None,
            owed=self.owed + 1 if word is Word.STEP else 0,
        ), deed

    def changed(self) -> RunState:
        """Another run is asked for: it plays, unless another word comes before it is there. An earlier one is not wanted any more."""
        if self.shown is Shown.LEFT:
            return self
        return replace(self, then=Shown.RUNNING, owed=0, request=self.request + 1)

    def longer(self) -> RunState:
        """The finished run is made longer."""
        if self.shown is not Shown.FINISHED:
            return self
        return replace(self, shown=Shown.RUNNING, then=Shown.RUNNING if self.preparing else None, owed=0)

    def left(self) -> RunState:
        return RunState(Shown.LEFT, request=self.request)

    # -- what comes of it ---------------------------------------------------------------------------------------------

    def prepared(self, request: int) -> RunState:
        """The run of a change is there, and begins. The same state where it is not the newest change that comes."""
        if self.then is None or request != self.request:
            return self
        return replace(self, shown=self.then, then=None)

    def refused(self, request: int) -> RunState:
        """A change cannot be run, or is taken back: the run on the screen stays."""
        if self.then is None or request != self.request:
            return self
        return replace(self, then=None, owed=0)

    def begun(self) -> RunState:
        """A run begins that nobody has asked for: the first of a page."""
        return replace(self, shown=Shown.RUNNING) if self.shown in OVER else self

    def stepped(self) -> RunState:
        """The steps that were asked for are handed to the run, which also those of the next one waits for, if there is one."""
        return self if self.preparing else replace(self, owed=0)

    def ended(self, failed: bool) -> RunState:
        """The run on the screen is over."""
        if self.shown not in (Shown.RUNNING, Shown.PAUSED):
            return self
        return replace(self, shown=Shown.FAILED if failed else Shown.FINISHED)
