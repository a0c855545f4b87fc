"""The page "Landscapes" without a browser: presets and their numbers, configurations, words, panels, take-away."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from cases import few

from app.controls.run_fields import DEFAULTS
from app.pages.landscapes.config import Look, get_landscape
from app.pages.landscapes.job import SHOWN, TRAIL, LandscapeJob, TrailCursor
from app.pages.landscapes.page import Landscapes
from app.pages.landscapes.panels.monomials import ROWS, MonomialsJob, MonomialsPanel, monomials_csv
from app.pages.landscapes.panels.plane import NUTS_CHAINS, NUTS_STEPS, nuts_of
from app.pages.landscapes.panels.points import PointsJob, points_csv, summary
from app.pages.landscapes.presets import FIRST, PRESETS
from app.pages.landscapes.scene import (
    LOSS_LEVELS,
    link_config,
    loss_heights,
    posterior_heights,
    true_parameters,
    weight_heights,
    window,
)
from app.pages.landscapes.texts import verdict
from app.runs.job import State, Status
from app.runs.llc_job import LlcJob
from app.sharing.reading import parse_file
from llc_core import Planar, RunConfig, planar_landscape
from llc_core.engine.resolve import resolve
from llc_core.potentials.plane.surfaces import surface
from llc_core.results import agrees
from llc_core.studies.papers.learning_coefficient.crossings import rank_correlation
from llc_core.verdicts import Verdict

BY_NAME = {preset.name: preset for preset in PRESETS}
CROSSING = {"kind": "planar", "name": "normal_crossing", "k": [1, 1]}


def job_of(problem: Planar, **settings) -> tuple[LandscapeJob, RunConfig]:
    resolved = resolve(RunConfig(problem=problem.to_dict(), **{**DEFAULTS, **settings}), problem)
    return LandscapeJob(resolved), resolved.config


def finished(job: Any, block: int = 500) -> Any:
    while not job.finished:
        job.record(job.advance(block), None)
    return job


@pytest.fixture
def view():
    made = Landscapes()
    yield made
    made.close()


@pytest.fixture(scope="module")
def turned():
    """One page for tests that first choose a preset: to build it takes longer than what they ask."""
    made = Landscapes()
    yield made
    made.close()


@pytest.fixture(scope="module")
def untouched():
    """One page for a test that asserts that it stays as it opens."""
    made = Landscapes()
    yield made
    made.close()


# -- presets ----------------------------------------------------------------------------------------------------------


FEW = ("crossing", "U", "prior")
"""Presets of which the numbers of their lessons are asked first: of one in `make test`, of three in all by `make test-rest`."""
SHORT = ("U", "V", "paper-001-figure-7", "paper-001-figure-9-gamma-1e-4", "paper-001-figure-9-gamma-1e4")
"""Presets whose runs are as long as in print, which the verdict does not trust."""


@pytest.mark.long
@pytest.mark.parametrize("name", [*few(FEW, 1, rare=False), *few([name for name in BY_NAME if name not in FEW], 0)])
def test_every_preset_gives_the_numbers_of_its_lesson(name):
    preset = BY_NAME[name]
    job, _ = job_of(get_landscape(preset.problem), **preset.settings)
    estimate = finished(job).judge()
    # Every decimal in the sentence is λ̂ or the exact value of this run, or of the two presets it names.
    known = [estimate.llc, job.log.exact, 0.36 if name == "many" else estimate.llc]
    for text in re.findall(r"0\.\d\d", preset.lesson):
        assert any(abs(float(text) - value) <= 0.0051 for value in known), (text, known)
    assert estimate.diverged == 0
    if name in SHORT:
        assert not estimate.converged
        assert agrees(estimate.llc, estimate.llc_se, job.log.exact) == (name != "U")
    else:
        assert estimate.converged and agrees(estimate.llc, estimate.llc_se, job.log.exact)


def test_presets_have_the_coefficients_that_theory_gives():
    truths = {preset.name: get_landscape(preset.problem).local_learning_coefficient for preset in PRESETS}
    assert [str(truths[name].value) for name in ("regular", "line", "crossing", "square", "cube", "prior", "U", "V")] == [
        "1", "1/2", "1/2", "1/4", "1/6", "2/3", "1/2", "1/4",
    ]  # fmt: skip
    assert truths["crossing"].multiplicity == 2 and truths["line"].multiplicity == 1


# -- the run ----------------------------------------------------------------------------------------------------------


def test_the_trail_follows_the_chains_however_the_run_is_cut():
    problem = planar_landscape("line_and_point", at="U", start=[0.7, -0.2])
    trails = []
    for block in (7, 300):
        job, config = job_of(problem, steps=600, chains=20)
        cursor, parts = TrailCursor(), []
        while not job.finished:
            job.record(job.advance(block), None)
            rows = job.log.since(cursor)
            cursor = rows.cursor
            parts.append(rows.trail)
        assert job.log.since(cursor).trail.shape == (0, SHOWN, 2)
        assert len(job.log.since(TrailCursor()).trail) == TRAIL
        trails.append(np.concatenate(parts))
    assert trails[0][0] == pytest.approx(np.tile([0.7, -0.2], (SHOWN, 1)))
    assert np.allclose(trails[0][-1], trails[1][-1]) and np.isfinite(trails[0]).all()
    assert job.judge().llc == finished(job_of(problem, steps=600, chains=20)[0], 50).judge().llc


def test_a_run_that_is_looked_at_on_its_way_is_the_engine_s():
    problem = planar_landscape("normal_crossing")
    job, config = job_of(problem, steps=400)
    whole = job.advance(400)
    from llc_core import Run

    plain = Run(config, problem).advance(400)
    assert np.array_equal(whole.recorded, plain.recorded)
    assert np.array_equal(whole.excess_loss, plain.excess_loss) and np.array_equal(whole.llc, plain.llc)
    one, other = job.judge(), finished(LlcJob(config, problem)).judge()
    assert np.array_equal(one.per_chain, other.per_chain)
    assert (one.llc, one.llc_se, one.converged) == (other.llc, other.llc_se, other.converged)


# -- what is drawn ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BY_NAME)
def test_the_window_holds_the_start_the_truth_and_most_of_the_posterior(name):
    problem = get_landscape(BY_NAME[name].problem)
    shown = window(problem, problem.n_beta)
    for i, (center, off) in enumerate(zip(problem.model.w0, problem.start, strict=True)):
        assert shown.low[i] < center + off < shown.high[i]
    heights = loss_heights(problem, shown, problem.n_beta)
    assert np.isfinite(heights).all() and LOSS_LEVELS[0] < heights.min() < heights.max() < LOSS_LEVELS[-1]
    assert heights.min() < 0, "the valley is in the picture"
    lines, points = true_parameters(problem, shown)
    for x, y in [*points, *(place for line in lines for place in line)]:
        delta = [np.array([value - center]) for value, center in zip((x, y), problem.model.w0, strict=True)]
        assert problem.population_loss(delta)[0] == pytest.approx(0, abs=1e-20)


def test_the_posterior_is_drawn_where_it_is():
    problem = planar_landscape("line_and_point", at="V")
    shown = window(problem, problem.n_beta)
    heights = posterior_heights(problem, shown, problem.n_beta, 1.0)
    x, y = shown.axes
    assert heights.max() == pytest.approx(0, abs=1e-5)
    assert heights[np.abs(y).argmin(), np.abs(x).argmin()] > -1 and heights[0, 0] < -2.9


@pytest.mark.parametrize("n", [5, 100])
def test_figure_3_of_the_paper_is_what_lies_behind_its_chains(n):
    """exp(−nK) of the paper's K, which the engine has as a surface."""
    preset = BY_NAME[f"paper-001-figure-3-n-{n}"]
    problem = get_landscape(preset.problem)
    assert problem.n == n and preset.look == {"behind": "weight"}
    shown = window(problem, preset.settings["n_beta"])
    x, y = np.meshgrid(*shown.axes)
    expected = np.exp(-n * surface("two_basins").energy(x, y))
    assert weight_heights(problem, shown, preset.settings["n_beta"]) == pytest.approx(expected, abs=2e-6)


def test_draws_of_nuts_are_places_of_the_same_posterior():
    """Held at U by γ = 1e4 they spread by 0.01 in each direction along the line, and by no more across it."""
    at_u = planar_landscape("line_and_point", at="U")
    found = nuts_of(at_u, at_u.n_beta, 1e4)
    away = (found.places - [1.0, 0.3]) * 100
    assert found.places.shape == (NUTS_CHAINS * NUTS_STEPS, 2) and found.cut < 0.05
    assert np.abs(away).max() < 6 and away[:, 0].std() < 1.2
    along = away[:, 1].reshape(NUTS_STEPS, NUTS_CHAINS)
    # Chains are independent, draws within one are not: the error is that of as many values as there are chains.
    of_chains = np.square(along).mean(axis=0)
    assert abs(of_chains.mean() - 1) < 4 * of_chains.std(ddof=1) / NUTS_CHAINS**0.5


def test_nuts_stands_beside_the_chains_and_the_link_says_so(view):
    view.on_preset("paper-001-figure-8")
    assert view.plane.look == Look(nuts=True) and view.configuration()["look"] == {"nuts": True}
    assert "NUTS" in view.plane._head.view.object and "NUTS is being run." in view.plane._words.object
    view.plane._nuts.poll()
    view.plane._nuts._future.result()
    view.plane._nuts.poll()
    count = NUTS_CHAINS * NUTS_STEPS
    assert len(view.plane.figure.draws.data["x"]) == count and f"{count} draws of NUTS" in view.plane._words.object
    view.plane.beside.value = False
    assert not len(view.plane.figure.draws.data["x"]) and "NUTS" not in view.plane._head.view.object
    assert view.tiles.selected == "" and "look" not in view.configuration()
    view.plane.ground.value = "weight"
    assert view.configuration()["look"] == {"behind": "weight"} and "exp(−nβ·K)" in view.plane._words.object
    link = view.configuration()
    view.on_preset("crossing")
    assert view.plane.look == Look(), "a preset says what is drawn with it"
    view.restore(link)
    assert view.plane.look == Look(behind="weight")
    view.restore({"problem": CROSSING})
    assert view.plane.look == Look(), "links from before open as they did"


def test_without_a_pull_there_is_no_nuts(view):
    view.restore({"problem": CROSSING, "localization": 0.0, "look": {"nuts": True}})
    assert not view.plane._nuts.busy and "With γ = 0" in view.plane._words.object


def test_a_start_far_out_widens_the_window():
    problem = planar_landscape("normal_crossing", start=[7.0, 0.1])
    assert window(problem, problem.n_beta).high[0] > 7


# -- configurations ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"problem": {"kind": "dln", "widths": [3, 2]}}, "kind 'dln'"),
        ({"problem": {**CROSSING, "k": [1, -1]}}, "k[1] is -1"),
        ({"problem": {**CROSSING, "k": [9, 1]}}, "at most 6 on this page"),
        ({"problem": {**CROSSING, "k": [2]}}, "this page draws those of two"),
        ({"problem": {**CROSSING, "n": 10**7}}, "at most 100,000 samples"),
        ({"problem": {**CROSSING, "noise_std": 1.0}}, "noise_std is 1.0; this page has no control"),
        ({"problem": {**CROSSING, "data_sets": 5}}, "data_sets is 5"),
        ({"problem": {**CROSSING, "start": [11, 0]}}, "between −10 and 10"),
        ({"problem": {**CROSSING, "h": [2, 0], "start": [0, 1]}}, "start beside it"),
        ({"problem": {**CROSSING, "unheard": 1}}, "Unknown key 'unheard'"),
        ({"sampler": {"name": "SGLD", "step_size": -1}}, "step_size"),
        ({"gradient": "minibatch"}, "full gradients only"),
        ({"chains": 10**5}, "chains"),
        ({"histogram": {"low": 0, "high": 1, "count": 2}}, "histogram"),
        ({"look": {"behind": "sea"}}, "behind"),
        ({"look": {"nuts": 7}}, "nuts"),
        ({"look": {"hat": 1}}, "Unknown key 'hat'"),
        ({"look": 7}, "A look must be a JSON object"),
    ],
)
def test_a_wrong_value_changes_nothing(untouched, changes, words):
    view = untouched
    before = view.configuration()
    with pytest.raises(ValueError, match=re.escape(words)):
        view.restore({"problem": CROSSING, **changes})
    assert view.configuration() == before and view.tiles.selected == FIRST


def test_a_file_that_is_no_configuration_ends_in_a_sentence(view):
    for text, words in (("{", "not valid JSON"), (" " * 200_000, "at most 100,000"), ("{}", "problem is missing")):
        view.takeaway._on_upload(text)
        assert view.takeaway.menu.message["bad"] and words in view.takeaway.menu.message["text"]


# -- the side bar -----------------------------------------------------------------------------------------------------


def test_bad_entries_say_why_and_lose_nothing(view):
    before = view.configuration()
    for entry, text, words in (
        (view.editor.k, "1, two", "“two” is not a whole number; write for example 1, 3."),
        (view.editor.k, "0, 0", "at least one exponent"),
        (view.editor.h, "1", "Prior exponents: write two numbers"),
        (view.editor.h, "-1, 0", "Prior exponent h₁ is -1"),
    ):
        kept = entry.value
        entry.value = text
        assert view.editor.message.visible and words in view.editor.message.object
        assert view.configuration() == before
        entry.value = kept
        assert not view.editor.message.visible
    view.on_preset("regular")
    view.editor.scales.value = "1, zwei"
    assert "“zwei” is not a number" in view.editor.message.object
    view.editor.scales.value = "1, 0.3"
    assert view.editor.problem["scales"] == [1.0, 0.3] and not view.editor.message.visible


@pytest.mark.long
def test_a_click_sets_w0_to_the_nearest_truth(view):
    """Chains begin there, λ is that of the point, and the crossing is found again."""
    view.on_preset("crossing")
    assert view.plane.sets == "w0" and "nearest point of the valley" in view.plane._words.object
    view.plane.figure.on_tap(0.4, -1.234)
    assert view.editor.problem["at"] == [0.0, -1.23] and view.editor.problem["start"] == [0.0, -1.23]
    assert view.editor.w0.value == "0, -1.23" and view.tiles.selected == ""
    assert view.readouts.values["local"] == "1/2" and view.readouts.values["multiplicity"] == "1"
    assert view.plane.figure.center.data["y"] == [-1.23]
    view.plane.figure.on_tap(0.1, 0.2)
    assert "at" not in view.editor.problem and view.readouts.values["multiplicity"] == "2"
    view.editor.w0.value = "0.5, 0.5"
    assert "Point w0 is [0.5, 0.5], where ρ is not 0" in view.editor.message.object and view.editor.w0.error_state
    view.on_preset("U")
    view.plane.figure.on_tap(1.4, -0.7)
    assert view.editor.problem["at"] == [1.0, -0.7] and view.editor.at.value == "other"
    assert view.readouts.values["local"] == "1/2"
    view.plane.figure.on_tap(0.3, 0.1)
    assert view.editor.problem["at"] == "V" and view.editor.at.value == "V"
    view.editor.at.widget.value = "other"
    assert view.editor.problem["at"] == [1.0, -0.8]
    again = Landscapes()
    again.restore(view.configuration())
    assert again.editor.problem == view.editor.problem and again.editor.w0.value == "1, -0.8"
    again.close()
    again = Landscapes()
    again.restore({**view.configuration(), "problem": {"kind": "planar", "name": "line_and_point", "at": [1.0, 0.3]}})
    assert again.editor.problem["at"] == "U" and again.editor.at.value == "U"
    again.close()
    view.on_preset("crossing")
    view.editor.w0.value = "0, 1.2345678"
    view.editor.h.value = "1, 1"
    assert view.editor.problem["at"] == [0.0, 1.2345678] and view.editor.problem["h"] == [1, 1]
    assert view.editor.problem["start"][0] == pytest.approx(0.1), "the start leaves the wall that came up there"
    view.editor.w0.value = "0, 0.001"
    assert "Point w0: w₂ is 0.001" in view.editor.message.object
    view.on_preset("regular")
    assert view.plane.sets == "start" and "begin there" in view.plane._words.object
    view.plane.figure.on_tap(0.05, 0.02)
    assert view.editor.problem["start"] == [0.05, 0.02], "a regular landscape has one true parameter"


def test_the_window_has_room_for_w0_and_the_words_say_where_more_data_lead(view):
    problem = planar_landscape("normal_crossing", k=[1, 3], at=[0, 4.0], start=[0.1, 0.1])
    shown = window(problem, 100.0)
    assert shown.low[1] < 0.1 and shown.high[1] > 4
    state, _ = state_of(0.17, problem=problem)
    words = verdict(state, problem, 0.173, True)[1]
    assert "λ at w0 is 1/2" in words and "the smallest λ in this picture, 1/6" in words


def test_a_click_sets_the_start_and_another_landscape_its_own(view):
    view.plane.click.value = "start"
    view.plane.figure.on_tap(1.23456, -0.5)
    assert view.editor.problem["start"] == [1.235, -0.5] and view.tiles.selected == ""
    assert [field.value for field in view.editor.start] == [1.235, -0.5]
    assert view.plane.figure.heads.data["x"][0] == 1.235
    view.editor.h.value = "2, 0"
    view.plane.figure.on_tap(0.0, 1.0)
    assert "start beside it" in view.editor.message.object and view.editor.problem["start"] == [1.235, -0.5]
    view.editor.choice.widget.value = "line_and_point"
    assert view.editor.problem["start"] == [0.0, 0.0] and view.editor.problem["at"] == "V"
    view.editor.at.widget.value = "U"
    assert view.editor.problem["start"] == [1.0, 0.3]
    view.editor.n.set(500)
    view.editor.n.listener()
    assert view.editor.problem["n"] == 500 and view.editor.problem["start"] == [1.0, 0.3]


# -- words ------------------------------------------------------------------------------------------------------------


def state_of(llc: float, ok: bool = True, problem: Planar | None = None, se: float = 0.005) -> tuple[State, Planar]:
    problem = problem or planar_landscape("normal_crossing")
    snapshot, found = short_run(json.dumps(problem.to_dict()))
    estimate = replace(
        found, llc=llc, llc_se=se, r_hat=1.01, converged=Verdict(ok, "Fine.", "Take more steps.", not ok)
    )
    return State(status=Status.RUNNING, snapshot=snapshot, estimate=estimate), problem


@cache
def short_run(problem: str) -> tuple[Any, Any]:
    """Its snapshot and its estimate, whose numbers give way to those that words are asked for."""
    job = finished(job_of(get_landscape(json.loads(problem)), steps=200, chains=4)[0])
    return job.advance(0), job.judge()


@pytest.mark.long
def test_the_verdict_names_chance_bias_and_finite_n():
    state, problem = state_of(0.357)
    tone, words = verdict(state, problem, 0.356, True)
    assert tone == "good" and "agrees with the exact value 0.356" in words
    assert "29% below it (m = 2 alone subtracts about 1/log nβ = 0.20)" in words
    assert "0.356" not in verdict(state, problem, 0.356, False)[1]
    rough = verdict(state_of(0.26, ok=False, se=0.04)[0], problem, 0.356, True)[1]
    assert "27% below the exact value 0.356 at n = " in rough and "(within 3 of its standard errors)" in rough
    tone, words = verdict(state_of(0.5)[0], problem, 0.356, True)
    assert tone == "bad" and "Do not trust it." in words and "40% above" in words
    at_u = planar_landscape("line_and_point", at="U")
    tone, words = verdict(state_of(0.6, ok=False, problem=at_u)[0], at_u, 0.404, True)
    assert tone == "warn" and "have not yet spent enough time at V" in words


@pytest.mark.parametrize("answers", [True, False])
@pytest.mark.parametrize("sampler", ["SGLD", "ProximalSGLD"])
def test_a_wall_that_throws_chains_is_named_once_with_its_remedy(sampler, answers):
    problem = planar_landscape("normal_crossing", k=[1, 1], h=[1, 1])
    state, _ = state_of(2.0, ok=False, problem=problem)
    config = replace(state.estimate.config, sampler={"name": sampler})
    state = replace(state, estimate=replace(state.estimate, config=config, diverged=1))
    words = verdict(state, problem, 0.8, answers)[1]
    assert words.count("Proximal SGLD takes that step safely") == (sampler == "SGLD")


def test_the_exact_value_is_that_of_the_side_where_chains_are():
    """A prior that vanishes on an axis is a wall; the signs of two odd exponents tell the sides apart."""
    values = [
        planar_landscape("normal_crossing", k=[3, 1], h=[3, 3], start=[0.5, y]).one_sided_llc_at(144.8, 1.0)
        for y in (0.5, -0.5)
    ]
    whole = planar_landscape("normal_crossing", k=[3, 1], h=[3, 3]).expected_llc_at(144.8, 1.0)
    assert values == pytest.approx([0.5401, 0.7434], abs=1e-3) and values[0] < whole < values[1]
    job, _ = job_of(get_landscape(BY_NAME["prior"].problem), steps=200)
    assert job.log.exact == pytest.approx(0.5401, abs=1e-3)


# -- panels -----------------------------------------------------------------------------------------------------------


def test_twelve_landscapes_lie_beside_their_lambda():
    """λ is the least (hᵢ + 1)/(2kᵢ)."""
    panel = MonomialsPanel()
    job = MonomialsJob(1e-4, steps=100)
    panel.receive(State(snapshot=job.advance(100)), [])
    assert job.finished
    known = [min((b + 1) / (2 * a) for a, b in zip(k, h, strict=True) if a) for k, h in ROWS]
    assert panel.source.data["x"] == pytest.approx(known)
    assert panel.source.data["exact"] == pytest.approx(known, rel=0.4)
    rows = list(csv.DictReader(io.StringIO(monomials_csv(panel.found))))
    assert [float(row["llc"]) for row in rows] == pytest.approx(known) and float(
        rows[3]["llc_hat_10"]
    ) == panel.found.llc[3, 9]
    assert "Step 100 of 10,000." in panel.words.object
    panel.close()


@pytest.mark.slow
def test_the_twelve_come_out_as_in_print():
    """Figure 7 of Lau, Murfet & Wei: λ̂ rises with λ, near its exact value where no prior vanishes."""
    job = MonomialsJob(5e-4)
    while not job.finished:
        found = job.advance(1000)
    for (_, h), exact, llc in zip(ROWS, found.exact, found.llc, strict=True):
        mean, se, _ = summary(llc)
        assert any(h) or abs(mean - exact) < 3 * se + 0.04  # what a finite step may add, as in the study
    assert rank_correlation(found.truth, np.nanmedian(found.llc, axis=1), np.arange(len(ROWS))) > 0.8


@pytest.mark.slow
def test_short_chains_tell_u_from_v():
    """Figure 1 of Lau, Murfet & Wei, fewer data sets."""
    job = PointsJob(100, 5000, 1.0)
    while not job.finished:
        progress = job.advance(1000)
    (u, _, _), (v, _, _) = (summary(progress.llc[at]) for at in "UV")
    assert 0.45 < u < 0.60 and 0.13 < v < 0.29 and u - v > 0.25
    rows = list(csv.DictReader(io.StringIO(points_csv(progress))))
    assert len(rows) == 100 and float(rows[7]["llc_U"]) == progress.llc["U"][7]


@pytest.mark.parametrize(
    "name, value, multiplicity",
    few([("crossing", 0.5, 2), ("prior", 2 / 3, 1), ("U", 0.5, 1)], 1, unpack=True, rare=False),
)
def test_the_volume_panel_shows_the_fitted_coefficient(turned, name, value, multiplicity):
    view = turned
    view.on_preset(name)
    view.volume.poll()
    view.volume._take(view.volume._later._future.result())
    assert float(view.volume.numbers.values["slope"]) == pytest.approx(value, abs=2e-3)
    assert view.volume.numbers.values["fitted_m"] == view.volume.numbers.values["exact_m"] == str(multiplicity)
    assert len(view.volume.source.data["x"]) > 20


def test_answers_can_be_withheld(view):
    view.on_preset("crossing")
    (answers,) = view.parts["answers"]
    answers.visible = False
    assert not any(panel.view.visible for panel in (view.volume, view.points, view.monomials))
    assert set(view.readouts.withheld) == {"exact", "error", "local", "multiplicity"}
    assert all(line.location is None for line in (*view.losses.truths, *view.estimates.truths))
    assert "exact" not in view.curves.legends[1].object and "λ at w0" not in view.curves.legends[1].object
    state, _ = state_of(0.357)
    view.exact = 0.356
    view._show_words(state)
    assert "0.356" not in view.verdict.object and "1/2" not in view.verdict.object


# -- take-away --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_python_runs_as_pasted_and_the_files_hold_what_was_seen(view):
    view.restore({"problem": {**CROSSING, "k": [1, 2], "start": [0.4, -0.3]}, "chains": 4, "steps": 600, "seed": 3})
    job, _ = job_of(get_landscape(view.editor.problem), **view.controls.values)
    estimate = finished(job).judge()
    view.takeaway.update(estimate)
    done = subprocess.run([sys.executable, "-c", view.takeaway.menu.code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert repr(estimate).splitlines()[0] in done.stdout
    view.volume.poll()
    view.volume._take(view.volume._later._future.result())
    small = PointsJob(10, 100, 1.0)
    view.points.found = small.advance(100)
    view.monomials.found = MonomialsJob(1e-4, steps=100).advance(100)
    contents = {item["key"]: view.takeaway.content(item["key"]) for item in view.takeaway.menu.files}
    assert len({name for name, _ in contents.values()}) == len(view.takeaway.menu.files)
    rows = {row["name"]: row["value"] for row in csv.DictReader(io.StringIO(contents["results"][1]))}
    assert float(rows["llc"]) == estimate.llc
    assert len(contents["traces"][1].splitlines()) == len(estimate.trace) + 1
    assert contents["netcdf"][1][1:4] == b"HDF"
    again = link_config(parse_file(contents["config"][1]))
    assert again.problem == view.editor.problem and again.settings["seed"] == 3
    assert again.complete == view.config.complete


def test_there_is_nothing_to_save_before_the_first_estimate(view):
    for key, words in (
        ("results", "nothing to save yet"),
        ("points", "Run U and V"),
        ("monomials", "Run the twelve"),
        ("volume", "worked out"),
    ):
        with pytest.raises(ValueError, match=words):
            view.takeaway.content(key)


# -- a formula of one's own -------------------------------------------------------------------------------------------


def write(view, text: str) -> None:
    view.editor.rho.value = text


def test_a_formula_is_drawn_and_run_and_carried_away(view):
    view.tiles.listener("own")
    write(view, "w1^2 + w2^2 - 4")
    assert view.editor.problem["rho"] == "w1^2 + w2^2 - 4" and not view.editor.message.visible
    assert np.hypot(*view.editor.problem["at"]) == pytest.approx(2, abs=1e-9), "w0 goes to the valley"
    xs, ys = view.plane.figure.truth.data["xs"], view.plane.figure.truth.data["ys"]
    radius = np.hypot(np.concatenate(xs), np.concatenate(ys))
    assert len(radius) > 100 and radius == pytest.approx(2, abs=1e-9), "the valley is the circle"
    view._on_tap(0.1, 3.0)
    at = view.editor.problem["at"]
    assert np.hypot(*at) == pytest.approx(2, abs=1e-9) and at[1] > 1.9, "a click goes to the nearest zero"
    assert "'rho': 'w1^2 + w2^2 - 4'" in view.takeaway.menu.code
    again = link_config(json.loads(json.dumps(view.configuration())))
    assert again.resolved.problem.to_dict() == view.problem.to_dict()
    assert "named landscapes" in view.volume._words.object
    job, config = job_of(view.problem, steps=400, chains=4)
    assert job.log.exact == pytest.approx(view.problem.expected_llc_at(config.n_beta, config.localization))
    finished(job)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("w1^", "The formula ends too early"),
        ("w1^2 + 1", "The formula has no zero"),
        ("x*y", "The formula: "),
        ("1/w1", "The formula or its slope is no finite number"),
        ("__import__('os')", "means nothing here"),
        ("", "The formula is empty"),
    ],
)
def test_a_formula_that_cannot_be_run_is_a_sentence_and_the_run_stays(turned, text, words):
    view = turned
    view.tiles.listener("own")
    before = view.configuration()
    write(view, text)
    assert view.editor.message.visible and view.editor.rho.error_state
    assert words in view.editor.message.object.replace("&#x27;", "'") and view.configuration() == before
    with pytest.raises(ValueError):
        view.restore({"problem": {"kind": "planar", "name": "formula", "rho": text}})
    write(view, "w1*w2")
    assert not view.editor.message.visible and not view.editor.rho.error_state


def test_of_a_formula_only_what_is_known_is_told(view):
    view.tiles.listener("own")
    write(view, "w1*w2")
    view.editor.w0.value = "0, 0"
    assert view.problem.local_learning_coefficient is None and view.truth() is None
    numbers = view.numbers(State())
    assert numbers["local"] == "not known" and numbers["multiplicity"] == "–"
    job, _ = job_of(view.problem, steps=600, chains=4)
    estimate = finished(job).judge()
    state = State(status=Status.FINISHED, snapshot=job.advance(0), estimate=estimate)
    assert "not known" in verdict(state, view.problem, job.log.exact, True)[1]
    assert "too fine for the quadrature" in verdict(state, view.problem, None, True)[1]
    assert "quadrature" not in verdict(state, view.problem, None, False)[1]


def test_the_comparison_of_u_and_v_is_there_on_arrival(monkeypatch):
    from app.pages.landscapes.panels import points

    kept = {}
    monkeypatch.setattr(points, "_kept", kept)
    first = points.PointsPanel()
    begun = []
    monkeypatch.setattr(first, "_on_button", begun.append)
    first.arrive(quiet=False)
    assert not begun, "the page's own run goes first"
    first.arrive(quiet=True)
    first.arrive(quiet=True)
    assert len(begun) == 1
    job = PointsJob(100, 64, 1.0)
    progress = job.advance(64)
    first._asked = 200, 5000, 1.0
    first.receive(State(snapshot=progress), [])
    second = points.PointsPanel()
    second.arrive(quiet=False)
    assert second.found is progress and second.sources["U"].data["top"].sum() == 100
    for panel in (first, second):
        panel.close()
