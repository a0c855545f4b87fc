"""The window of a session that is over opens nothing more: nobody would ever close it."""

from __future__ import annotations

import gc
from concurrent.futures import ThreadPoolExecutor
from weakref import ref

import panel as pn
import pytest
from bokeh.document import Document
from panel.io.state import set_curdoc

from app.components.drawings.valley import Valley
from app.pages.base import PageInfo
from app.window import warmup
from app.window.shell import Shell


def test_a_page_asked_for_as_the_visitor_left_is_not_built():
    assert warmup.wait(120)
    shell = Shell()
    shell._pages = [PageInfo("Late", "late", 1, lambda: pytest.fail("built for nobody"))]
    shell.leave()
    shell._open("Late")
    assert shell._view is None


def test_a_window_that_is_over_keeps_no_page():
    """Those of visitors who came during the warm-up are never collected themselves."""
    assert warmup.wait(120)

    def left() -> tuple[Shell, ref]:
        shell = Shell()
        view = ref(shell._view)
        shell.leave()
        return shell, view

    with ThreadPoolExecutor(
        1
    ) as thread:  # browser tests leave a loop running in this one, which keeps what it was asked to do
        shell, view = thread.submit(left).result()
    gc.collect()
    assert shell.page is not None and view() is None


def test_the_warm_up_is_not_looked_through_by_the_collector(monkeypatch):
    assert warmup.wait(120)
    met: list[object] = []
    monkeypatch.setattr(warmup, "_first_run", lambda: met.append(gc.isenabled()))
    monkeypatch.setattr(gc, "freeze", lambda: met.append("frozen"))
    warmup._warm()
    assert met == [False, "frozen"] and gc.isenabled()


@pytest.mark.parametrize("dark", [True, False])
@pytest.mark.parametrize("narrow", [True, False])
def test_a_window_is_made_as_it_was_last(monkeypatch, dark, narrow):
    cookies = {"llc-lab-dark": str(int(dark)), "llc-lab-narrow": str(int(narrow))}
    monkeypatch.setattr(type(pn.state), "cookies", cookies)
    with set_curdoc(Document()):
        shell = Shell()
        assert shell.page.dark_theme is dark
        assert shell.page.sidebar_open is not narrow and shell._surroundings.folded is narrow
        shell.leave()
    assert pn.config.theme == "default", "other sessions are not asked"


@pytest.mark.parametrize("last", ["", "start", "decisions"])
def test_before_the_engine_is_there_a_valley_can_be_bent_and_stays_bent(monkeypatch, last):
    """Whoever used another page last waits for that one."""
    assert warmup.wait(120)
    monkeypatch.setattr(type(pn.state), "cookies", {"llc-lab-page": last})
    with set_curdoc(Document()):
        with monkeypatch.context() as cold:
            cold.setattr(warmup, "wait", lambda seconds: False)
            shell = Shell()
        valleys = shell._main.select(Valley)
        assert len(valleys) == (last != "decisions")
        for valley in valleys:
            valley._handle_msg({"bend": 1.5, "samples": 3.0})
        shell._waiting.stop()
        shell._fill()
        assert shell._key == (last or "start")
        if valleys:
            assert shell._view.configuration() == {"bend": 1.5, "samples": 3.0}
        shell.leave()
