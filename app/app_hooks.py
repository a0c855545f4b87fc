"""Bokeh calls this when the server starts: the engine is then warm before the first visitor comes."""

from __future__ import annotations

from typing import Any


def on_server_loaded(server_context: Any) -> None:
    from app.server.compressed import serve_compressed
    from app.server.turns import Turns
    from app.window.warmup import start

    serve_compressed()
    server_context.application_context.application.add(Turns())
    start()
