"""The pages of the app. A new page is one new file here that defines PAGE = PageInfo(…).

This package is imported before the engine is ready; page modules may import it, and are loaded by `load_pages`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Protocol

# The browser must know every component before a page is sent that is filled later, when the engine is there.
from app.components import slider  # noqa: F401
from app.sharing import takeaway_menu  # noqa: F401


class PageView(Protocol):
    """One visitor's view of a page. `close` is called when the visitor leaves or changes the page.

    parts: what a link can leave out, by the names of `app.sharing.links.HIDEABLE`.
    """

    sidebar: list[Any]
    main: list[Any]
    parts: Mapping[str, Sequence[Any]]

    def close(self) -> None: ...

    def configuration(self) -> dict[str, Any]:
        """What is set now, JSON-able: `restore` of it shows the same again."""
        ...

    def restore(self, configuration: Mapping[str, Any]) -> None:
        """Set everything and start; ValueError with one sentence, and nothing changed, for what cannot be run."""
        ...


@dataclass(frozen=True)
class PageInfo:
    """title: in the navigation.  key: in links, never changed.  order: place in the navigation.

    build: makes the view for one session, in its document.
    """

    title: str
    key: str
    order: int
    build: Callable[[], PageView]


def load_pages() -> list[PageInfo]:
    """All pages, in order."""
    modules = (import_module(f"{__name__}.{found.name}.page") for found in iter_modules(__path__) if found.ispkg)
    return sorted((m.PAGE for m in modules if hasattr(m, "PAGE")), key=lambda page: page.order)
