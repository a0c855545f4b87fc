"""The frame around the pages: header, navigation, side bar. Served before the engine is ready, filled when it is."""

from __future__ import annotations

import os
from typing import Any

import panel as pn
import panel_material_ui as pmui
import param
from panel.io.resources import LOCAL_DIST
from panel.util import edit_readonly

from app import theme, warmup
from app.components import ClosedOnPhones, Navigation
from app.errors import show_errors_with
from app.notice import Notice
from app.pages import PageInfo, PageView, load_pages

SIDEBAR_WIDTH = 340
WAIT_MILLISECONDS = 100


class _Calm(param.Parameterized):
    busy = param.Boolean(False)


class Shell:
    """One session's window."""

    def __init__(self) -> None:
        self._view: PageView | None = None
        # What changes later changes inside native columns: a figure that comes late into a Material container is measured
        # before it is drawn, and the page goes blank.
        self._main = pn.Column(sizing_mode="stretch_width", margin=0)
        self._side = pn.Column(sizing_mode="stretch_width", margin=0)
        self._notice = Notice(width=0, height=0, margin=0)
        self._pages: list[PageInfo] = []
        self.page = pmui.Page(
            title=os.environ.get("LLC_LAB_TITLE") or "LLC Lab",
            header=[_subtitle(), ClosedOnPhones(width=0, height=0, margin=0)],
            sidebar_width=SIDEBAR_WIDTH,
            main=[self._main, self._notice],
            sidebar=[self._side],
            theme_config=theme.THEME_CONFIG,
            sx=theme.HEADER,
            busy_indicator=None,
            meta_description="Watch samplers estimate the local learning coefficient, beside exact answers.",
            meta_icon=theme.ICON,
        )
        # The page follows Panel's busy flag, which flips twice per callback and each time walks all models of the page:
        # at twenty polls a second that alone occupies a processor, and the global flag keeps closed pages in memory.
        # Following a flag of its own instead cuts that tie.
        with edit_readonly(self.page):
            self.page.busy = _Calm().param.busy
        # Panel learns from the page request that its style sheets lie on this server. A session that is made without one,
        # because the first had expired before a slow browser came back for it, would ask for them on the internet.
        if pn.state.curdoc is not None:
            pn.state.curdoc.template_variables.setdefault("dist_url", LOCAL_DIST)
        show_errors_with(self._show_error)
        pn.state.on_session_destroyed(lambda context: self.close())
        if warmup.wait(0):
            self._fill()
        else:
            self._main.objects = [_message("Starting the engine…", "The page opens by itself in a few seconds.")]
            self._waiting = pn.state.add_periodic_callback(self._look, period=WAIT_MILLISECONDS)

    def close(self) -> None:
        if self._view is not None:
            self._view.close()

    def _show_error(self, text: str) -> None:
        self._notice.text = text

    def _look(self) -> None:
        if warmup.ready():
            self._waiting.stop()
            self._fill()

    def _fill(self) -> None:
        if warmup.error():
            self._main.objects = [_message("The engine is missing.", warmup.error())]
            return
        self._pages = load_pages()
        titles = [page.title for page in self._pages]
        if len(titles) > 1:
            navigation = Navigation(titles=titles, current=titles[0], margin=(0, 8), align="center")
            navigation.listener = self._open
            self.page.header = [navigation, *self.page.header]
        self._open(titles[0])

    def _open(self, title: str) -> None:
        chosen = next(page for page in self._pages if page.title == title)
        self.close()
        self._view = chosen.build()
        self._main.objects, self._side.objects = self._view.main, self._view.sidebar


def _subtitle() -> Any:
    return pn.pane.HTML(
        "<span>samplers, live beside exact answers</span>",
        margin=(0, 12),
        align="center",
        stylesheets=[
            ":host { color: #fff; opacity: .9; font-size: .9375rem; } @media (max-width: 1200px) { :host { display: none; } }"
        ],
    )


def _message(title: str, text: str) -> Any:
    return pn.pane.HTML(
        f"<h2>{title}</h2><p>{text}</p>", sizing_mode="stretch_width", margin=(40, 32), stylesheets=[theme.TEXT]
    )
