"""Imports the engine in the background: torch takes seconds, and the first paint must not wait for it."""

from __future__ import annotations

import logging
import os
import threading

log = logging.getLogger(__name__)

_done = threading.Event()
_lock = threading.Lock()
_started = False
_error = ""


def start() -> None:
    """Begin, once per process; returns at once."""
    global _started
    with _lock:
        if not _started:
            _started = True
            threading.Thread(target=_warm, name="warmup", daemon=True).start()


def ready() -> bool:
    return _done.is_set()


def wait(seconds: float) -> bool:
    start()
    return _done.wait(seconds)


def error() -> str:
    """A sentence when the engine could not be imported, else empty."""
    return _error


def _warm() -> None:
    global _error
    try:
        import torch

        # One core stays free for the event loop and, on a laptop, for the browser.
        torch.set_num_threads(max(1, (os.cpu_count() or 2) - 1))
        from app.presets import ALL
        from app.problems import get_problem
        from app.runs import manager
        from llc_core import RunConfig, run

        # A first run and its first estimate load kernels, the statistics library and the data of the first preset.
        description = ALL[0].problem
        small = run(RunConfig(problem=description, chains=2, steps=200), get_problem(description))
        small.advance(200)
        small.estimates()
        manager()
    except Exception as problem_found:
        log.exception("The engine could not be loaded.")
        _error = f"The engine could not be loaded: {problem_found}"
    finally:
        _done.set()
