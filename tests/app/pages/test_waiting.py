"""What takes long is prepared beside the event loop: the page keeps what it shows, and the latest request wins."""

from __future__ import annotations

import json
from typing import Any

import pytest
from waiting import PATIENCE_SECONDS, Gate, settled

from app.estimates import networks as local_geometry
from app.pages import load_pages
from app.pages.stationary_bias import scene as bias_scene

LARGE = {"problem": {"kind": "dln", "widths": [440, 440], "n": 1000}, "chains": 2, "steps": 200}
SMALL = {"problem": {"kind": "dln", "widths": [5, 4, 5], "seed": 3}, "chains": 2, "steps": 200}
WRITTEN = {"target": {"kind": "landscape", "expression": "exp(-x^4/4)"}, "chains": 200, "steps": 500}
DRAWN = {"target": {"kind": "landscape", "points": [[-1.0, 0.2], [0.5, 0.7], [2.0, 0.1]]}, "chains": 200, "steps": 500}
NAMED = {"chains": 200, "steps": 500}


@pytest.fixture
def gate(monkeypatch):
    """Whatever makes a network or a distribution waits for it; nothing is known from before."""
    made = Gate()
    local_geometry._problems.forget()
    bias_scene._scenes.forget()
    monkeypatch.setattr(local_geometry, "build", made.before(local_geometry.build))
    monkeypatch.setattr(bias_scene, "_scene", made.before(bias_scene._scene))
    yield made
    made.open()


def page(key: str) -> Any:
    return next(page for page in load_pages() if page.key == key).build()


@pytest.fixture(
    params=[("local-geometry", LARGE, SMALL), ("stationary-bias", WRITTEN, NAMED)], ids=lambda given: given[0]
)
def case(request, monkeypatch):
    """A page, a configuration that takes long and one that does not, and what the visitor is told."""
    key, long, quick = request.param
    view = page(key)
    view.restore(quick)
    told: list[str] = []
    monkeypatch.setattr("app.pages.tiled.tell", told.append)
    yield view, long, quick, told
    view.close()


def test_a_link_that_takes_long_leaves_the_page_as_it_is_until_it_is_there(case, gate):
    view, long, _, told = case
    before = view.configuration()
    assert "Preparing" in view.restore(long)
    assert gate.begun.wait(PATIENCE_SECONDS), "in another thread, or this one would still wait"
    view.preparation.poll()
    assert view.configuration() == before and view.preparation.view.visible
    gate.open()
    settled(view)
    after = view.configuration()
    assert after != before and all(after[name] == long[name] for name in ("chains", "steps"))
    assert not view.preparation.view.visible and not told


def test_a_file_that_takes_long_is_not_said_to_be_set(case, gate):
    view, long, _, _ = case
    view.takeaway._on_upload(json.dumps(long))
    assert "Preparing" in view.takeaway.menu.message["text"] and not view.takeaway.menu.message["bad"]


def test_the_latest_request_wins(case, gate):
    view, long, quick, _ = case
    view.restore(long)
    preset = view.tiles.items[0]["name"]
    future = view.preparation._future
    assert gate.begun.wait(PATIENCE_SECONDS)
    gate.open()
    view.on_preset(preset)
    chosen = view.configuration()
    if not future.cancelled():  # it is, where every thread was busy
        assert future.result(PATIENCE_SECONDS) is not None
    view.preparation.poll()
    assert view.configuration() == chosen and view.tiles.selected == preset


def test_what_fails_late_is_one_sentence_and_changes_nothing(case, gate, monkeypatch):
    view, long, _, told = case
    before = view.configuration()

    def fails(*given: Any) -> Any:
        raise ValueError("widths[0] is too wide here; use a smaller one.")

    monkeypatch.setattr(local_geometry, "build", fails)
    monkeypatch.setattr(bias_scene, "_scene", fails)
    view.restore(long)
    settled(view)
    assert told == ["This configuration cannot be opened: widths[0] is too wide here; use a smaller one."]
    assert view.configuration() == before and not view.preparation.view.visible


def test_what_is_said_of_a_large_network_comes_from_the_thread_too():
    """The event loop went through all its data for the expected λ̂, or waited for a thread that did: 1.5 s at widths 440-440."""
    view = page("local-geometry")
    view.restore({**LARGE, "problem": {**LARGE["problem"], "seed": 11}, "gradient": "minibatch", "batch_size": 50})
    made = view.preparation._future.result(PATIENCE_SECONDS)[0].resolved.problem
    assert "_fitted_noise" in vars(made), "known before the page asks"
    assert settled(view).scene.problem is made
    view.close()


@pytest.mark.parametrize("widths, n, comes", [([4, 4], 10**15, "Preparing"), ([4, 4], 10**6, "")])
def test_much_data_take_long_whatever_the_network(local, gate, widths, n, comes):
    if not comes:
        gate.open()
    said = local.restore({"problem": {"kind": "dln", "widths": widths, "n": n, "seed": 12}, "chains": 2, "steps": 200})
    assert said.startswith(comes) and bool(said) == bool(comes)


@pytest.fixture
def local():
    view = page("local-geometry")
    view.restore(SMALL)
    yield view
    view.close()


@pytest.fixture
def bias():
    view = page("stationary-bias")
    yield view
    view.close()


@pytest.mark.slow
def test_the_side_bar_waits_too(local, gate):
    local.editor.ranks.value = ""
    local.editor.widths.value = "440, 440"
    assert local.preparation.busy and local.configuration()["problem"]["widths"] == [5, 4, 5]
    gate.open()
    assert settled(local).configuration()["problem"]["widths"] == [440, 440]


def test_a_formula_in_the_side_bar_waits_too(bias, gate):
    bias.target._take(dict(WRITTEN["target"]))
    assert bias.preparation.busy and "name" in bias.configuration()["target"]
    gate.open()
    assert "expression" in settled(bias).configuration()["target"]


def test_points_of_a_density_are_prepared_too(bias, gate):
    assert "Preparing" in bias.restore(DRAWN)


def test_what_is_known_is_shown_at_once(case, gate):
    """A second visitor of the same link, and the same visitor after a reset, wait for nothing."""
    view, long, quick, _ = case
    gate.open()
    view.restore(long)
    wanted = settled(view).configuration()
    view.restore(quick)
    assert view.restore(long) == "" and view.configuration() == wanted
