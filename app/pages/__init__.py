"""The pages of the app. A new page is one new folder here whose `page.py` defines PAGE = PageInfo(…).

This package is imported before the engine is ready; page modules may import it, and are loaded by `load_pages`.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

# The browser must know every component before a page is sent that is filled later, when the engine is there.
from app.components import slider  # noqa: F401
from app.pages.base import PageInfo
from app.sharing import takeaway_menu  # noqa: F401


def load_pages() -> list[PageInfo]:
    """All pages, in order."""
    modules = (import_module(f"{__name__}.{found.name}.page") for found in iter_modules(__path__) if found.ispkg)
    return sorted((m.PAGE for m in modules if hasattr(m, "PAGE")), key=lambda page: page.order)
