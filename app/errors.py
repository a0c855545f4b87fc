"""Errors never vanish: they go to the log in full and to the user in words."""

from __future__ import annotations

import logging

import panel as pn

log = logging.getLogger(__name__)


def report(error: Exception) -> None:
    """Panel's exception handler for everything that happens in a session's callbacks."""
    log.error("An error in a session.", exc_info=error)
    text = str(error) if isinstance(error, ValueError) else f"Something went wrong ({type(error).__name__}: {error})."
    if pn.state.notifications is not None:
        pn.state.notifications.error(text[:300], duration=10_000)
