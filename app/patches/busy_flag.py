"""Panel's busy flag keeps no visitor's page, and pages do not follow it.

Holds for panel 1.9.4, panel-material-ui 0.16.6.
Gains: a page that is closed leaves memory, the first one of a process too; a processor, which the flag alone occupied at twenty
polls a second.
"""

from __future__ import annotations

import asyncio
import contextvars

import panel as pn
import panel_material_ui as pmui
import param
from panel.util import edit_readonly


def look_after() -> None:
    """Start Panel's task that looks after the flag, once per process, in nobody's name; without an event loop nothing happens.

    It lives as long as the process. Panel starts it at the first event of a session, and then it keeps the document in whose
    name it was started, and so that visitor's page.
    """
    start = getattr(pn.state, "_schedule_busy_cleanup", None)
    if start is None:
        return
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    contextvars.Context().run(start)


class _Never(param.Parameterized):
    busy = param.Boolean(False)


def never_busy(page: pmui.Page) -> None:
    """Let the page follow a flag of its own, which never changes.

    Panel's flips twice per callback and each time walks all models of the page, and being everybody's it keeps closed pages.
    """
    with edit_readonly(page):
        page.busy = _Never().param.busy
