"""“Run … more” on the pages: the run becomes twice as long, the side bar, the figures and the link say so, and nothing is lost."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Iterator
from contextlib import redirect_stdout
from typing import Any

import numpy as np
import pytest
from cases import few

from app.controls.run_controls import LENGTH, Controls
from app.pages import load_pages
from app.pages.local_geometry.panels.sweep.job import SweepJob
from app.runs.job import OVER, Status
from app.runs.manager import manager
from app.sharing.links import Link, decode, encode
from app.window import warmup
from llc_core import DeepLinearNetwork, RunConfig
from llc_core.engine.resolve import resolve

PAGES = {page.key: page for page in load_pages()}
SETTINGS: dict[str, dict[str, Any]] = {
    "local-geometry": {"problem": {"kind": "dln", "widths": [3, 3]}, "steps": 200, "chains": 2},
    "landscapes": {"problem": {"kind": "planar", "name": "normal_crossing", "k": [1, 1]}, "steps": 200, "chains": 2},
    "your-network": {"steps": 200, "chains": 2},
}


def finish(view: Any) -> None:
    """Poll as the browser's clock does until the run is over."""
    limit = time.monotonic() + 120
    while True:
        view._live._poll()
        state = view._live.run.state
        if state.status in OVER and state.estimate is not None and state.estimate.steps == state.steps:
            break
        assert time.monotonic() < limit, state
        time.sleep(0.01)
    for _ in range(3):
        view._live._poll()


@pytest.fixture(scope="module", params=few(SETTINGS, 1))
def view(request) -> Iterator[Any]:
    assert warmup.wait(120)
    view = PAGES[request.param].build()
    view.restore(SETTINGS[request.param])
    view._live.run = manager().submit(view._live._build)
    finish(view)
    view.key_of_test = request.param
    yield view
    view.close()


@pytest.mark.long
def test_go_on(view):
    assert view._live.run.state.status is Status.FINISHED and view.transport.more
    assert view.configuration().get("continued_from") is None
    first = view._live.run.state.estimate
    before = view.losses.source.data["step"].copy()
    assert view.transport.total == 200

    view._on_command("more")
    assert (view.transport.total, view.transport.burn_in, view.transport.more) == (400, 200, False)
    assert view.controls.fields["steps"].value == 400 and view.controls.fields["burn_in"].value == 0.5
    assert view.losses.plot.xaxis.bounds == (0, 400) and view.estimates.plot.x_range.end == 400
    finish(view)
    second = view._live.run.state.estimate
    assert (second.steps, second.burn_in) == (400, 200)
    assert np.array_equal(second.trace[:200], first.trace), "the same chains"
    steps = view.losses.source.data["step"]
    assert np.array_equal(steps[: len(before)], before) and steps[-1] == 399 and len(steps) == 400
    assert min(view.estimates.source.data["step"]) > 200
    assert view.transport.more and view.transport.step == 400

    # a link and the file say how it was made, and make it again
    config = view.configuration()
    assert config["continued_from"] == {"steps": 200, "burn_in": 100}
    assert (config["steps"], config["burn_in"]) == (400, 200)
    sent = decode(encode(Link("any", config))).config
    assert json.loads(view.takeaway.menu.configuration)["continued_from"] == config["continued_from"]
    assert "{'steps': 200, 'burn_in': 100}" in view.takeaway.menu.code
    assert view.compare._current.config.continued_from == config["continued_from"]
    if not hasattr(view, "over_training"):
        with redirect_stdout(io.StringIO()) as said:
            exec(compile(view.takeaway.menu.code, "script", "exec"), {"__name__": "script"})
        assert str(second).splitlines()[0] in said.getvalue()
    view.restore(sent)
    assert view.configuration() == config and not view.transport.more
    view._live.run = manager().submit(view._live._build)
    finish(view)
    again = view._live.run.state.estimate
    assert np.array_equal(again.trace, second.trace) and again.llc == second.llc

    # another setting, or another network, is another run: it is not the continuation of anything
    for change in (another_seed, another_network):
        view.restore(sent)
        assert view.configuration().get("continued_from") is not None
        change(view)
        assert view.configuration().get("continued_from") is None
        assert view.controls.fields["burn_in"].value == 0.5
        assert view.transport.total == 400 and not view.transport.more


def another_seed(view: Any) -> None:
    view.controls.fields["seed"].set(3)
    view.controls._changed()


def another_network(view: Any) -> None:
    if hasattr(view, "over_training"):
        view.editor.checkpoint.value = view.editor.checkpoint.values[0]
    else:
        view.editor.listener()


def test_dead_chains_do_not_go_on(view):
    view.restore({**SETTINGS[view.key_of_test], "sampler": {"name": "SGLD", "step_size": 10.0}})
    view._live.run = manager().submit(view._live._build)
    finish(view)
    assert view._live.run.state.snapshot.alive.sum() == 0
    assert not view._live.can_go_on and not view.transport.more
    view._on_command("more")
    assert view._live.run.state.status is Status.FINISHED
    view.restore(SETTINGS[view.key_of_test])


@pytest.mark.slow
@pytest.mark.parametrize("field", ["step_size", "localization"])
def test_a_run_that_went_on_can_be_swept(field):
    problem = DeepLinearNetwork.random(widths=[3, 3], n=10_000, seed=0)
    sampler = {"name": "SGLD", "step_size": 1e-6}
    config = resolve(RunConfig(sampler=sampler, steps=6000, chains=2), problem).config.longer()
    job = SweepJob(config, problem, field, count=2)
    while not job.finished:
        points = job.advance(4000)
    assert points.chain_steps == 5000 and np.isfinite(points.llc).any()


def test_the_page_has_a_longest_run():
    longer = RunConfig(steps=8_000_000).longer()
    with pytest.raises(ValueError, match="steps"):
        Controls().check({name: getattr(longer, name) for name in LENGTH})


def test_a_page_that_was_out_of_reach_for_a_while_keeps_its_finished_run(view, monkeypatch):
    view._live.run = manager().submit(view._live._build)
    finish(view)
    monkeypatch.setattr(type(view._live), "_watched", lambda self: False)
    for _ in range(100):
        view._live._poll()
    assert view._live.can_go_on and view.transport.more


def test_a_run_too_long_for_the_page_is_refused_and_stays(view, monkeypatch):
    view._live.run = manager().submit(view._live._build)
    finish(view)
    monkeypatch.setattr(
        Controls, "check", lambda self, settings: (_ for _ in ()).throw(ValueError("steps is too many."))
    )
    view._on_command("more")
    assert view.fault.visible and "steps is too many." in view.fault.object
    assert view._live.run.state.status is Status.FINISHED and view._live.can_go_on


def test_a_link_with_an_impossible_continuation_is_refused(view):
    before = view.configuration()
    for wrong in ({"steps": 900, "burn_in": 100}, {"steps": 200}, "<b>", {"steps": 200, "burn_in": 200}):
        with pytest.raises(ValueError, match="continued_from"):
            view.restore({**before, "steps": 400, "burn_in": 200, "continued_from": wrong})
    assert view.configuration() == before


def test_length_from_settings():
    controls = Controls()
    controls.show({"steps": 3000, "burn_in": 1000, "continued_from": {"steps": 1000, "burn_in": 200}})
    assert RunConfig(**controls.values).burn_in == 1000
    assert controls.fields["burn_in"].value == pytest.approx(1 / 3)
    controls.choose("seed", 5)
    assert controls.values["continued_from"] is None and controls.values["burn_in"] == pytest.approx(1 / 3)
    with pytest.raises(ValueError, match="burn_in"):
        controls.check({"steps": 1000, "burn_in": 999, "continued_from": {"steps": 100, "burn_in": 20}})
