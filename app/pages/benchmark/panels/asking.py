"""What the page asks for: a store and a configuration of it, judged at once where that is quick, else in a thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

import panel as pn

from app.pages.benchmark.config import BenchmarkConfig
from app.pages.benchmark.panels.results import Answer, answer_of
from app.pages.benchmark.scene import OpenStore
from app.session.latest import LatestWork
from app.style.layout import prose
from llc_core.sweeps.series import Row

QUICK_ROWS = 30_000
"""Up to so many are judged between two frames."""
Found = tuple[OpenStore, BenchmarkConfig]
Find = Callable[[], Found | None]


@dataclass(frozen=True)
class Shown:
    """A store, a configuration of it, and what the page shows of them."""

    store: OpenStore
    config: BenchmarkConfig
    answer: Answer


def is_short(rows: Sequence[Row]) -> bool:
    return len(rows) <= QUICK_ROWS


class Asking(LatestWork):
    """words: for the page; says what is under way."""

    def __init__(self) -> None:
        super().__init__(self._show)
        self.words = prose(margin=(4, 2, 0, 2))
        self.words.visible = False
        self._text = ""

    def have(
        self, find: Find, quick: bool, words: str, take: Callable[[Shown], None], fail: Callable[[str], None]
    ) -> None:
        """Give what `find` finds to `take`; what was asked before and is not done yet is forgotten.

        find: None where nothing is to be shown; ValueError where it cannot be, which goes to `fail`, or to the caller if quick.
        words: shown meanwhile.
        """

        def look() -> Shown | None:
            found = find()
            return None if found is None else Shown(*found, answer_of(found[1], found[0].content.rows))

        def done(shown: Shown | None) -> None:
            if shown is not None:
                take(shown)

        if quick:
            self.forget()
            with pn.io.hold():
                done(look())
        else:
            self._text = words
            self.ask(look, done, fail)

    def _show(self) -> None:
        text = f'<p class="small" role="status">{escape(self._text)}</p>'
        self.words.param.update(object=text, visible=self.busy and bool(self._text))
