"""The app under `panel serve app`, as users start it, with the engine warm."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from browser_app import UNUSED_MILLISECONDS, free_port

ROOT = Path(__file__).resolve().parents[3]

# What the log of a server says once it answers and has imported the engine; the second is told by closed_pages.py.
READY = ("Bokeh app running at", "The engine is warm.")
PATIENCE_SECONDS = 300


@contextmanager
def served_panel(log: Path, stores: Path, **environment: str) -> Iterator[str]:
    """The address. At the end AssertionError where the log tells of an error.

    log: where the server writes to.  stores: the folder of stores that it offers.  environment: variables of the server alone.
    """
    port = free_port()
    command = [sys.executable, "-m", "panel", "serve", "app", "--address", "127.0.0.1", "--port", str(port)]
    # Closed pages are forgotten at once, so that tests do not slow each other down; see also closed_pages.py.
    command += ["--unused-session-lifetime", str(UNUSED_MILLISECONDS), "--check-unused-sessions", "300"]
    command += ["--setup", str(Path(__file__).with_name("closed_pages.py"))]
    # Drawing for two browsers at once takes most of the time of these tests, and none of them counts frames.
    own = {"LLC_LAB_STORES": str(stores), "LLC_LAB_FRAMES": "few"}
    with log.open("w") as output:
        everything = {**os.environ, **own, **environment}
        server = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT, env=everything)
    try:
        limit = time.monotonic() + PATIENCE_SECONDS
        while not all(words in (said := log.read_text()) for words in READY):
            assert server.poll() is None and time.monotonic() < limit, said
            time.sleep(0.2)
        yield f"http://127.0.0.1:{port}/app"
    finally:
        server.terminate()
        server.wait(60)
    text = log.read_text()
    assert "An error in a session" not in text and "A run failed" not in text, text
