"""The frame around the pages: header, navigation, side bar. Served before the engine is ready, filled when it is. Long, since one
class answers for the whole window."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any
from uuid import uuid4

import panel as pn
import panel_material_ui as pmui
import param
from panel.io.resources import LOCAL_DIST

from app.components.drawings.valley import Valley
from app.components.window.full_screen import FullScreen
from app.components.window.navigation import Navigation
from app.components.window.notice import Notice
from app.components.window.projector import Projector
from app.components.window.skip_link import SkipLink
from app.components.window.surroundings import Surroundings, last_page, was
from app.components.window.tour import TourBar
from app.pages import load_pages
from app.pages.base import PageInfo, PageView
from app.patches import busy_flag, early_changes, known_defaults, native_modules, own_values, quick_visuals
from app.patches.repairs import Repairs
from app.runs import giving_way
from app.runs.job import Status
from app.session.clock import every
from app.session.errors import show_errors_with
from app.sharing.links import Link, Named, encode, from_arguments, named
from app.sharing.share_menu import ShareMenu
from app.style import theme
from app.window import warmup
from app.window.touring import Touring

SIDEBAR_WIDTH = 340
WAIT_MILLISECONDS = 100
MENDS = f"{own_values.SCRIPT}\n{quick_visuals.SCRIPT}"
OPENING = Path(__file__).with_name("opening.html").read_text(encoding="utf-8").replace("{{ mends }}", MENDS)

early_changes.apply()
native_modules.apply()
known_defaults.apply()


class Shell:
    """One session's window.

    ahead: key of the page that it is made with before there is a visitor, who comes by `arrive`; empty: its visitor is there.
    """

    def __init__(self, ahead: str = "") -> None:
        busy_flag.look_after()
        if was("dark"):
            pn.config.theme = "dark"
        self._view: PageView | None = None
        self._bent: dict[str, float] = {}
        """What a visitor did with the valley before the engine was there."""
        self._class: Any = None
        """The teacher's view of what a class guesses, where it is asked for."""
        self._left = False
        # What changes later changes inside native columns: a figure that comes late into a Material container is measured
        # before it is drawn, and the page goes blank.
        self._main = pn.Column(sizing_mode="stretch_width", margin=0)
        self._side = pn.Column(sizing_mode="stretch_width", margin=0)
        self._notice = Notice(width=0, height=0, margin=0)
        self._projector = Projector(width=0, height=0, margin=0)
        self._projector.listener = self._present
        self._share = ShareMenu(margin=(0, 8), align="center")
        self._touring = Touring()
        self._surroundings = Surroundings(folded=was("narrow"), width=0, height=0, margin=0)
        self._pages: list[PageInfo] = []
        self._key = ""
        self._hidden: tuple[str, ...] = ()
        title = os.environ.get("LLC_LAB_TITLE") or "LLC Lab"
        self._name = _name(title)
        self.page = pmui.Page(
            meta_title=title,
            theme_toggle=False,  # among the settings: the header keeps what most visitors press
            header=[
                self._name,
                _subtitle(),
                self._surroundings,
                *(unseen(width=0, height=0, margin=0) for unseen in (SkipLink, Repairs, FullScreen)),
            ],
            sidebar_width=SIDEBAR_WIDTH,
            sidebar_open=not was("narrow"),
            main=[self._main, self._notice, self._projector],
            theme_config=theme.THEME_CONFIG,
            sx=theme.HEADER,
            busy_indicator=None,
            meta_description="Watch samplers estimate the local learning coefficient, beside exact answers.",
            meta_icon=theme.ICON,
            template=OPENING,
        )
        self.page.sidebar = [self._side, _dark(self.page)]
        busy_flag.never_busy(self.page)
        # Panel learns from the page request that its style sheets lie on this server. A session that is made without one,
        # because the first had expired before a slow browser came back for it, would ask for them on the internet.
        if pn.state.curdoc is not None:
            pn.state.curdoc.template_variables.setdefault("dist_url", LOCAL_DIST)
        show_errors_with(self._show_error)
        pn.state.on_session_destroyed(lambda context: self.leave())
        if ahead:
            self._pages = load_pages()
            self._furnish(self._titled(ahead))
            self._open(self._titled(ahead))
        elif warmup.wait(0):
            self._fill()
        else:
            self._main.objects = self._meanwhile()
            self._waiting = every(WAIT_MILLISECONDS, self._look)

    def _meanwhile(self) -> list[Any]:
        """Before the engine is there: the valley of the page "Start" needs none, and moves at once."""
        if set(pn.state.session_args) & {"c", "page"} or last_page() not in ("", "start"):
            return [_message("Starting the engine…", "The page opens by itself in a few seconds.")]
        valley = Valley(sizing_mode="stretch_width", margin=(0, 18))
        valley.listener = lambda bend, samples: self._bent.update(bend=bend, samples=samples)
        return [
            _message("Starting the engine…", "Bend the valley meanwhile: λ counts the weights that it uses."),
            valley,
        ]

    def leave(self) -> None:
        """The session is over. What its visitor asked for last may still arrive, and opens no page."""
        self._left = True
        self._touring.close()
        self.close()
        # The window of a visitor who came during the warm-up is among what is never collected: it holds no page any more.
        self._view = None
        for column in (self._main, self._side):
            with param.parameterized.discard_events(column):
                column.objects = []

    def close(self) -> None:
        if self._class is not None:
            self._class.close()
        if self._view is not None:
            self._view.close()

    def _show_error(self, text: str) -> None:
        self._notice.text = text

    def _look(self) -> None:
        # Not while a browser is between connecting and having the page: what is added then may not reach it.
        if warmup.ready() and (pn.state.loaded or not early_changes.has_browser(pn.state.curdoc)):
            self._waiting.stop()
            self._fill()

    def _fill(self) -> None:
        if warmup.error():
            self._main.objects = [_message("The engine is missing.", warmup.error())]
            return
        self._pages = load_pages()
        link, asked, first = self._wishes()
        self._hidden = asked.hide
        self._furnish(first)
        self._projector.on_screen = _asked(pn.state.session_args, "present")
        self._open(first)
        self._set(link, asked)
        self._awaited()

    def arrive(self) -> None:
        """The visitor of a window that was made ahead is there: what their address and their browser say of it."""
        self._surroundings.folded = was("narrow")
        self.page.sidebar_open = not was("narrow")
        link, asked, first = self._wishes()
        self._hidden = asked.hide
        if self._hidden:
            self._furnish(first)
        self._projector.on_screen = _asked(pn.state.session_args, "present")
        self._dress()
        self._set(link, asked)
        self._awaited()

    def _awaited(self) -> None:
        """Others give way until something moves here."""
        if self._view is not None and self._view.state.status is not Status.FINISHED:
            giving_way.awaited(pn.state.curdoc)

    def _wishes(self) -> tuple[Link | None, Named, str]:
        """The link of the address, what else it says, and the title of the page that opens."""
        try:
            link = from_arguments(pn.state.session_args)
            asked = Named(link.page, "", link.hide) if link is not None else named(pn.state.session_args)
            return link, asked, self._titled(asked.page) if asked.page else self._last_used(self._pages[0].title)
        except ValueError as error:
            self._show_error(str(error))
            return None, Named(), self._pages[0].title

    def _furnish(self, first: str) -> None:
        """The header, without what a link leaves out."""
        header = [part for part in self.page.header if not isinstance(part, Navigation | TourBar | ShareMenu)]
        titles = [page.title for page in self._pages]
        if len(titles) > 1 and "pages" not in self._hidden:
            main = sum(page.main for page in self._pages)
            keys = [page.key for page in self._pages]
            names = {"titles": titles, "keys": keys, "main": main, "app": self.page.meta.title}
            navigation = Navigation(**names, current=first, margin=(0, 8), align="center")
            navigation.listener = self._open
            header.insert(1, navigation)
        if not {"presets", "controls"} & set(self._hidden):  # a tour changes what a visitor may change
            header.append(self._touring.bar)
        if not self._hidden:
            self._share.make = self._link
            header.append(self._share)
        self.page.header = header

    def _set(self, link: Link | None, asked: Named) -> None:
        """Set the page as the address says."""
        if self._view is None:
            return
        try:
            if link is not None:
                self._view.restore(link.config)
            elif asked.preset:
                self._choose(self._view, asked.preset)
            elif self._bent and self._key == "start":
                self._view.restore(self._bent)
        except ValueError as error:
            self._show_error(f"This link cannot be opened: {error}")

    @staticmethod
    def _choose(view: PageView, preset: str) -> None:
        """Open the page with a preset; ValueError where it has none of that name."""
        names = [item["name"] for item in view.tiles.items]
        if preset not in names:
            raise ValueError(f"preset is {preset[:40]!r}; this page has {', '.join(names)}.")
        view.tiles.listener(preset)

    def _titled(self, key: str) -> str:
        for page in self._pages:
            if page.key == key:
                return page.title
        raise ValueError("This link opens a page that this app does not have; update the app or the link.")

    def _last_used(self, first: str) -> str:
        """The page that this visitor left with; `first` for a new one."""
        key = last_page()
        return next((page.title for page in self._pages if page.key == key), first)

    def _link(self, hide: tuple[str, ...]) -> str:
        if self._view is None:
            raise ValueError("This page is closed; open it again.")
        return encode(Link(self._key, self._view.configuration(), hide))

    def _address(self) -> str:
        """The open page's settings for the address of the window; empty where it does not follow, or they are too long for it."""
        if self._hidden:
            return ""
        try:
            return self._link(())
        except ValueError:
            return ""

    def _open(self, title: str) -> None:
        if self._left:
            return
        chosen = next(page for page in self._pages if page.title == title)
        self.close()
        self._key = chosen.key
        self._view = chosen.build()
        self._touring.turn_to(self._view, chosen.tour)
        self._dress()

    def _dress(self) -> None:
        """Put the page into the window, without what a link leaves out."""
        if self._view is None:
            return
        for name in self._hidden:
            for part in self._view.parts.get(name, ()):
                part.visible = False
        self._view.tiles.page = "" if self._hidden else self._key
        self._view.address = self._address
        main = [*self._class_view(), *self._view.main]
        if self._main.objects != main:
            self._main.objects = main
        side = [] if "controls" in self._hidden else self._view.sidebar
        if self._side.objects != side:
            self._side.objects = side
        if "controls" in self._hidden:
            self.page.sidebar_open = self._surroundings.folded = False
        if self._projector.on_screen:
            self._present(True)

    def _class_view(self) -> list[Any]:
        """Guesses are counted where a link leaves the answers out; the teacher's window shows them."""
        if self._class is not None:
            self._class.close()
        self._class = None
        guessing = getattr(self._view, "guessing", None)
        if "answers" not in self._hidden or guessing is None:
            return []
        from app.sharing.class_room import PARAMETER, ClassView, room

        view, found = self._view, room(str([pn.state.session_args.get(name) for name in ("c", "page", "preset")]))
        if not _asked(pn.state.session_args, PARAMETER):
            window = uuid4().hex
            guessing.on_guess = lambda value: found.guess(window, value)
            return []
        self._class = ClassView(found, lambda: _truth(view))
        return [pn.Column(self._class.view, sizing_mode="stretch_width", margin=(12, 18, 0, 18))]

    def _present(self, on_screen: bool) -> None:
        """On a projector only the answer and the figures stay; the presets and the side bar are for the one who operates it."""
        if self._view is None:
            return
        if "presets" not in self._hidden:
            self._view.tiles.visible = not on_screen
        if "controls" not in self._hidden:
            self.page.sidebar_open = not on_screen


def _asked(arguments: Mapping[str, Sequence[bytes]], name: str) -> bool:
    """Whether the address has `name=1`."""
    return list(arguments.get(name, ())) == [b"1"]


def _truth(view: Any) -> float | None:
    """The exact λ of a page, once it is shown."""
    truth = view.truth() if view is not None and view.answers.visible else None
    return None if truth is None else float(truth.value)


def _dark(page: pmui.Page) -> pmui.Switch:
    return pmui.Switch.from_param(page.param.dark_theme, label="Dark colours", description="", margin=(0, 16, 24, 16))


def _name(title: str) -> pn.pane.HTML:
    """No link: the menu beside it opens every page. On a phone the buttons need its room."""
    return pn.pane.HTML(
        f"<span>{escape(title)}</span>",
        margin=(0, 8, 0, 0),
        align="center",
        stylesheets=[
            ":host { color: #fff; font-size: 1.25rem; font-weight: 700; white-space: nowrap; } @media (max-width: 599px) { :host { display: none; } }"
        ],
    )


def _subtitle() -> Any:
    return pn.pane.HTML(
        "<span>samplers, live beside exact answers</span>",
        margin=(0, 12),
        align="center",
        stylesheets=[
            ":host { color: #fff; opacity: .9; font-size: .875rem; } @media (max-width: 1560px) { :host { display: none; } }"
        ],
    )


def _message(title: str, text: str) -> Any:
    return pn.pane.HTML(
        f"<h2>{title}</h2><p>{text}</p>", sizing_mode="stretch_width", margin=(40, 32), stylesheets=[theme.TEXT]
    )
