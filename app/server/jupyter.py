"""The app inside JupyterLab: `app.view()` in a cell, and a tile in the launcher.

The Jupyter server imports this module for the tile alone, so Panel and the engine are imported where they are used.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
START_SECONDS = 60


def view(page: str | None = None) -> Any:
    """The app as a view for the last line of a notebook cell.

    page: the title or the key of one page, such as "Local geometry" or "local-geometry"; without it all pages, with buttons to change between them.

    Raises ValueError when there is no such page.
    """
    from llc_core.extras import needs

    with needs("app.view()", extra="app"):
        import panel as pn

    from app.pages import load_pages
    from app.session.errors import report
    from app.window import warmup

    # Inline: everything comes from this machine. The handler writes errors to the log and shows them in the view.
    pn.extension("katex", inline=True, exception_handler=report)
    warmup.wait(START_SECONDS)
    if warmup.error():
        raise RuntimeError(warmup.error())
    pages = load_pages()
    if page is not None:
        pages = [info for info in pages if page in (info.title, info.key)]
        if not pages:
            titles = ", ".join(repr(info.title) for info in load_pages())
            raise ValueError(f"page={page!r} is not a page: choose one of {titles}.")
    from app.window.notebook import Inline

    return Inline(pages).layout


def launcher() -> dict[str, Any]:
    """The tile of jupyter-server-proxy (entry point `jupyter_serverproxy_servers`).

    The server listens on localhost only and lets in pages of its own address only; the proxy, which has checked the user,
    speaks in its name.
    """
    return {
        "command": [sys.executable, "-m", "app.server.cli", "serve", "--port", "{port}", "--address", "localhost"],
        "timeout": START_SECONDS,
        "request_headers_override": {"Origin": "http://localhost:{port}"},
        "new_browser_tab": True,
        "launcher_entry": {
            "title": "LLC Lab",
            "path_info": "llc-lab/app",
            "icon_path": str(HERE / "icon.svg"),
            "category": "Other",
        },
    }
