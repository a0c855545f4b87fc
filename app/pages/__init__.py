"""The pages of the app. A page is one folder here.

Its modules are named the same on every page, and each imports only from those before it:
  config     what can be set, as JSON
  presets    its tiles, data only
  scene      what is there before a chain moves: a configuration that is resolved, exact values
  job, figures, pictures, editor, controls, columns, table     where needed
  texts      numbers and sentences
  panels     cards with a calculation of their own, and takeaway, the menu of files
  page       all of it together, and PAGE = PageInfo(…)
Every page derives from `app.pages.tiled.TiledPage`, those on which something runs by way of `app.pages.page.Page`, and those that
estimate λ by way of `app.pages.estimate_page.EstimatePage`.

This package is imported before the engine is ready. `load_pages` imports the pages when it is.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

import app.components  # noqa: F401  a page is sent before the engine is ready: all that may fill it must be known by then
from app.pages.base import PageInfo
from app.sharing import takeaway_menu  # noqa: F401


def load_pages() -> list[PageInfo]:
    """All pages, in order."""
    modules = (import_module(f"{__name__}.{found.name}.page") for found in iter_modules(__path__) if found.ispkg)
    return sorted((m.PAGE for m in modules if hasattr(m, "PAGE")), key=lambda page: page.order)
