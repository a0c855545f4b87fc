"""Panel looks after its busy flag in a task that lives as long as the process, and starts it at the first event of a session.

The task would keep the document in whose name it was started, and so that visitor's page, for ever. Here it is in nobody's name.
"""

from __future__ import annotations

import asyncio
import contextvars

import panel as pn


def look_after_busy_flag() -> None:
    """Start the task, once per process. Nothing happens without an event loop, or where Panel has no such task any more."""
    start = getattr(pn.state, "_schedule_busy_cleanup", None)
    if start is None:
        return
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    contextvars.Context().run(start)
