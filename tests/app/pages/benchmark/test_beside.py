"""The run of a point beside the charts: what it runs, what it says, and what it refuses."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from synthetic_store import failed_row, synthetic_rows
from waiting import eventually

from app.estimates.texts import from_variance
from app.pages.benchmark.panels.beside import Beside, prepared
from app.runs.job import OVER
from app.runs.manager import manager
from app.sharing.links import decode
from llc_core.sweeps.series import error_of

TINY = {"problem": {"kind": "dln", "widths": [3, 2, 3], "seed": 4}, "gradient": "full", "chains": 4, "steps": 400}
ROWS = [
    {**row, "config": json.dumps({**TINY, "seed": i})}
    for i, row in enumerate(synthetic_rows(5, ["SGLD"], ["full"], 2, ranks=["equal"])[::2])
]


@pytest.fixture
def beside():
    made = Beside()
    yield made
    made.close()


def shown(panel: Beside, rows: list) -> None:
    errors = [error_of(row, "same_batch", "expected") for row in rows]
    panel.show("SGLD, full data, ε = 1e-9", rows, errors, "same_batch")


def built(panel: Beside) -> None:
    """Until what was asked for has been prepared."""
    eventually(lambda: panel._work.poll() or not panel._work.busy)


def finished(panel: Beside) -> None:
    """Run what was started; no browser starts it here."""
    live = panel._live
    live.run = manager().submit(live._build)
    eventually(lambda: live._poll() or live.run.state.status in OVER)
    live._poll()


def test_nothing_is_made_before_a_point_is_chosen(beside):
    assert not beside.view.visible and not len(beside.view) and beside._live is None


@pytest.mark.long
def test_the_row_in_the_middle_runs_and_is_judged(beside):
    shown(beside, ROWS)
    errors = sorted((error_of(row, "same_batch", "expected"), row["problem"]) for row in ROWS)
    assert beside._problem.value.startswith(f"1K, equal, {errors[len(ROWS) // 2][1]}: ") and beside.view.visible
    assert [decode(beside._link.object.split("?c=")[1].split('"')[0]).page] == ["local-geometry"]
    built(beside)
    assert beside._config.complete.steps == 400
    finished(beside)
    estimate = beside._live.run.state.estimate
    numbers = beside._numbers.values
    assert float(numbers["llc"].split()[0]) == pytest.approx(estimate.llc, abs=2 * estimate.llc_se)
    assert numbers["variance"] == from_variance(estimate.llc_from_variance, estimate.llc_from_variance_se)
    assert numbers["doing"] == "finished, 100%" and float(numbers["expected"]) == pytest.approx(
        estimate.expected, rel=1e-3
    )
    assert "Starting" not in beside._verdict.object and np.isfinite(beside._losses.source.data["c0"]).all()
    other = next(name for name in beside._problem.options if name != beside._problem.value)
    beside._problem.value = other
    assert beside._row is beside._rows[other] and "Starting" in beside._verdict.object


def test_it_is_what_the_sweep_would_run(beside):
    config, expected = prepared(ROWS[1]["config"])
    assert config.complete.seed == 1 and config.complete.chains == 4
    assert expected == pytest.approx(
        config.resolved.problem.expected_llc_at(config.complete.n_beta, config.complete.localization)
    )


HUGE = {**TINY, "problem": {"kind": "dln", "widths": [3000, 3000, 3000]}}


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ("", "JSON"),
        ("[" * 5000, "JSON"),
        ("[1]", "no mapping"),
        (json.dumps({"problem": {"kind": "network"}}), "this page runs deep linear networks"),
        (json.dumps(HUGE), "this server gives each run"),
        (json.dumps({**TINY, "chains": 10**9}), "chains"),
    ],
)
def test_a_row_of_a_file_that_cannot_be_run_here_is_refused_in_a_sentence(beside, config, words):
    shown(beside, [{**ROWS[0], "config": config}])
    built(beside)
    assert "This row cannot be run here." in beside._verdict.object and words in beside._verdict.object
    assert beside._live is None and beside._numbers.values["doing"] == "not run"


def test_where_there_is_a_card_the_run_is_made_there(monkeypatch):
    asked = []

    def note(config, device):
        asked.append(device)
        raise ValueError("There is no card in this test.")

    monkeypatch.setattr("app.controls.run_fields.devices", lambda: ("cpu", "cuda"))
    monkeypatch.setattr("app.pages.benchmark.panels.beside.prepared", note)
    made = Beside()
    try:
        shown(made, ROWS[:1])
        built(made)
        made._device.widget.value = "cuda"
        built(made)
        assert asked == [None, "cuda"] and made._device.widget in made.view.objects
    finally:
        made.close()


def test_without_a_card_there_is_nothing_to_choose(beside, monkeypatch):
    monkeypatch.setattr("app.controls.run_fields.devices", lambda: ("cpu",))
    shown(beside, ROWS[:1])
    assert beside._device is None


def test_runs_without_an_estimate_can_be_opened_too(beside):
    shown(beside, [failed_row(config=json.dumps(TINY))])
    assert beside._numbers.values["stored"] == "none" and math.isnan(error_of(failed_row(), "same_batch", "expected"))
    beside._on_shut(None)
    assert not beside.view.visible and beside._live is None
