"""A window that was made before its visitor came is the one that they would have had, and nobody else's."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from bokeh.core.has_props import HasProps
from bokeh.document import Document
from bokeh.model import Model
from bokeh.server.contexts import _RequestProxy
from cases import few
from panel.io.state import set_curdoc

from app.runs.manager import manager
from app.sharing.links import Link, encode
from app.window import spares, warmup

LINK = Link("local-geometry", {"problem": {"kind": "dln", "widths": [5, 4, 5]}, "steps": 3_000, "seed": 7})
HIDDEN = Link(LINK.page, LINK.config, ("answers", "controls", "pages"))
SERVER = SimpleNamespace(sessions=[])
ASKED = {
    "its address": ({"page": [b"local-geometry"]}, {}),
    "a narrow window": ({"page": [b"local-geometry"]}, {"llc-lab-narrow": "1"}),
    "the last page": ({}, {"llc-lab-page": "stationary-bias"}),
    "the first page": ({}, {}),
    "a tile": ({"page": [b"local-geometry"], "preset": [b"deep"]}, {}),
    "a tile that is not there": ({"page": [b"local-geometry"], "preset": [b"none"]}, {}),
    "a link": ({"c": [encode(LINK).encode()]}, {}),
    "a link for a class": ({"c": [encode(HIDDEN).encode()]}, {}),
    "a projector": ({"page": [b"local-geometry"], "present": [b"1"]}, {}),
    "a class view": ({"page": [b"local-geometry"], "hide": [b"answers"], "class": [b"1"]}, {}),
}


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """No window waits but those that a test makes."""
    assert warmup.wait(120)
    made: dict[str, list[Document]] = {}
    monkeypatch.setattr(spares, "_made", made)
    monkeypatch.setattr(spares, "_last", [])
    monkeypatch.setattr(spares, "OF_LAST", 1)
    yield
    for document in sum(made.values(), []):
        _left(document)


def _made(key: str) -> None:
    """Make the windows that may wait, and keep this page's."""
    spares._last[:] = [key]
    while spares.make_one(SERVER):
        pass
    assert len(spares._made[key]) == 1


def _opened(asked: tuple[dict[str, Any], dict[str, str]], document: Document) -> Document:
    """The document as the application fills it for this visitor."""
    arguments, cookies = asked
    request = SimpleNamespace(arguments={}, protocol="http", host="here:5006", uri="/app", path="/app")
    context = SimpleNamespace(
        request=_RequestProxy(request, arguments=arguments, cookies=cookies, headers={}),
        session=None,
        id="someone",
        server_context=SERVER,
        _document=document,
    )
    document._session_context = lambda: context
    with set_curdoc(document):
        document.template_variables.setdefault("dist_url", "static/extensions/panel/")
        spares.extend()
        spares.window()
    return document


def _left(document: Document) -> None:
    with set_curdoc(document):
        for callback in document.callbacks.session_destroyed_callbacks:
            callback(document.session_context)


def _content(document: Document) -> list[Any]:
    """All that a browser is sent, with models by their place in the order in which they are met."""
    places: dict[str, int] = {}
    found: list[Any] = []

    def plain(value: Any) -> Any:
        if isinstance(value, Model):
            if value.id not in places:
                places[value.id] = len(places)
                found.append((places[value.id], type(value).__name__, properties(value)))
            return f"model {places[value.id]}"
        if isinstance(value, HasProps):
            return properties(value)
        if isinstance(value, np.ndarray):
            return value.tolist()
        if isinstance(value, dict):
            return {str(name): plain(each) for name, each in value.items()}
        if isinstance(value, (list, tuple)):
            return [plain(each) for each in value]
        return value if isinstance(value, (str, int, float, bool, type(None))) else type(value).__name__

    def properties(model: HasProps) -> dict[str, Any]:
        # `name` counts the components of the process, and tags may hold what is at an address of its memory.
        return {
            name: plain(value)
            for name, value in sorted(model.properties_with_values().items())
            if name not in ("name", "tags", "id")
        }

    return [plain(list(document.roots)), found]


@pytest.mark.slow
@pytest.mark.parametrize("who", few(ASKED, 4))
def test_it_is_the_window_that_would_have_been_made(who):
    asked = ASKED[who]
    page = {"the last page": "stationary-bias", "the first page": "start"}.get(who, "local-geometry")
    _made(page)
    spare = spares.choose(*asked)
    assert spare is not None
    waited, made = _opened(asked, spare), _opened(asked, Document())
    assert _content(waited) == _content(made)
    assert waited.title == made.title and waited.template is made.template
    _left(waited), _left(made)


def test_what_one_visitor_does_is_in_nobody_else_s_window(monkeypatch):
    monkeypatch.setattr(spares, "OF_LAST", 2)
    spares._last[:] = ["local-geometry"]
    while spares.make_one(SERVER):
        pass
    asked = ASKED["its address"]
    first, second = spares.choose(*ASKED["a link for a class"]), spares.choose(*asked)
    assert first is not None and second is not None and first is not second
    assert spares.choose(*asked) is None, "each has one visitor"
    shell = spares._shells[first]
    _opened(ASKED["a link for a class"], first)
    with set_curdoc(first):
        shell._view.editor.widths.value = "9, 2, 9"
        shell._show_error("only mine")
    _opened(asked, second)
    fresh = _opened(asked, Document())
    assert _content(second) == _content(fresh) != _content(first)
    assert "only mine" not in str(_content(second)) and "9, 2, 9" not in str(_content(second))
    assert not spares.is_made(first) and not spares.is_made(second)
    for document in (first, second, fresh):
        _left(document)


def test_nothing_runs_in_a_window_that_waits():
    before = manager().active
    _made("local-geometry")
    document = spares._made["local-geometry"][0]
    live = spares._shells[document]._view._live
    assert manager().active == before and live.run is None and not live._on_screen
    _opened(ASKED["its address"], document)
    with set_curdoc(document):
        live._on_load()
        assert live.run is not None, "it begins when the page is on the screen"
    _left(document)
    assert live.run.over


@pytest.mark.parametrize(
    "asked",
    few(
        [
            ({"page": [b"decisions"]}, {}),
            ({"page": [b"local-geometry"]}, {"llc-lab-dark": "1"}),
            ({"page": [b"nowhere"]}, {}),
            ({"c": [b"damaged"]}, {}),
        ],
        1,
        rare=False,
    ),
)
def test_others_have_a_window_made_for_them(asked):
    _made("local-geometry")
    waiting = spares.count()
    assert spares.choose(*asked) is None and spares.count() == waiting
    assert len(_opened(asked, Document()).roots) > 0


@pytest.mark.slow
def test_more_of_the_pages_that_were_opened_last(monkeypatch):
    monkeypatch.setattr(spares, "OF_LAST", 2)
    asked = ASKED["its address"]
    assert spares.choose(*asked) is None, "nothing is made before somebody asks"
    while spares.make_one(SERVER):
        pass
    counts = {key: len(documents) for key, documents in spares._made.items()}
    assert counts.pop("local-geometry") == 2 and set(counts.values()) == {spares.EACH} and "start" in counts
    assert spares.choose(ASKED["its address"][0] | {"page": [b"decisions"]}, {}) is None
    while spares.make_one(SERVER):
        pass
    counts = {key: len(documents) for key, documents in spares._made.items()}
    assert counts["local-geometry"] == counts["decisions"] == 2 and counts["start"] == spares.EACH
    assert spares.choose({"page": [b"nowhere"]}, {}) is None
    assert not spares.make_one(SERVER), "a page that is not there wants no window"
