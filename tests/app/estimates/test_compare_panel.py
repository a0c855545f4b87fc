"""Pin and compare: the pinned run stays as it was, and what differs is said in words."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest

from app.controls.run_fields import DEFAULTS
from app.estimates.compare_panel import ComparePanel
from app.estimates.comparison import NAMES, RunCard, differences, table
from app.estimates.figures import EstimateFigure
from app.pages.local_geometry.config import get_problem
from app.pages.local_geometry.presets import PRESETS
from app.runs.history import Cursor, NewRows
from llc_core import RunConfig
from llc_core.engine.resolve import resolve

PROBLEM = get_problem(PRESETS[0].problem)


def complete(**changes) -> RunConfig:
    problem = get_problem(changes.pop("problem", PRESETS[0].problem))
    return resolve(RunConfig(problem=problem.to_dict(), **{**DEFAULTS, **changes}), problem).config


BASE = complete()


@pytest.mark.parametrize(
    "changes, words",
    [
        ({}, []),
        ({"sampler": {"name": "SGLD"}}, ["SGLD instead of Underdamped Langevin (BAOAB)"]),
        (
            {"sampler": {"name": "UnderdampedLangevin", "step_size": 0.25}},
            ["step size ε 0.25 instead of automatic"],
        ),
        ({"seed": 3, "chains": 4}, ["chains 4 instead of 10", "chain seed 3 instead of 0"]),
        ({"localization": 100.0}, ["localization γ 100 instead of 1"]),
        ({"gradient": "minibatch"}, ["gradient minibatch (plain) instead of full data (exact)"]),
        ({"batch_size": 100}, []),
        (
            {"problem": PRESETS[1].problem},
            ["network 8–6 (ranks 6, seed 0) instead of 4–3–4 (ranks 3, 3, seed 1)"],
        ),
        (
            {"problem": {"kind": "dln", "size_class": "1K", "ranks": "equal", "seed": 2}},
            ["network 1K (ranks equal, seed 2) instead of 4–3–4 (ranks 3, 3, seed 1)"],
        ),
    ],
)
def test_differences_are_told_in_words(changes, words):
    found = differences(complete(**changes), BASE)
    if changes.get("gradient") == "minibatch":
        found = [text for text in found if text.startswith("gradient")]
    assert found == words


def test_two_samplers_differ_in_their_steps_too():
    """The engine's choice is named as it was used, on either side."""
    rmsprop = complete(sampler={"name": "RMSPropSGLD", "step_size": 1e-7, "stability": 1e-4})
    sgld = complete(sampler={"name": "SGLD"})
    assert differences(rmsprop, sgld, {"step_size": 1e-7}, {"step_size": 4.9e-10}) == [
        "RMSProp-SGLD instead of SGLD",
        "step size ε 1e-7 instead of 4.9e-10 (automatic)",
        "stability a 1e-4, which the other has not",
    ]
    back = differences(sgld, rmsprop, {"step_size": 4.9e-10}, {"step_size": 1e-7})
    assert "no stability a, which was 1e-4" in back
    assert "step size ε 4.9e-10 (automatic) instead of 1e-7" in back
    other = sgld.replace(chains=4)
    again = differences(other, sgld, {"step_size": 4.9e-10}, {"step_size": 4.9e-10})
    assert again == ["chains 4 instead of 10"], "the engine chose the same"
    moved = differences(other, sgld, {"step_size": 5.6e-10}, {"step_size": 4.9e-10})
    assert "step size ε 5.6e-10 (automatic) instead of 4.9e-10 (automatic)" in moved


def test_no_field_of_a_configuration_is_forgotten():
    watched = {
        "histogram",
        "functional_variance",
        "observable",
        "observe_every",
        "observables",
    }  # what is looked at changes no run
    fields = {field.name for field in dataclasses.fields(BASE)} - watched - {"grid"}
    assert fields == {*NAMES, "problem", "sampler"}
    noisy = complete(gradient="minibatch")
    changed = {
        "n_beta": 7.0,
        "steps": 77,
        "burn_in": 0.25,
        "batch_size": 7,
        "step_decay": 0.5,
        "metric_gradient": "full",
    }
    whole = complete(steps=400, burn_in=200)
    longer = whole.replace(continued_from={"steps": 200, "burn_in": 100})
    assert differences(longer, whole.replace(burn_in=0.5)) == ["begun for 200 steps instead of all its steps"]
    assert differences(longer.replace(burn_in=100), whole)[0] == "burn-in 0.25 instead of 0.5"
    for name, value in {**changed, "baseline": "full", "dtype": "float64"}.items():
        found = differences(noisy.replace(**{name: value}), noisy)
        assert len(found) == 1 and found[0].startswith(NAMES[name]), name


def test_lambda_from_the_variance_stands_beside_that_from_the_mean_in_both_rows():
    known = RunCard(BASE, {"llc": "7.0 ± 0.1", "variance": "7.3 ± 0.4"})
    unknown = RunCard(
        BASE, {"llc": "7.0 ± 0.1", "variance": "not known"}, reasons={"variance": "Not known: too <short>."}
    )
    found = table(known, unknown)
    assert found.count("title=") == 1 and '<td title="Not known: too &lt;short&gt;.">not known</td>' in found
    assert found.index("λ̂ ± s.e.") < found.index("from the variance") < found.index("expected λ̂")
    assert [re.findall(r"<td.*?>(.*?)</td>", row)[:2] for row in found.split("</tr>")[1:3]] == [
        ["7.0 ± 0.1", "7.3 ± 0.4"],
        ["7.0 ± 0.1", "not known"],
    ]


def rows(values: list[float]) -> NewRows:
    empty = np.zeros(0)
    at = 100.0 * np.arange(1, len(values) + 1)
    return NewRows(Cursor(0, len(at)), empty, empty, empty, at, np.array(values), np.full(len(at), 0.1))


def begin(panel: ComparePanel, figure: EstimateFigure, config: RunConfig, steps: int = 1000) -> None:
    """As the page does."""
    panel.begin(config)
    figure.reset(steps, 100, {"local": 7.5})
    panel.draw()


def test_a_pinned_run_is_followed_to_its_end_and_then_stays():
    figure = EstimateFigure()
    panel = ComparePanel(figure)
    begin(panel, figure, BASE)
    figure.stream(rows([7.0]))
    panel.update({"llc": "7.0 ± 0.1"})
    panel._on_button(None)
    assert panel.button.label == "Unpin" and not panel.table.visible and figure.pinned is None
    figure.stream(rows([7.0, 7.1]))
    panel.update({"llc": "7.1 ± 0.1"})

    begin(panel, figure, complete(sampler={"name": "SGLD"}))
    assert figure.pinned.data["llc"].tolist() == [7.0, 7.0, 7.1] and len(figure.source.data["llc"]) == 0
    figure.stream(rows([9.0]))
    panel.update({"llc": "9.0 ± 0.2"})
    assert panel.table.visible and "7.1 ± 0.1" in panel.table.object and "9.0 ± 0.2" in panel.table.object
    assert "SGLD instead of Underdamped" in panel.table.object

    begin(panel, figure, complete(seed=2))
    assert figure.pinned.data["llc"].tolist() == [7.0, 7.0, 7.1], "the pin is not replaced by a later run"
    panel._on_button(None)
    assert panel.button.label == "Pin this run" and not panel.table.visible and len(figure.pinned.data["llc"]) == 0


def test_the_frame_holds_both_runs():
    figure = EstimateFigure()
    panel = ComparePanel(figure)
    begin(panel, figure, BASE, 5000)
    panel._on_button(None)
    figure.stream(rows([30.0] * 40))
    begin(panel, figure, BASE, 1000)
    assert figure.y.range.end >= 30 and figure.plot.x_range.end == 4000


def test_names_in_the_table_are_text():
    odd = RunCard(BASE, {"llc": "<b>7</b>"})
    assert "<b>7</b>" not in table(odd, odd)
