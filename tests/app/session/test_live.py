"""A page that is closed before it is on the screen starts nothing when it would have come there."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from weakref import WeakKeyDictionary, WeakSet

import panel as pn
import pytest
from bokeh.document import Document
from panel.io.state import set_curdoc

from app.runs import giving_way
from app.runs.job import State, Status
from app.session.live import GIVES_WAY, GONE_MILLISECONDS, SIDE_BY_SIDE, Live
from app.session.run_state import RunState, Shown


class Page:
    def __init__(self) -> None:
        self.live = Live(self.show)
        self.live.start(dict, 0)

    def show(self, state: object, rows: object) -> None: ...


def test_a_page_closed_before_it_came_up_neither_polls_nor_runs(monkeypatch):
    begins = []
    monkeypatch.setattr(type(pn.state), "onload", lambda self, begin: begins.append(begin))
    document = Document()
    with set_curdoc(document):
        closed, page = Page(), Page()
        closed.live.close()
        for begin in begins:
            begin()
        assert closed.live._callback is None and page.live._callback.running
        page.live.close()
        assert closed.live.run is None and page.live.run is not None


def test_pages_that_move_look_less_often_while_another_waits_for_its_first_picture(monkeypatch):
    monkeypatch.setattr(giving_way, "_awaited", WeakKeyDictionary())
    mine, other = Document(), Document()
    with set_curdoc(mine):
        page = Page()
        looked = []
        monkeypatch.setattr(page.live, "_poll", lambda: looked.append(1))
        giving_way.awaited(mine)
        giving_way.awaited(other)
        for _ in range(GIVES_WAY):
            page.live._tick()
        assert len(looked) == GIVES_WAY, "its own picture does not move yet"
        giving_way.drawn(mine)
        for _ in range(3 * GIVES_WAY):
            page.live._tick()
        assert len(looked) == GIVES_WAY + 3
        giving_way.drawn(other)
        for _ in range(GIVES_WAY):
            page.live._tick()
        assert len(looked) == 2 * GIVES_WAY + 3
        page.live.close()


def test_where_many_pages_move_each_shows_fewer_pictures(monkeypatch):
    class Moving:
        state = State(Status.RUNNING)

        def poll(self, cursor):
            return self.state, None

        def __getattr__(self, command):
            return lambda *arguments: None

    monkeypatch.setattr(Live, "_moving", WeakSet())
    looked: list[Live] = []
    lives = [Live(lambda state, rows, k=k: looked.append(k)) for k in range(2 * SIDE_BY_SIDE)]
    for live in lives:
        live.run, live.state = Moving(), RunState(Shown.RUNNING)
    for live in lives[:SIDE_BY_SIDE] * 4:
        live._tick()
    assert len(looked) == 4 * SIDE_BY_SIDE, "a few have all their pictures"
    looked.clear()
    for live in lives * 10:
        live._tick()
    shown = Counter(looked)
    assert len(shown) == len(lives) and all(4 <= shown[k] <= 7 for k in shown), "of ten every other one, once all move"
    for live in lives[SIDE_BY_SIDE:]:
        live.close()
    looked.clear()
    lives[0]._tick(), lives[0]._tick()
    assert looked == [0, 0]


def test_a_poll_that_was_started_after_it_was_stopped_ends_itself():
    document = Document()
    with set_curdoc(document):
        page = Page()
        page.live._on_load()
        callback = page.live._callback
        page.live.close()
        callback.running = True  # as Panel's `start`, put off to the next turn, leaves it
        page.live._tick()
    assert not callback.running


def test_a_run_is_prepared_while_the_browser_draws_and_plays_once_it_has(monkeypatch):
    told, begins = [], []

    class Handle:
        playing = False

        def __getattr__(self, command):
            return lambda *arguments: told.append(command)

    runs = SimpleNamespace(
        submit=lambda build, playing=True, claim=None: told.append(f"playing: {playing}") or Handle()
    )
    monkeypatch.setattr("app.session.live.manager", lambda: runs)
    monkeypatch.setattr(type(pn.state), "onload", lambda self, begin: begins.append(begin))
    document = Document()
    with set_curdoc(document):
        page = Page()
        (ahead,) = document.session_callbacks
        assert told == []
        ahead.callback()
        assert told == ["playing: False", "prepare"]
        begins[0]()
        assert told[2:] == ["play"]
        page.live.close()
        assert told[3:] == ["cancel"]


def test_a_slow_run_goes_where_no_picture_waits_for_its_steps(monkeypatch):
    given = []
    for name in ("manager", "long_steps"):
        runs = SimpleNamespace(submit=lambda build, playing=True, claim=None, name=name: given.append(name))
        monkeypatch.setattr(f"app.session.live.{name}", lambda runs=runs: runs)
    monkeypatch.setattr(Live, "_on_screen", True)
    live = Live(lambda state, rows: None)
    for slow in (False, True, False):
        live.start(dict, 0, slow)
    assert given == ["manager", "long_steps", "manager"]


@pytest.mark.parametrize("played", [True, False])
def test_a_run_rests_while_nobody_sees_it_and_ends_when_nobody_comes_back(played):
    told, shown = [], []

    class Handle:
        playing = played
        state = State(Status.RUNNING)

        def poll(self, cursor):
            return self.state, None

        def __getattr__(self, command):
            return lambda *arguments: told.append(command)

    live = Live(lambda state, rows: shown.append(state))
    browser = SimpleNamespace(connection_count=1)
    live._document = Document()
    live._document._session_context = lambda: SimpleNamespace(session=browser)
    live.run, live.state = Handle(), RunState(Shown.RUNNING if played else Shown.PAUSED)
    live._poll()
    browser.connection_count = 0
    for _ in range(3):
        live._poll()
    assert told == ["pause"] * played and len(shown) == 1  # nor is anything drawn
    browser.connection_count = 1
    live._poll()
    assert told == ["pause", "play"] * played and len(shown) == 2
    browser.connection_count = 0
    for _ in range(GONE_MILLISECONDS // live._period + 1):
        live._poll()
    assert told == ["pause", "play", "pause"] * played + ["cancel"]
    Handle.state, browser.connection_count = State(Status.CANCELLED), 1
    live._poll()
    assert told[-1] == "cancel" and shown[-1].status is Status.CANCELLED
