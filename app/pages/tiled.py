"""What every page is, whatever it shows: tiles to begin with, a headline and a lesson, answers that can be withheld, and one way
from a preset, a link, a file or the side bar to what is shown.

`app.pages.page` has pages on which something runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from html import escape
from typing import Any

import panel as pn

from app.components.guess import Guess
from app.components.tiles import Tiles, drawn_once
from app.estimates.guessing import WATCH, hidden_tiles, without_lesson
from app.runs.job import State, Status
from app.session.errors import tell
from app.session.preparation import Preparation
from app.sharing.exact_answers import ExactAnswers
from app.style import theme
from app.style.layout import complain, complaint, prose

Wanted = Callable[[], Any]
"""Gives a configuration, from plain values: a thread calls it where it takes long. ValueError, one sentence, where it cannot be
shown; on the event loop it may be `app.runs.apart.TakesLong`."""


class TiledPage:
    """One visitor's page. A page makes its own widgets after `super().__init__`.

    A preset, a link, a file and the side bar each give a configuration. `scene_of` makes of it what the page needs to show it, now
    or in a thread where that takes long, and `_take` shows both.
    """

    settings: Any
    """What a configuration is, where a link says it as a whole."""
    config: Any = None
    """What is shown now; None before the first."""
    scene: Any = None
    """What `scene_of` made of it."""
    state = State(Status.FINISHED)
    """Of the run."""
    task = WATCH
    """What stands in place of a lesson while the answers are hidden."""
    own_settings = "Your own settings. Every change starts a new run."
    """What stands in place of a lesson after the visitor has changed something."""
    can_reveal = False
    """Whether answers that were withheld can be shown, and taken away again, on the open page."""

    answers: ExactAnswers
    """A page whose panes or numbers tell answers has one that names them, with `changed=self.on_answers`."""

    def tile(self, preset: Any) -> dict[str, str]:
        """The preset's tile, see `app.components.tiles`."""
        raise NotImplementedError

    def of_link(self, configuration: Any) -> Any:
        """What a link or a file says, checked as a whole. Raises as `Wanted`."""
        return self.settings.from_dict(configuration)

    def of_preset(self, preset: Any) -> Any:
        return preset.config

    def scene_of(self, config: Any) -> Any:
        """What is there before a chain moves. Raises as `Wanted`."""

    def _take(self, config: Any, scene: Any, preset: str, lesson: str, show: bool = True) -> None:
        """Show it, see `run`. show: whether the widgets do not show it yet. ValueError, and nothing has changed, where it cannot be."""
        raise NotImplementedError

    def configuration(self) -> dict[str, Any]:
        """See `app.pages.base.PageView`."""
        return self.config.to_dict()

    def plain_tile(self, preset: Any) -> dict[str, str]:
        """The tile while answers are hidden: its picture must not tell the outcome."""
        return self.tile(preset)

    def hidden(self, tiles: Sequence[dict[str, str]]) -> list[dict[str, str]]:
        """Plain tiles whose words say nothing of the outcome either."""
        return hidden_tiles(tiles, self.task)

    def question(self) -> str:
        """The page in one plain sentence, above the tiles. Empty: no sentence stands there."""
        return ""

    def on_reveal(self, text: str) -> None:
        """Reveal or Hide was pressed.  text: what the visitor expects."""
        with pn.io.hold():
            self.answers.visible = not self.answers.visible

    def show_answers(self, visible: bool) -> None:
        """The exact answers are shown or withheld now, besides what `answers` knows."""

    def __init__(self, presets: Sequence[Any]) -> None:
        self._presets: dict[str, Any] = {preset.name: preset for preset in presets}
        self.address: Callable[[], str] = lambda: ""
        """What the address of the window says of the present settings; the window knows."""
        self.runs = 0
        """How often the visitor, a link or a tour has been answered."""
        self._items, self._lesson = [drawn_once(self, self.tile, preset) for preset in presets], ""
        self._plain = [drawn_once(self, self.plain_tile, preset) for preset in presets]
        self.tiles = Tiles(items=self._items, sizing_mode="stretch_width", margin=0)
        self.tiles.listener = self.on_preset
        self.headline = prose(theme.HEADLINE, margin=(0, 2, 8, 2))
        self.lesson = prose(theme.LESSON, margin=(10, 2, 0, 2))
        self.answers = ExactAnswers(changed=self.on_answers)
        self.reveal = Guess(asks=False, label="", visible=False, margin=(8, 2, 0, 2))
        """There once the answers have been withheld, and stays when they are shown."""
        self.reveal.listener = self.on_reveal
        self.preparation = Preparation()
        self.fault = complaint()
        """What cannot be shown, below the choices or in the side bar."""

    @property
    def parts(self) -> dict[str, list[Any]]:
        """What a link can leave out: see `app.pages.base.PageView`."""
        return {"presets": [self.tiles], "texts": [self.headline, self.lesson], "answers": [self.answers]}

    def top(self, *below: Any, headline: bool = True) -> pn.Column:
        """What stands above everything: the headline, tiles and their lesson, and words that come and go."""
        words = [*([self.headline] if headline else []), self.tiles, self.lesson, self.reveal, *below]
        for part in words:
            part.css_classes = ["whole"]
        self.tiles.css_classes, self.lesson.css_classes = ["presets"], ["lesson"]
        return pn.Column(*words, sizing_mode="stretch_width", margin=0, stylesheets=[theme.WORDS])

    def show_lesson(self, preset: str, lesson: str) -> None:
        """Mark a tile; "" marks none.  lesson: below the tiles; "" leaves the sentence as it is."""
        self.tiles.param.update(selected=preset, link="" if preset else self.address())
        self._lesson = lesson or self._lesson
        without_lesson(self.lesson, self._lesson, self.answers.visible, self.task)

    def show_question(self) -> None:
        if words := self.question():
            self.headline.object = f"<h1>{escape(words)}</h1>"

    def on_answers(self) -> None:
        """The exact answers are shown or withheld now."""
        visible = self.answers.visible
        without_lesson(self.lesson, self._lesson, visible, self.task)
        self.tiles.items = self._items if visible else self.hidden(self._plain)
        self.reveal.param.update(visible=self.can_reveal and (self.reveal.visible or not visible), revealed=visible)
        self.show_answers(visible)

    # -- ways to what is shown ----------------------------------------------------------------------------------------

    def run(self, config: Any, preset: str = "", lesson: str = "") -> str:
        """Show a configuration, in the widgets too, see `app.pages.base.PageView.restore`.

        preset: name of the tile that is marked.  lesson: the sentence below the tiles.
        """
        return self._have(lambda: config, preset, lesson or self.own_settings)

    def restore(self, configuration: Any) -> str:
        """Show what a link or a file says, see `app.pages.base.PageView.restore`."""
        return self._have(lambda: self.of_link(configuration))

    def on_preset(self, name: str) -> None:
        """The visitor has chosen the tile of this preset."""
        preset = self._presets[name]
        self._have(lambda: self.of_preset(preset), name, preset.lesson)

    def change(self, wanted: Wanted, lesson: str = "", show: bool = False, preset: str = "") -> None:
        """Show what is wanted now, or when it is prepared; where it cannot be say why, and what was shown stays.

        lesson: in place of `own_settings`.  show: whether the widgets do not show it yet.  preset: the tile that is marked.
        """

        def take(found: tuple[Any, Any]) -> None:
            self._take(*found, preset, lesson or self.own_settings, show)

        with pn.io.hold():
            try:
                self.ask(partial(self.prepared, cache(wanted)), take, self.complain)
            except ValueError as error:
                self.refuse(error)

    def refuse(self, error: ValueError) -> None:
        """Say why what is set cannot be shown; what was shown stays."""
        self.stay()
        self.complain(str(error))

    def prepared(self, wanted: Wanted) -> tuple[Any, Any]:
        """What is wanted, and its scene. Raises as `Wanted`. wanted: keeps what it gave, for a thread that goes on with the scene."""
        config = wanted()
        return config, self.scene_of(config)

    def _have(self, wanted: Wanted, preset: str = "", lesson: str = "") -> str:
        return self.ask(
            partial(self.prepared, cache(wanted)),
            lambda found: self._take(*found, preset, lesson or self.own_settings),
            self.fail,
        )

    def ask(self, wanted: Callable[[], Any], take: Callable[[Any], object], fail: Callable[[str], object]) -> str:
        """See `Preparation.have`: of several the last one counts."""
        return self.preparation.have(wanted, take, fail)

    def stay(self) -> None:
        """The visitor is content with what is shown, whatever they had asked for before."""
        self.preparation.forget()

    def fail(self, why: str) -> None:
        """Say why what a preset, a link or a file wants could not be prepared."""
        tell(f"This configuration cannot be opened: {why}")

    def complain(self, message: str) -> None:
        """Say where the settings are what cannot be shown; an empty message takes it back."""
        complain(self.fault, message)

    def close(self) -> None:
        """Free what is held; called when the session ends or the page changes."""
        self.preparation.close()
