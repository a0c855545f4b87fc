"""Bokeh calls these when the server starts, so that the engine is warm before the first visitor comes, and when it ends."""

from __future__ import annotations

import os
import sys
from typing import Any


def on_server_loaded(server_context: Any) -> None:
    from app.runs.account import give_everything
    from app.server.access import served_alone
    from app.server.turns import Turns
    from app.window.warmup import start

    if served_alone(sys.argv, os.environ):  # `llc-lab serve` has seen to it already
        give_everything()
    server_context.application_context.application.add(Turns())
    start()


def on_server_unloaded(server_context: Any) -> None:
    """Runs would go on until all that visitors asked for is built, and fail where they need a thread of the ending process."""
    from app.runs.manager import close_managers

    close_managers()
