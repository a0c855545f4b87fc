"""What a page says of itself that runs something else than an estimate of λ: all that `app.pages.run_page.RunPage` asks it for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import panel as pn

from app.components.tiles import Tiles
from app.estimates.guessing import WATCH
from app.runs.job import Job, State
from app.session.run_words import caption
from app.sharing.exact_answers import ExactAnswers


class Preset(Protocol):
    """What a tile shows, and the configuration that it stands for."""

    @property
    def name(self) -> str: ...
    @property
    def lesson(self) -> str: ...
    @property
    def config(self) -> Any: ...


class Editor(Protocol):
    """A part of the side bar. `listener` is called after a change by the visitor."""

    listener: Callable[[], None]


class RunContract:
    """A page defines the methods of the first group, and those of the second where it differs from other pages."""

    period = 100
    """Milliseconds between two polls. Figures and counter are renewed at every poll that brings something new."""
    word_ticks = 4
    """Words and numbers are renewed at every fourth poll."""
    task = WATCH
    """What stands in place of a lesson while the answers are hidden."""
    memory_of = "This run"
    """What needs memory, in the sentence that refuses it."""
    own_settings = "Your own settings. Every change starts a new run."
    """What stands in place of a lesson after the visitor has changed something."""
    can_reveal = False
    """Whether answers that were withheld can be shown, and taken away again, on the open page."""
    settings_show_more = False
    """Whether one change of the visitor changes what other widgets show."""

    config: Any
    """What is run now."""
    scene: Any
    """What `scene_of` made of it."""
    state: State
    """The latest state of the run."""
    runs: int
    """How many have been started."""
    answers: ExactAnswers
    """A page whose panes or numbers tell answers has one that names them, with `changed=self.on_answers`."""
    tiles: Tiles
    headline: pn.pane.HTML
    lesson: pn.pane.HTML

    # -- what a page must define --------------------------------------------------------------------------------------

    def tile(self, preset: Any) -> dict[str, str]:
        """The preset's tile, see `app.components.tiles`."""
        raise NotImplementedError

    def of_link(self, configuration: Mapping[str, Any]) -> Any:
        """What a link or a file says, checked as a whole. Raises ValueError, one sentence, where it cannot be run."""
        raise NotImplementedError

    def of_side_bar(self) -> Any:
        """What the widgets say now. Raises ValueError as `of_link`."""
        raise NotImplementedError

    def scene_of(self, config: Any) -> Any:
        """What is there before a chain moves. ValueError as `of_link`; on the event loop it may be `app.runs.apart.TakesLong`."""
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
        """What a link can leave out: see `app.pages.base.PageView`."""
        return {"presets": [self.tiles], "texts": [self.headline, self.lesson], "answers": [self.answers]}

    def configuration(self) -> dict[str, Any]:
        """See `app.pages.base.PageView`."""
        return self.config.to_dict()

    def memory(self, config: Any, scene: Any) -> float:
        """Bytes that the run needs at most."""
        return config.memory

    def complete(self) -> None:
        """The first picture is on the screen: make what was left for later, and show in it the present run."""

    def question(self) -> str:
        """The page in one plain sentence, above the tiles. Empty: no sentence stands there."""
        return ""

    def plain_tile(self, preset: Any) -> dict[str, str]:
        """The same while answers are hidden: its picture must not tell the outcome."""
        return self.tile(preset)

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

    def show_answers(self, visible: bool) -> None:
        """The exact answers are shown or withheld now, besides what `answers` knows."""

    def close_panels(self) -> None:
        """End the page's own calculations."""
