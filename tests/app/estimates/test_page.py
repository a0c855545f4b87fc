"""The base of the pages that estimate λ: one resolution for each change, and widgets that show what is run."""

from __future__ import annotations

import json
import math
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from cases import few

from app.pages import load_pages
from app.pages.local_geometry.page import LocalGeometry
from app.runs.job import State, Status
from app.sharing.links import Link, decode, encode
from app.style.numbers import UNKNOWN
from llc_core import Run, RunConfig, Verdict
from llc_core.engine import resolve as engine

PAGES = {page.key: page for page in load_pages()}
LINKS: dict[str, dict[str, Any]] = {
    "local-geometry": {
        "problem": {"kind": "dln", "widths": [3, 2], "layer_ranks": [1], "seed": 4},
        "sampler": {"name": "SGLD", "step_size": 1e-7},
        "gradient": "minibatch",
        "steps": 400,
        "burn_in": 100,
        "dtype": "float32",
    },
    "landscapes": {
        "problem": {"kind": "planar", "name": "normal_crossing", "k": [1, 2], "n": 500},
        "sampler": {"name": "SGLD"},
        "steps": 300,
    },
    "your-network": {"network": "small", "part": "layer:2", "checkpoint": 100, "steps": 200, "burn_in": 50},
    "polygons": {"problem": {"kind": "superposition", "sides": 6}, "steps": 300},
}


@pytest.fixture(scope="module", params=few(LINKS, 3))
def view(request) -> Iterator[Any]:
    made = PAGES[request.param].build()
    made.key_of_test = request.param
    yield made
    made.close()


@pytest.fixture
def resolutions(monkeypatch) -> list[Any]:
    """Grows by one with every call of `resolve`, wherever it is imported; not with those of threads that answer other questions."""
    calls: list[Any] = []
    original, own = engine.resolve, threading.get_ident()

    def counted(*args: Any, **named: Any) -> Any:
        if threading.get_ident() == own:
            calls.append(args)
        return original(*args, **named)

    for module in list(sys.modules.values()):
        if vars(module).get("resolve") is original:
            monkeypatch.setattr(module, "resolve", counted)
    return calls


def open_link(view: Any) -> None:
    view.restore(decode(encode(Link(view.key_of_test, LINKS[view.key_of_test]))).config)


def open_file(view: Any) -> None:
    view.takeaway._on_upload(json.dumps(LINKS[view.key_of_test]))
    assert not view.takeaway.menu.message["bad"]


def choose_preset(view: Any) -> None:
    view.tiles.listener(list(view._presets)[1])


def change_setting(view: Any) -> None:
    """As the slider's entry does."""
    seed = view.controls.fields["seed"]
    seed._on_user("text", str((seed.value + 1) % 100))


def change_sampler(view: Any) -> None:
    other = "SGLD" if view.controls.sampler.value != "SGLD" else "PSGLD"
    view.controls.sampler.widget.value = other


def change_problem(view: Any) -> None:
    """As the first entry of the editor does."""
    if view.key_of_test == "local-geometry":
        view.editor.widths.value = "3, 3" if view.editor.widths.value != "3, 3" else "3, 2"
    elif view.key_of_test == "polygons":
        view.editor.sides.widget.value = "5" if view.editor.sides.value != "5" else "6"
    elif view.key_of_test == "landscapes":
        view.editor.choice.widget.value = "quadratic" if view.editor.choice.value != "quadratic" else "line_and_point"
    else:
        view.editor.network.value = "deep" if view.editor.network.value != "deep" else "small"


WAYS = (choose_preset, open_link, open_file, change_setting, change_sampler, change_problem)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_configuration_is_resolved_once_from_its_change_to_its_run(view, resolutions, way):
    before = view.config
    way(view)
    assert view.config is not before and not view.fault.visible
    view._live._build()  # what a thread of the run manager does
    assert len(resolutions) == 1


def test_to_start_again_resolves_nothing(view, resolutions):
    before = view.config
    view._on_command("reset")
    view._live._build()
    assert view.config is before and not resolutions


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_the_widgets_show_what_is_run(view, way):
    way(view)
    assert view.controls.values == dict(view.config.settings)
    read_back = view.of_side_bar()
    assert read_back.problem == view.config.problem
    assert read_back.complete == view.config.complete
    assert json.loads(view.takeaway.menu.configuration)["steps"] == view.config.complete.steps


def test_every_preset_is_shown_as_it_is_run(view):
    for name in view._presets:
        view.on_preset(name)
        assert view.tiles.selected == name
        assert view.controls.values == dict(view.config.settings)
        assert view.of_side_bar().complete == view.config.complete


def test_what_cannot_be_run_is_said_and_the_present_run_stays(view):
    choose_preset(view)
    before, link = view.config, view.configuration()
    view.controls.fields["chains"].set(10**6)  # more than the slider would send
    view._on_settings()
    assert view.fault.visible and "chains" in view.fault.object
    assert view.config is before and view.configuration() == link
    view._on_command("reset")
    assert view.config is before and view.fault.visible, "what the side bar says is still not run"
    choose_preset(view)
    assert not view.fault.visible


def test_the_run_of_a_link_has_the_link_s_numbers(view):
    open_link(view)
    wanted = LINKS[view.key_of_test]
    complete = view.config.complete
    assert complete.steps == wanted["steps"]
    assert complete.burn_in_steps(complete.steps) == wanted.get("burn_in", wanted["steps"] // 2)
    assert isinstance(complete, RunConfig) and complete.dtype == "float32"


def test_the_advice_of_the_verdict_is_one_click():
    """RMSProp bends its law: the click raises its stability constant, and the run begins anew with nothing else changed."""
    view = LocalGeometry()
    try:
        view.on_preset("rmsprop")
        seen = view.config.resolved
        run = Run(seen.config.replace(chains=2, steps=400), seen.problem)
        found = replace(
            run.estimates()[0], converged=Verdict(False, "It is bent.", "Mend it.", change={"stability": 0.01})
        )
        snapshot = run.advance(400)
        found = replace(found, steps=400, burn_in=200)
        view._show_words(State(status=Status.FINISHED, snapshot=snapshot, estimate=found))
        assert view.apply.button.label == "Apply: stability a 0.01" and "Mend it." in view.verdict.object
        before = view.controls.values
        view.apply.press()
        after = {**before, "sampler": {**before["sampler"], "stability": 0.01}}
        assert view.controls.values == after and view.config.complete.sampler["stability"] == 0.01
        assert not view.apply.button.visible
    finally:
        view.close()


def test_the_first_number_does_not_wait_for_the_turn_of_the_words(monkeypatch):
    view = PAGES["landscapes"].build()
    monkeypatch.setattr(view, "word_ticks", 10**6)
    told = []
    for version, newest in enumerate((math.nan, 3.2, 4.1), start=1):
        monkeypatch.setattr(view.estimates, "newest", lambda newest=newest: newest)
        view._on_poll(State(Status.RUNNING, version), None)
        told.append(view.readouts.values.get("llc"))
    view.close()
    assert told[0] in (None, UNKNOWN) and told[1:] == ["3.2 so far", "3.2 so far"]
