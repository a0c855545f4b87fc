"""Leads a visitor through the tour of the open page: asks, changes one thing, waits for the run, and says what came out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.components.window.tour import TourBar
from app.pages.base import PageView
from app.session.clock import every

if TYPE_CHECKING:  # they bring the engine, and the window opens before it is there
    from app.pages.tours import Step, Tour

LOOK_MILLISECONDS = 400
WAITING = "The run is on its way: watch it. What came out is said here when it is over."
STARTING = "First the run before has to end."
NO_NUMBER = "This run gave no number to compare. Go on to the next step."
HIDDEN = "The run is over, and its answer is hidden: press Reveal, or the key A, to read what came out."
OTHER = "You have started another run meanwhile, so this step cannot say what came of it. Go on to the next one."


class Touring:
    """One visitor's tours. `bar` is in the window all the time; nothing else is made before a tour begins."""

    def __init__(self) -> None:
        self.bar = TourBar(margin=(0, 0, 0, 4), align="center")
        self.bar.listener = self._on_bar
        self._view: PageView | None = None
        self._tour: Tour | None = None
        self._at, self._chosen, self._runs = 0, -1, -1
        self._before: Any = {}
        self._looking: Any = None

    def turn_to(self, view: PageView, tour: Tour | None) -> None:
        """Another page is open: a tour of the one before is over."""
        self.leave()
        self._view, self._tour = view, tour
        self.bar.offered = tour is not None

    def leave(self) -> None:
        """End the tour. What it changed on the page stays."""
        self._stop()
        self.bar.step = {}

    def close(self) -> None:
        """The session is over."""
        self._stop()
        self._view = self._tour = None

    # -- what the visitor does ----------------------------------------------------------------------------------------

    def _on_bar(self, what: str, option: int) -> None:
        if self._tour is None or (not self.bar.step and what != "start"):
            return
        if what == "start":
            self._ask(0)
        elif what == "leave":
            self.leave()
        elif what == "next" and self.bar.step["state"] == "answered" and self._at + 1 < len(self._tour.steps):
            self._ask(self._at + 1)
        elif what == "answer" and self.bar.step["state"] == "ask" and 0 <= option < len(self._step.options):
            self._answer(option)

    @property
    def _step(self) -> Step:
        assert self._tour is not None
        return self._tour.steps[self._at]

    def _ask(self, place: int) -> None:
        self._stop()
        self._at, self._chosen, self._runs, self._before = place, -1, -1, {}
        self._show("ask")

    def _answer(self, option: int) -> None:
        self._chosen = option
        self._looking = every(LOOK_MILLISECONDS, self.look)
        self.look()

    # -- what the page does -------------------------------------------------------------------------------------------

    def look(self) -> None:
        """Go on where the page allows it: make the change, and later say what came out."""
        from app.pages.tours import is_over

        view, tour = self._view, self._tour
        if view is None or tour is None or self.bar.step.get("state") == "answered":
            return
        if self._runs < 0:
            if self._at > 0 and not is_over(view.state):
                self._show("wait", STARTING)
            else:
                self._change(view, tour)
        elif view.runs > self._runs + 1:
            self._tell(OTHER)
        elif view.runs == self._runs + 1 and is_over(view.state):
            if self._step.telling and not view.answers.visible:
                self._show("wait", HIDDEN)
            else:
                self._say(tour.measured(view), view.answers.visible)

    def _change(self, view: PageView, tour: Tour) -> None:
        step = self._step
        self._before = tour.measured(view) if self._at > 0 else {}
        self._runs = view.runs
        self._show("wait", WAITING)
        try:
            if step.preset:
                view.tiles.listener(step.preset)
            else:
                view.restore({**view.configuration(), **step.change})
        except ValueError as error:
            self._tell(f"This cannot be done now: {error}")

    def _say(self, now: Any, with_answers: bool) -> None:
        from app.pages.tours import known

        step = self._step
        if not known(now) or (self._at > 0 and not known(self._before)):
            self._tell(NO_NUMBER)
            return
        came, words = step.outcome(self._before, now, with_answers)
        expected, true = step.options[self._chosen], step.options[came]
        opening = "As you expected." if came == self._chosen else f"You expected “{expected}”; it was “{true}”."
        self._tell(f"{opening} {words}")

    def _tell(self, words: str) -> None:
        self._stop()
        self._show("answered", words)

    def _show(self, state: str, said: str = "") -> None:
        assert self._tour is not None
        step, count = self._step, len(self._tour.steps)
        shown = {
            "place": f"{self._at + 1} of {count}",
            "words": step.words,
            "question": step.question,
            "options": list(step.options),
            "chosen": self._chosen,
            "said": said,
            "state": state,
            "last": self._at + 1 == count,
        }
        if shown != self.bar.step:
            self.bar.step = shown

    def _stop(self) -> None:
        if self._looking is not None and self._looking.running:
            self._looking.stop()
        self._looking = None
