"""The pages of the app. A new page is one new file here that defines PAGE = PageInfo(…).

This package is imported before the engine is ready; page modules may import it, and are loaded by `load_pages`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Protocol

# The browser must know every component before a page is sent that is filled later, when the engine is there.
from app import slider, takeaway_menu  # noqa: F401


class PageView(Protocol):
    """One visitor's view of a page. `close` is called when the visitor leaves or changes the page."""

    sidebar: list[Any]
    main: list[Any]

    def close(self) -> None: ...


@dataclass(frozen=True)
class PageInfo:
    """title: in the navigation.  order: place there.  build: makes the view for one session, in its document."""

    title: str
    order: int
    build: Callable[[], PageView]


def load_pages() -> list[PageInfo]:
    """All pages, in order."""
    modules = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    return sorted((m.PAGE for m in modules if hasattr(m, "PAGE")), key=lambda page: page.order)
