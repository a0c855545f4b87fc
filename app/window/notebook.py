"""The pages in a notebook cell: the same objects as in the window of `app/window/shell.py`, with a plainer frame around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import panel as pn

from app.components.window.beacon import Beacon
from app.components.window.navigation import Navigation
from app.components.window.notice import Notice
from app.pages.base import PageInfo, PageView
from app.patches import known_defaults
from app.patches.notebook_wire import Wire
from app.session.clock import every
from app.session.errors import show_errors_with
from app.style import theme

SEND_MILLISECONDS = 50
GONE_LOOKS = 100
"""A view that has been in no notebook for so many looks is closed: its cell was deleted or run again."""

_BAR = ":host { background: #0B4A73; border-radius: 10px; padding: 4px 8px; box-sizing: border-box; }"

known_defaults.apply()


class Inline:
    """layout: what the cell shows.  pages: those to choose from; the first opens when the browser has drawn the frame."""

    def __init__(self, pages: Sequence[PageInfo]):
        self._pages = {page.title: page for page in pages}
        self._view: PageView | None = None
        self._absent = 0
        titles = list(self._pages)
        self._side = pn.Column(
            sizing_mode="stretch_width", margin=0, styles={"flex": "1 1 280px", "max-width": "360px"}
        )
        self._main = pn.Column(sizing_mode="stretch_width", margin=0, styles={"flex": "1000 1 640px", "min-width": "0"})
        self._main.append(pn.pane.HTML("<p>Starting…</p>", stylesheets=[theme.TEXT]))
        body = pn.FlexBox(self._side, self._main, gap="12px", align_items="flex-start", sizing_mode="stretch_width")
        beacon = Beacon(width=0, height=0, margin=0)
        beacon.listener = self._start
        self._notice = Notice(width=0, height=0, margin=0)
        self.layout = pn.Column(body, beacon, self._notice, sizing_mode="stretch_width", margin=0)
        if len(titles) > 1:
            navigation = Navigation(titles=titles, current=titles[0], margin=0)
            navigation.listener = self._open
            self.layout.insert(0, pn.Row(navigation, sizing_mode="stretch_width", stylesheets=[_BAR]))
        self._wire = Wire(self.layout)
        self._sending: Any = None

    def close(self) -> None:
        if self._sending is not None:
            self._sending.stop()
        if self._view is not None:
            self._view.close()

    def _start(self) -> None:
        if self._view is None:
            show_errors_with(self._show_error)
            self._wire.send()
            self._sending = every(SEND_MILLISECONDS, self._send)
            self._open(next(iter(self._pages)))

    def _open(self, title: str) -> None:
        if self._view is not None:
            self._view.close()
        self._view = self._pages[title].build()
        self._main.objects, self._side.objects = self._view.main, self._view.sidebar

    def _show_error(self, text: str) -> None:
        self._notice.text = text

    def _send(self) -> None:
        """Nobody says that a cell is gone; Panel only drops its models."""
        self._absent = 0 if self._wire.send() else self._absent + 1
        if self._absent >= GONE_LOOKS:
            self.close()
