"""Bokeh calls these when the server starts, so that the engine is warm before the first visitor comes, and when it ends."""

from __future__ import annotations

from typing import Any


def on_server_loaded(server_context: Any) -> None:
    from app.server.turns import Turns
    from app.window.warmup import start

    server_context.application_context.application.add(Turns())
    start()


def on_server_unloaded(server_context: Any) -> None:
    """Runs would go on until all that visitors asked for is built, and fail where they need a thread of the ending process."""
    from app.runs.manager import close_managers

    close_managers()
