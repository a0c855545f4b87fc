"""The first picture of a page is sent first, and the rest once it is on the screen."""

from __future__ import annotations

import threading
from weakref import WeakKeyDictionary

import panel as pn
import panel_material_ui as pmui
import pytest
from bokeh.document import Document
from bokeh.models import Plot
from panel.io.state import set_curdoc

from app.pages import load_pages
from app.runs import giving_way
from app.runs.job import State, Status
from app.style.later import PATIENCE, SEEN, SHARE, Later

PAGES = [page for page in load_pages() if page.key != "benchmark"]
"""All that run something."""


def test_the_rest_waits_for_the_first_picture_and_comes_once():
    later = Later()
    column = later.put(pn.Column("first"), [pn.pane.HTML("second"), pn.pane.HTML("third")])
    assert [later.due(False) for _ in range(PATIENCE)] == [False] * PATIENCE
    assert later.due(False), "a run that rests keeps nobody from the rest of the page"
    later.arrive()
    later.arrive()
    assert [pane.object for pane in column] == ["first", "second", "third"]
    assert later.arrived and not later.due(True)


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """No other page's rest has just come."""
    monkeypatch.setattr(Later, "_next", 0.0)


@pytest.mark.parametrize("theme", ["dark", "default"])
def test_what_comes_later_is_dark_where_the_page_has_become_so(theme):
    later, before = Later(), pn.config.theme
    button = pmui.Button(name="deep inside", dark_theme=theme != "dark")
    later.put(pn.Column(), [pn.Column(pn.Column(button))])
    try:
        pn.config.theme = theme
        later.arrive()
        assert button.dark_theme == (theme == "dark")
    finally:
        pn.config.theme = before


def test_the_first_picture_has_time_to_be_drawn():
    later = Later()
    assert [later.due(moved) for moved in (False, *[True] * SEEN)] == [False] * SEEN + [True]


def test_while_others_wait_for_their_pages_the_rest_waits_too(monkeypatch):
    waiting, later = threading.Event(), Later()
    monkeypatch.setattr("app.runs.giving_way.pages_wait", waiting)
    waiting.set()
    assert [later.due(True) for _ in range(SEEN + 1)] == [False] * (SEEN + 1)
    waiting.clear()
    assert later.due(True)
    waiting.set()
    assert [later.due(True) for _ in range(PATIENCE)][-1], "but not for ever"


def test_the_rest_waits_until_other_pages_move_too(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(giving_way, "monotonic", lambda: now[0])
    monkeypatch.setattr(giving_way, "_awaited", WeakKeyDictionary())
    mine, other, third = Document(), Document(), Document()
    later = {document: Later() for document in (mine, other, third)}

    def due(document: Document, moved: bool) -> bool:
        with set_curdoc(document):
            return later[document].due(moved)

    for document in later:
        giving_way.awaited(document)
    giving_way.drawn(mine)
    assert [due(mine, True) for _ in range(SEEN + 1)] == [False] * (SEEN + 1)
    giving_way.drawn(other)
    assert [due(other, True) for _ in range(SEEN + 1)] == [False] * (SEEN + 1)
    now[0] += 2 * giving_way.LONGEST_SECONDS
    assert due(mine, True) and due(other, True), "one who has gone keeps nobody waiting"


def test_the_rests_of_two_pages_do_not_come_in_a_row(monkeypatch):
    now, first, second = [100.0], Later(), Later()
    monkeypatch.setattr("app.style.later.monotonic", lambda: now[0])

    class Slow(pn.Column):
        def extend(self, objects: list) -> None:
            now[0] += 0.5

    first.put(Slow(), [])
    assert [first.due(True) for _ in range(SEEN)][-1]
    assert [second.due(True) for _ in range(SEEN)][-1]
    first.arrive()
    assert not second.due(True)
    now[0] += 0.9 * SHARE * 0.5
    assert not second.due(True)
    now[0] += 0.2 * SHARE * 0.5
    assert second.due(True)


def models(parts: list) -> tuple[int, int]:
    """How many models a browser is given of parts of a page, and how many of them are figures."""
    document = Document()
    for part in parts:
        document.add_root(part.get_root(document))
    found = list(document.models)
    return len(found), sum(isinstance(model, Plot) for model in found)


@pytest.mark.slow
@pytest.mark.parametrize("info", [info for info in PAGES if info.key != "start"], ids=lambda info: info.key)
def test_a_page_opens_with_less_than_it_has(info):
    view = info.build()
    try:
        before, figures = models([*view.main, *view.sidebar])
        assert figures or info.key == "decisions"
        view.later._moved = SEEN
        view._on_poll(State(Status.RUNNING, 1), None)
        assert view.later.arrived
        after, all_figures = models([*view.main, *view.sidebar])
        assert after > before and all_figures >= figures
    finally:
        view.close()
