"""The base of every page on which something runs: presets, transport, and one way to start a run. Long, since it is one class: what a
page says of itself, what a visitor does, and what a run answers.

`app.pages.estimate_page` has what pages share that estimate λ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import panel as pn

from app.components.speed import Speed
from app.components.transport import Transport
from app.pages.tiled import TiledPage
from app.runs.job import OVER, Job, State
from app.session.live import Live
from app.session.run_words import caption, trouble
from app.style import theme
from app.style.later import Later
from app.style.layout import bar, page, prose, side_bar


class Editor(Protocol):
    """A part of the side bar. `listener` is called after a change by the visitor."""

    listener: Callable[[], None]


class Page(TiledPage):
    """One visitor's page. Everything here runs in the session's own callbacks; the run lives in the manager.

    A configuration and what `scene_of` made of it start a run. Widgets show the configuration, and are read only after the visitor
    has changed one of them.

    A page makes its own widgets after `super().__init__`, and calls `compose` at the end. It defines the methods of the first group
    below, and those of the second where it differs from other pages.
    """

    period = 100
    """Milliseconds between two polls. Figures and counter are renewed at every poll that brings something new."""
    word_ticks = 4
    """Words and numbers are renewed at every fourth poll."""
    paces: Sequence[float] = ()
    """Steps a second to choose from, see `app.components.speed`; where there is a choice, Step does a single step."""
    memory_of = "This run"
    """What needs memory, in the sentence that refuses it."""
    settings_show_more = False
    """Whether one change of the visitor changes what other widgets show."""

    explanations: Sequence[Any] = ()
    """Further explanations and formulas, for links that leave them out."""

    # -- what a page must define --------------------------------------------------------------------------------------

    def of_side_bar(self) -> Any:
        """What the widgets say now. Raises as `Wanted`."""
        raise NotImplementedError

    def job(self, config: Any, scene: Any) -> Callable[[], Job]:
        """What builds the run, in a thread of the manager. It must not hold the page."""
        raise NotImplementedError

    def lengths(self, config: Any) -> tuple[int, int]:
        """Steps of the run, and how many of them are burn-in."""
        raise NotImplementedError

    def show(self, config: Any) -> None:
        """Set all widgets, without reporting changes."""
        raise NotImplementedError

    def reset(self, config: Any, scene: Any) -> None:
        """A run begins: empty the figures, and tell takeaway and panels."""
        raise NotImplementedError

    def draw(self, state: State) -> None:
        """Draw what the run has found. Called when it has changed."""
        raise NotImplementedError

    def show_words(self, state: State) -> None:
        """Write numbers and words."""
        raise NotImplementedError

    # -- what a page may define ---------------------------------------------------------------------------------------

    @property
    def parts(self) -> dict[str, list[Any]]:
        parts = super().parts
        return {**parts, "texts": [*parts["texts"], *self.explanations], "controls": self.bar}

    def memory(self, config: Any, scene: Any) -> float:
        """Bytes that the run needs at most."""
        return config.memory

    def device(self, config: Any) -> str | None:
        """Where the run is made, by torch's name; None: on the processor."""
        return None

    def is_slow(self, config: Any) -> bool:
        """Whether everybody's pictures would wait for each of its steps."""
        return False

    def cursor(self) -> Any:
        """Where the rows of a new run's log begin."""
        return 0

    def complete(self) -> None:
        """The first picture is on the screen: make what was left for later, and show in it the present run."""

    def caption(self, state: State) -> str:
        """Two or three words on what the run is doing."""
        return caption(state)

    def redraw(self, config: Any) -> bool:
        """Show another configuration without another run, where that is enough. Returns whether it was."""
        return False

    @property
    def wants_rows(self) -> bool:
        """Whether rows of the run's log can be shown yet. The first ones come later where they cannot."""
        return True

    def stream(self, rows: Any) -> None:
        """New rows of the run's log. Called before `draw`."""

    def poll(self, state: State, over: bool) -> None:
        """Look at the page's own calculations. over: whether the run has ended."""

    def close_panels(self) -> None:
        """End the page's own calculations."""

    # -- the page -----------------------------------------------------------------------------------------------------

    def __init__(self, presets: Sequence[Any], unit: str = "step") -> None:
        """unit: what the transport counts."""
        super().__init__(presets)
        paces = list(self.paces)
        self.transport = Transport(unit=unit, single=bool(paces), sizing_mode="stretch_width", margin=0)
        self.transport.listener = self._on_command
        self.speed = Speed(unit=unit, paces=paces, sizing_mode="stretch_width", margin=0)
        """A page with `paces` shows it."""
        self._live = Live(self._on_poll, self.period, self.transport, self._start_again, self.preparation)
        self.speed.on_pace = lambda pace: self._live.walk(pace or None)
        self.config, self.scene = self.opened(presets[0])
        self.state, self._ticks, self.later = State(), 0, Later()
        self.forget_drawn()
        self.forget_words()
        self.trouble = prose(theme.VERDICT, margin=(10, 0, 0, 0), visible=False)
        """What is to be said of the run itself, on pages without a verdict that says it."""

    def compose(
        self,
        editors: Sequence[Editor],
        side: Mapping[str, Sequence[Any]],
        *cards: Any,
        choices: Sequence[Any] = (),
        below: Sequence[Any] = (),
        first: str = "",
    ) -> None:
        """Put the page together and open it with the preset `first`; empty: the first of all.

        editors: what the visitor changes.  side: headings of the side bar, and what stands below each.  choices: the few that the
        page is about, always in sight.  cards: below them.  below: further ones, that come once the run is drawn.
        """
        for editor in editors:
            editor.listener = self._on_settings
        self.sidebar: list[Any] = [side_bar(side, self.later)]
        top = self.top(self.preparation.view, headline=self.config is None or bool(self.question()))
        self.bar = [bar(choices, self.fault)] if choices else []
        self.main: list[Any] = [self.later.put(page(top, *self.bar, *cards), below)]
        self._begin(first or next(iter(self._presets)))

    def opened(self, preset: Any) -> tuple[Any, Any]:
        """The configuration and the scene that the page is made with, before it runs any."""
        return preset.config, self.scene_of(preset.config)

    def _begin(self, preset: str) -> None:
        self.on_preset(preset)

    # -- ways to a run ------------------------------------------------------------------------------------------------

    def ask(self, wanted: Callable[[], Any], take: Callable[[Any], object], fail: Callable[[str], object]) -> str:
        return self._live.change(wanted, take, fail)

    def stay(self) -> None:
        self._live.stay()

    def close(self) -> None:
        self._live.close()
        self.close_panels()

    def _take(self, config: Any, scene: Any, preset: str, lesson: str, show: bool = True) -> None:
        self._live.reserve(self.memory(config, scene), self.memory_of, self.device(config))
        with pn.io.hold():
            self._start(config, scene, preset, lesson)
            self.complain("")
            if show:
                self.show(config)

    def _start(self, config: Any, scene: Any, preset: str, lesson: str = "") -> None:
        """Start a run, and clear what was drawn of the one before it. lesson: "" leaves the sentence as it is."""
        self.config, self.scene, self.state, self.runs = config, scene, State(), self.runs + 1
        self._live.start(self.job(config, scene), self.cursor(), self.is_slow(config))
        self.forget_drawn()
        self.forget_words()
        self.show_lesson(preset, lesson)
        self.reset(config, scene)
        self.transport.begin(*self.lengths(config), self._live.playing, self.caption(State()))
        self._show_words(State())

    # -- what the visitor does ----------------------------------------------------------------------------------------

    def _on_settings(self) -> None:
        """What is set in the widgets, which show it already; a fault is told, and the run goes on as it was."""
        try:
            config = self.of_side_bar()
            redrawn = self.redraw(config)
        except ValueError as error:
            self.refuse(error)
            return
        if redrawn:
            self.stay()
        else:
            self.change(lambda: config, show=self.settings_show_more)

    def _on_command(self, command: str) -> None:
        try:
            self._live.command(command)
        except ValueError as error:  # the room of the run that is over has been given to others
            self.complain(str(error))

    def _start_again(self) -> None:
        self._live.reserve(self.memory(self.config, self.scene), self.memory_of, self.device(self.config))
        self._start(self.config, self.scene, self.tiles.selected)

    def on_answers(self) -> None:
        super().on_answers()
        if self.config is not None:
            self._show_words(self.state)  # at once: the page may not have been sent yet
        self.forget_words()

    # -- what the run does --------------------------------------------------------------------------------------------

    def forget_drawn(self) -> None:
        """Draw again at the next poll."""
        self._drawn = -1

    def forget_words(self) -> None:
        """Write again at the next poll that writes."""
        self._worded = -1

    def _on_poll(self, state: State, rows: Any) -> None:
        self._ticks += 1
        if self.later.due(self.state.steps > 0):
            self.complete()
            self.later.arrive()
        self.state, over = state, state.status in OVER
        if state.version != self._drawn:
            self._drawn = state.version
            if rows is not None and self.wants_rows:
                self._live.cursor = rows[0]
                self.stream(rows[1])
            self.draw(state)
        # A run that walks rests between its steps, so that a pause is no new version of it.
        self.transport.param.update(step=state.steps, caption=self.caption(state))
        self.poll(state, over)  # after the figures: what it starts takes processor time from them
        if state.version != self._worded and (over or self._ticks % self.word_ticks == 0):
            self._worded = state.version
            self._show_words(state)

    def _show_words(self, state: State) -> None:
        tone, words = trouble(state)
        self.trouble.param.update(object=f'<p class="{tone}" role="status">{words}</p>', visible=bool(words))
        self.show_words(state)
        self.show_question()
