"""The button "Polish w0": the same run at the minimum of the loss, and both numbers."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
from waiting import settled

from app.estimates.polishing import BACK, INVITATION, POLISH
from app.estimates.scale import WIDTH, draw_scale
from app.pages import load_pages
from app.runs import polishing as in_time
from app.runs.job import OVER, State, Status
from app.runs.manager import manager
from llc_core import DeepLinearNetwork, RunConfig, estimate, polish
from llc_core.engine.resolve import resolve

LOCAL = {
    "problem": {"kind": "dln", "widths": [6, 5], "n": 2000, "seed": 1},
    "sampler": {"name": "UnderdampedLangevin"},
    "chains": 4,
    "steps": 3000,
}
NETWORK = {"network": "heads", "checkpoint": 600, "part": "layer:logits", "steps": 100, "localization": 1.0}


@pytest.fixture
def view(request: pytest.FixtureRequest) -> Iterator[Any]:
    view = next(page for page in load_pages() if page.key == request.param).build()
    yield view
    view.close()


def _run_to_its_end(view: Any) -> None:
    """What the page prepared runs until it is over, and the page has shown it."""
    run = settled(view)._live.run = manager().submit(view._live._build)
    end = time.monotonic() + 120
    while run.state.status not in OVER and time.monotonic() < end:
        time.sleep(0.02)
    assert run.state.status is Status.FINISHED, run.state.message
    view._show_words(run.state)


@pytest.mark.slow
@pytest.mark.parametrize("view", ["local-geometry"], indirect=True)
def test_the_same_run_at_the_minimum_and_both_numbers_on_the_number_line(view: Any) -> None:
    view.restore(LOCAL)
    assert view.polishing.button.label == POLISH and INVITATION in view.polishing.words.object
    _run_to_its_end(view)
    before = view.state.estimate
    assert "as given" not in view.scale.object and view.readouts.values["expected"] != "—"
    view.polishing.press()
    assert view.config.complete.polish and view.polishing.button.label == BACK
    assert view.config.complete.replace(polish=False) == before.config
    _run_to_its_end(view)
    found = view.state.estimate
    done = polish(DeepLinearNetwork.random(widths=[6, 5], n=2000, seed=1))
    assert found.polished is not None and found.polished.llc == pytest.approx(done.llc, abs=0.01)
    assert found.llc == pytest.approx(15, rel=0.03) and view.readouts.values["expected"] == "15"
    assert found.polished.sentence in view.polishing.words.object
    assert f"λ̂ at w0 as given {before.llc:.3g}" in view.scale.object
    assert f"λ̂ at the polished w0 {found.llc:.3g}" in view.scale.object
    view.polishing.press()
    assert not view.config.complete.polish and view.polishing.before is None


@pytest.mark.parametrize("view", ["local-geometry"], indirect=True)
def test_another_run_is_not_compared_with(view: Any) -> None:
    view.restore(LOCAL)
    _run_to_its_end(view)
    view.restore({**LOCAL, "seed": 3, "polish": True})
    assert view.polishing.on and view.polishing.before is None
    view.restore({**LOCAL, "polish": True})
    assert view.polishing.before == (pytest.approx(view.polishing._known[1][0]), view.polishing._known[1][1])


@pytest.mark.parametrize("view", ["local-geometry"], indirect=True)
def test_links_files_and_scripts_keep_it(view: Any) -> None:
    view.restore({**LOCAL, "polish": True})
    assert view.configuration()["polish"] is True and view.controls.polish
    assert json.loads(view.takeaway.content("config")[1])["polish"] is True
    assert "polish=True" in view.takeaway.content("python")[1]
    view.restore(LOCAL)
    assert "polish" not in view.configuration() and "polish" not in view.takeaway.content("python")[1]


@pytest.mark.parametrize("view", ["local-geometry"], indirect=True)
def test_without_noise_there_is_nothing_to_polish(view: Any) -> None:
    view.restore({**LOCAL, "problem": {**LOCAL["problem"], "noise_std": 0.0}})
    assert not view.polishing.view.visible
    view.restore(LOCAL)
    assert view.polishing.view.visible


@pytest.mark.slow
@pytest.mark.parametrize("view", ["your-network"], indirect=True)
def test_a_trained_network(view: Any) -> None:
    view.restore(NETWORK)
    assert "polish" not in view.configuration()
    _run_to_its_end(view)
    view.polishing.press()
    assert view.configuration()["polish"] is True and "'polish': True" in view.takeaway.content("python")[1]
    _run_to_its_end(view)
    polished = view.state.estimate.polished
    assert polished is not None and polished.llc > 0.1, "training is not at its end"
    assert polished.sentence.replace("'", "&#x27;") in view.polishing.words.object
    assert "λ̂ at w0 as given" in view.polishing.words.object
    assert view.scale.visible and "λ̂ at the polished w0" in view.scale.object


@pytest.mark.parametrize("view", ["your-network"], indirect=True)
def test_a_link_that_polishes_has_one_number_on_its_line(view: Any) -> None:
    found = estimate(DeepLinearNetwork.random(widths=[6, 5], n=2000, seed=1), steps=300, polish=True, progress=False)
    settled(view).show_estimate(State(estimate=found))
    assert view.scale.visible and f", λ̂ {found.llc:.3g}" in view.scale.object
    assert "as given" not in view.scale.object + view.polishing.words.object
    assert len(_places(view.scale.object)) == 1


def test_as_many_passes_as_others_can_wait_for(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = DeepLinearNetwork.random(widths=[6, 5], n=2000)
    assert in_time.passes_that_fit(problem) == in_time.PASSES
    monkeypatch.setattr(in_time, "SECONDS", 0.0)
    assert in_time.passes_that_fit(problem) == in_time.LEAST
    resolved = resolve(RunConfig(problem=problem.to_dict()))
    assert in_time.polished(resolved) is resolved
    once = in_time.polished(resolve(RunConfig(problem=problem.to_dict(), polish=True)))
    assert once.polish is not None and in_time.polished(once) is once


def _places(picture: str) -> list[float]:
    return [float(x) for x in re.findall(r'<circle cx="([\d.]+)"', picture)]


def test_both_numbers_have_their_places_on_the_line_where_one_is_negative() -> None:
    given, polished = _places(draw_scale(None, None, None, 12.0, 0.1, before=(-30.0, 1.0)))
    assert 0 < given < polished < WIDTH
    given, polished = _places(draw_scale(20.0, 15.0, 15.0, 15.0, 0.1, before=(13.0, 0.1)))
    assert 0 < given < polished < WIDTH
    alone = _places(draw_scale(20.0, 15.0, 15.0, 15.0, 0.1))
    assert alone == [polished]
