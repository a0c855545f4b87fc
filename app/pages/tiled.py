"""What every page is, whatever it shows: tiles to begin with, a headline and a lesson, and answers that can be withheld.

`app.pages.page` has pages on which something runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import panel as pn

from app.components.guess import Guess
from app.components.tiles import Tiles, drawn_once
from app.estimates.guessing import WATCH, hidden_tiles, without_lesson
from app.sharing.exact_answers import ExactAnswers
from app.style import theme
from app.style.layout import prose


class TiledPage:
    """One visitor's page. A page makes its own widgets after `super().__init__`."""

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

    def on_preset(self, name: str) -> None:
        """The visitor has chosen the tile of this preset."""
        raise NotImplementedError

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
