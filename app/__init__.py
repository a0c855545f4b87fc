"""The app: a Panel page over the engine. `panel serve app` serves it at /app; `app.view()` shows it in a notebook.

Absolute imports only (see app/main.py).
"""

from __future__ import annotations

from typing import Any


def view(page: str | None = None) -> Any:
    """The app in a notebook cell; see `app.server.jupyter.view`."""
    from app.server.jupyter import view

    return view(page)
