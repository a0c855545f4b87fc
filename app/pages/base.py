"""What every page is: its name and place, and one visitor's view of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from app.components.tiles import Tiles
from app.sharing.exact_answers import ExactAnswers

if TYPE_CHECKING:  # they bring the engine, and the window opens before it is there
    from app.pages.tours import Tour
    from app.runs.job import State


class PageView(Protocol):
    """One visitor's view of a page. `close` is called when the visitor leaves or changes the page.

    parts: what a link can leave out, by the names of `app.sharing.links.HIDEABLE`.  tiles: the presets.
    address: what the window's address says of settings that are no preset; the window sets it.
    A page with a tour has the last three. state: of its run.  runs: how many have been started.  answers: whether they are hidden.
    """

    sidebar: list[Any]
    main: list[Any]
    parts: Mapping[str, Sequence[Any]]
    tiles: Tiles
    address: Callable[[], str]
    state: State
    runs: int
    answers: ExactAnswers

    def close(self) -> None: ...

    def configuration(self) -> dict[str, Any]:
        """What is set now, JSON-able: `restore` of it shows the same again."""
        ...

    def restore(self, configuration: Mapping[str, Any]) -> str:
        """Set everything and start; ValueError with one sentence, and nothing changed, for what cannot be run.

        Returns what the visitor should know of it: a sentence where it has to be prepared and comes later, else nothing.
        """
        ...


@dataclass(frozen=True)
class PageInfo:
    """title: in the navigation.  key: in links, never changed.  order: place in the navigation.

    build: makes the view for one session, in its document.  tour: where the page has one.  main: named in the header; the
    others stand there under "More pages".
    """

    title: str
    key: str
    order: int
    build: Callable[[], PageView]
    tour: Tour | None = None
    main: bool = False
