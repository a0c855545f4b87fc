"""Ending a sweep from another process, such as the app: a file beside the store, which the client looks for."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from llc_core.sweeps.store import Store


def request_of(store: str | Path) -> Path:
    """The file that asks the sweep of a store to end, if it exists."""
    return Path(f"{store}.stop")


def ask_to_stop(store: str | Path) -> None:
    """End the sweep that writes to `store`: its units stop at the end of their current block, and what was recorded stays.

    Returns at once. ValueError where there is no such store, or no sweep that writes to it, or none may be asked.
    """
    with Store(store, readonly=True):
        pass
    try:
        with Store(store) as idle, idle.writing():
            pass
    except ValueError:  # somebody holds the writer's place
        running = True
    except (OSError, sqlite3.Error):  # it belongs to another user, and we cannot see whether it runs
        running = True
    else:
        running = False
    if not running:
        raise ValueError(f"No sweep is writing to {str(store)!r}; there is nothing to stop.")
    try:
        request_of(store).touch()
    except OSError as error:
        raise ValueError(
            f"The sweep of {str(store)!r} cannot be asked to stop ({error.strerror}); stop it as the user who started it."
        ) from None
