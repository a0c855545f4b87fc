"""The page "Stationary bias" without a browser: configurations, jobs, words, presets, and the section on λ̂."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from cases import few
from waiting import settled

from app.pages.stationary_bias import texts as bias_texts
from app.pages.stationary_bias.config import BiasConfig, on_the_line
from app.pages.stationary_bias.controls.expression import FIRST_EXPRESSION
from app.pages.stationary_bias.controls.points import FIRST_POINTS, parse_points
from app.pages.stationary_bias.controls.sampler import SamplerPanel
from app.pages.stationary_bias.job import BiasJob, DistanceLog, line_run, measure
from app.pages.stationary_bias.page import StationaryBias
from app.pages.stationary_bias.panels.exact import job as bias_exact
from app.pages.stationary_bias.panels.llc_errors import results as llc_errors
from app.pages.stationary_bias.panels.side import laws, readouts
from app.pages.stationary_bias.pictures import draw_scene
from app.pages.stationary_bias.presets import PRESETS
from app.pages.stationary_bias.scene import get_scene, window
from app.runs.job import State, Status
from app.runs.tasks import TaskJob
from app.session import run_words
from app.style.formula import displayable
from llc_core import stationary
from llc_core.line import LineRun
from llc_core.potentials.line.build import landscape
from llc_core.potentials.line.named import LANDSCAPES
from llc_core.samplers.registry import build, samplers

SMALL = BiasConfig(chains=400, steps=2000, burn_in=0.2)


def finished(config: BiasConfig, block: int = 500) -> BiasJob:
    job = BiasJob(config)
    while not job.finished:
        job.record(job.advance(block), None)
    return job


@pytest.fixture(scope="module")
def small_job() -> BiasJob:
    return finished(SMALL)


def test_numbers_are_those_of_the_engine(small_job):
    """Distances and moments of the page against the engine's own functions on a run of the same seed, cut otherwise."""
    run = LineRun(
        {"name": "PSGLD", "step_size": 1e-3, "alpha": 0.9, "stability": 0.1},
        "normal",
        chains=400,
        steps=2000,
        burn_in=400,
        seed=0,
        threads=1,
    )
    snapshot = run.advance(2000)
    found = small_job.judge().left
    assert found.to_target == stationary.total_variation(snapshot.counts, stationary.target_masses("normal"))
    predicted = stationary.masses(run.sampler, "normal")
    assert found.to_prediction == stationary.total_variation(snapshot.counts, predicted)
    assert found.wasserstein == stationary.wasserstein(snapshot.counts, stationary.target_masses("normal"))
    assert found.second == snapshot.moments[1]
    assert found.samples == snapshot.counts.sum() == 400 * 1600 / 8
    scene = get_scene(SMALL)
    assert scene.left.distance == pytest.approx(0.2461, abs=1e-4), "the printed bias of PSGLD"
    assert scene.right.distance == 0


def test_measured_mean_abs_is_right_to_the_width_of_a_bin():
    scene = get_scene(SMALL)
    run = line_run(SMALL, scene, "left")
    run.advance(2000)
    exact = replace(run.snapshot(), counts=scene.left.masses * 1e6)
    found = measure(SMALL, scene, "left", exact)
    assert found.mean_abs == pytest.approx(scene.left.moments["mean_abs"], abs=0.005)
    assert found.to_prediction < 1e-12 and found.to_target == pytest.approx(scene.left.distance, abs=2e-3)


def test_the_log_is_bounded_and_begins_after_burn_in(small_job):
    cursor, rows = small_job.log.since(0)
    assert rows.shape == (cursor, 6) and (rows[:, 0] > 400).all() and (np.diff(rows[:, 0]) > 0).all()
    assert small_job.log.since(cursor)[1].shape == (0, 6)
    log = DistanceLog(10**6, 10**5)
    for steps in range(0, 10**6, 700):
        log.add(steps, (0.1,) * 5)
    assert 300 < log.since(0)[0] <= 700


def test_chance_alone_is_what_the_floor_says():
    """SGLD has hardly any bias at this step: what is left is chance. Within a factor of 2.5, as it is rough."""
    sgld = {"name": "SGLD", "step_size": 1e-2}
    for seed in range(3):
        estimate = finished(SMALL.replace(left=sgld, right=sgld, seed=seed, steps=4000)).judge()
        assert 1 / 2.5 < estimate.left.to_target / estimate.left.floor < 2.5


@pytest.mark.long
@pytest.mark.parametrize("preset", few(PRESETS, 3), ids=lambda preset: preset.name)
def test_every_preset_runs_and_says_one_thing(preset):
    job = BiasJob(preset.config.replace(chains=100, steps=200, burn_in=0.1))
    while not job.finished:
        job.record(job.advance(100), None)
    estimate = job.judge()
    for side in ("left", "right"):
        assert math.isfinite(estimate.side(side).to_target) and estimate.side(side).diverged == 0
    assert 40 < len(preset.lesson) < 190 and preset.lesson.endswith(".")
    ElementTree.fromstring(draw_scene(job.scene, job.config))


def test_presets_cover_every_row_of_the_paper():
    used = {json.dumps({**getattr(p.config, side)}, sort_keys=True) for p in PRESETS for side in ("left", "right")}
    names = {json.loads(text)["name"] for text in used}
    assert names >= {"PSGLD", "CorrectedPSGLD", "MongeSGLD", "ShampooSGLD", "DriftAdamSGLD", "FrozenPSGLD", "SGLD"}
    assert any('"gamma_term": "dropped"' in text for text in used)
    assert any('"stability_form": "inside"' in text for text in used)
    assert len({p.name for p in PRESETS}) == len({p.title for p in PRESETS}) == len(PRESETS)
    assert {"normal", "double_well", "skewed"} == {p.config.target["name"] for p in PRESETS}


def judged(sampler: dict, prediction_share: float, target: str = "normal") -> tuple[str, str]:
    """The verdict on a histogram that is a mixture of prediction and target."""
    config = SMALL.replace(left=sampler, target={"kind": "landscape", "name": target})
    scene = get_scene(config)
    run = line_run(config, scene, "left")
    masses = prediction_share * scene.left.masses + (1 - prediction_share) * scene.masses
    snapshot = replace(run.snapshot(), counts=masses * 1e9, steps=2000)
    return laws.verdict(config, scene.left, measure(config, scene, "left", snapshot))


def test_the_verdict_follows_the_numbers():
    psgld = {"name": "PSGLD", "step_size": 1e-3}
    tone, words = judged(psgld, 1.0)
    assert tone == "bad" and "Wrong distribution." in words and "25% of the probability" in words
    tone, words = judged({**psgld, "step_size": 0.1}, 0.6)
    assert tone == "bad" and "blurred" in words and "s³(1 − α)" in words
    tone, words = judged({**psgld, "step_size": 0.1}, 0.2)
    assert tone == "warn" and "hides the bias" in words
    tone, words = judged({"name": "CorrectedPSGLD", "step_size": 1e-3, "alpha": 0.5}, 1.0)
    assert tone == "good" and "Samples the target." in words
    config = SMALL.replace(left={"name": "CorrectedPSGLD", "step_size": 0.01})
    scene = get_scene(config)
    counts = replace(line_run(config, scene, "left").snapshot(), counts=get_scene(SMALL).left.masses * 1e9, steps=2000)
    tone, words = laws.verdict(config, scene.left, measure(config, scene, "left", counts))
    assert tone == "warn" and "not for this one" in words and "What to change" in words
    lost = replace(measure(config, scene, "left", counts), diverged=7)
    tone, words = laws.verdict(config, scene.left, lost)
    assert tone == "bad" and "7 chains overflowed" in words


def test_words_of_the_run_itself():
    assert run_words.trouble(State(status=Status.FAILED, message="a < b")) == (
        "bad",
        "<b>The run stopped.</b> a &lt; b",
    )
    assert "number 3" in run_words.trouble(State(status=Status.QUEUED, place=3))[1]
    assert run_words.trouble(State(status=Status.RUNNING)) == ("", "")
    assert bias_texts.caption(State()) == "preparing the chains…"


def test_a_burn_in_that_is_too_short_is_told():
    scene = get_scene(SMALL)
    assert "units of time" in laws.burn_in_note(SMALL.replace(burn_in=0.01), scene.left)
    long = BiasConfig()
    assert laws.burn_in_note(long, get_scene(long).left) == ""


@pytest.mark.parametrize("name", list(on_the_line(samplers())))
def test_every_sampler_has_its_formula_and_its_reason(name):
    scene = get_scene(SMALL.replace(left={"name": name}))
    shown = displayable(laws.formula(scene.left))
    assert r"\sqrt" not in shown and shown.count("{") == shown.count("}") and "(1-c)" not in shown
    assert laws.explanation(scene.left).endswith(".")
    values = readouts.readout_values("left", scene.left, scene, None)
    assert {item["key"] for item in readouts.readouts("left")} >= set(values)


@pytest.mark.parametrize("target", LANDSCAPES)
def test_the_window_holds_nearly_everything_and_ends_on_round_numbers(target):
    bins = window(landscape(target))
    masses = stationary.target_masses(target, bins)
    assert masses[[0, -1]].max() < 1e-4 and bins.count == 80
    assert (bins.low, bins.high) == (-4, 4) or target != "normal"
    assert (2 * bins.low).is_integer() and (2 * bins.high).is_integer()


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"chains": 3}, "chains is 3; it must be at least 100."),
        ({"burn_in": 1.5}, "burn_in is 1.5; it must be at least 0"),
        ({"left": {"name": "SGHMC"}}, "has no form on the line"),
        ({"left": {"name": "PSGLD", "alpha": 2}}, "PSGLD.alpha is 2"),
    ],
)
def test_impossible_comparisons_are_refused_in_words(changes, words):
    with pytest.raises(ValueError, match=words.replace(".", r"\.")):
        SMALL.replace(**changes)


def test_a_comparison_survives_its_dictionary():
    for preset in PRESETS:
        assert BiasConfig(**json.loads(json.dumps(preset.config.to_dict()))) == preset.config


def test_own_targets():
    assert parse_points("1, 0.3\n-2  0.1; 0,−0.5") == [[-2.0, 0.1], [0.0, -0.5], [1.0, 0.3]]
    with pytest.raises(ValueError, match="“1, two” is not a point"):
        parse_points("1, two")
    for target in ({"points": FIRST_POINTS}, {"expression": FIRST_EXPRESSION, "of": "density"}):
        scene = get_scene(SMALL.replace(target={"kind": "landscape", **target}))
        assert scene.masses.sum() == pytest.approx(1) and scene.left.distance > 0.1


def test_exact_points_come_in_order_and_agree_with_the_printed_bias():
    job = TaskJob(bias_exact.tasks(SMALL, "left")[:3])
    while not job.finished:
        job.record(job.advance(1), None)
    left, right, first = job.log.since(0)[1]
    assert (left.side, right.side) == ("left", "right") and left.current and right.current
    assert left.to_limit == pytest.approx(0.0163, abs=0.004) and left.to_target > 0.22, "PSGLD at 1e-3"
    assert right.to_target == pytest.approx(0.0100, abs=0.003), "corrected, α = 0.5, at 1e-3"
    assert first.step_size == 1e-6 and first.alpha == 0.9 and first.to_limit < 1e-3 < left.to_limit
    assert first.to_target == pytest.approx(0.2459, abs=1e-3), "the limit of PSGLD stays as far off"
    assert bias_exact.curves(SMALL, "left")[0] == 0.9 and bias_exact.curves(SMALL, "right")[0] == 0.5
    assert bias_exact.curves(SMALL.replace(left={"name": "SGLD"}), "left") == [None]


def test_the_whole_correction_reaches_the_target_at_the_step_of_the_paper(monkeypatch):
    monkeypatch.setattr(bias_exact, "RESOLUTION", 1.0)  # as on the page, with half of the grid's own error
    config = SMALL.replace(right={"name": "CorrectedPSGLD", "alpha": 0.9, "stability": 0.1, "step_size": 2.5e-6})
    point = bias_exact.tasks(config, "left")[1]()
    assert point.side == "right" and not point.trouble and point.to_target < 2e-3


def test_samplers_without_an_exact_law_say_so():
    config = SMALL.replace(left={"name": "DriftAdamSGLD"})
    point = bias_exact.tasks(config, "left")[0]()
    assert "simulate" in point.trouble and math.isnan(point.to_target)
    assert set(readouts.exact_values("left", point, None).values()) == {readouts.UNKNOWN}


@pytest.mark.slow
def test_a_law_that_would_fill_the_server_s_memory_is_one_sentence_and_not_made(monkeypatch):
    """Sixty points whose wells are narrow; a formula of 73 characters asked for 24 GB."""
    points = [[i / 10 - 3, 1 + i * 7 % 13] for i in range(60)]
    config = SMALL.replace(target={"kind": "landscape", "points": points})
    monkeypatch.setattr("llc_core.stationary.exact.stationary", lambda operator: pytest.fail("it was made"))
    point = bias_exact.tasks(config, "left")[0]()
    assert "takes more than 150 MB" in point.trouble and math.isnan(point.to_target)
    assert set(readouts.exact_values("left", point, None).values()) == {readouts.UNKNOWN}


def test_the_section_on_the_estimate_reads_the_benchmark(tmp_path):
    def row(method, llc):
        return {"method": method, "share": 0.1, "llc": llc, "llc_se": 0.1, "diverged": 0, "step_size": 1e-4}

    found = {
        "chains": 8,
        "steps": 100,
        "shares": [0.1],
        "methods": {"SGLD": {}, "RMSProp a=0.1": {}, "RMSProp a=1e-4": {}},
        "problems": [
            {
                "seed": seed,
                "expected": 10.0,
                "gibbs": 8.0,
                "rows": [row("SGLD", 8.0 + seed), row("RMSProp a=0.1", 9.0), row("RMSProp a=1e-4", 12.0)],
            }
            for seed in (0, 2)
        ],
    }
    path = tmp_path / "adaptive_llc.json"
    assert llc_errors.results(path) is None
    llc_errors.results.cache_clear()
    path.write_text(json.dumps(found))
    loaded = llc_errors.results(path)
    llc_errors.results.cache_clear()
    assert np.allclose(llc_errors.errors(loaded, 0.1, "expected")["SGLD"], [(0, -0.2, 0.01), (2, 0.0, 0.01)])
    rows = {entry["method"]: entry for entry in llc_errors.summary(loaded, 0.1)}
    assert rows["SGLD"]["gibbs"] == pytest.approx(0.125) and rows["RMSProp a=1e-4"]["gibbs_size"] == pytest.approx(0.5)
    assert "50.0%" in llc_errors.table(list(rows.values())) and "50.0%" in llc_errors.advice(loaded, 0.1)


def test_the_slider_of_the_step_size_reaches_figure_2_of_the_paper():
    panel = SamplerPanel("right")
    panel.show({"name": "CorrectedPSGLD", "step_size": 2.5e-6})
    field = panel._own["step_size"]
    assert panel.value["step_size"] == 2.5e-6 and field.widget.start < math.log10(2.5e-6) < field.widget.end


def test_an_automatic_step_gets_a_number():
    assert BiasConfig(left={"name": "MongeSGLD"}).left["step_size"] == 1e-3
    assert build(BiasConfig().right).name == "CorrectedPSGLD"


@pytest.fixture
def page():
    made = StationaryBias()
    yield made
    made.close()


LINKED = {
    **SMALL.replace(
        target={"kind": "landscape", "points": [[-2.0, 0.1], [-0.5, 0.6], [0.3, 0.2], [1.5, 0.5]]},
        left={"name": "MongeSGLD", "step_size": 0.0123456789},
        seed=12345,
    ).to_dict(),
    "step_decay": 0.3,
}


def test_a_link_is_read_once_and_run_as_it_is(page, monkeypatch):
    read = []
    monkeypatch.setattr(BiasConfig, "__post_init__", _counted(BiasConfig.__post_init__, read))
    page.restore(LINKED)
    settled(page)
    assert len(read) == 1
    assert page.configuration() == BiasConfig.from_dict(LINKED).to_dict()
    assert page.run_panel.values["step_decay"] == 0.3 and "n^0.3" in str(page.run_panel.rule.widget.options)
    assert page.target.target == LINKED["target"] and page.sides["left"].panel.value == LINKED["left"]
    assert page.tiles.selected == "" and "Your own settings" in page.lesson.object


def test_a_change_of_settings_makes_one_configuration_and_keeps_the_others(page, monkeypatch):
    page.restore(LINKED)
    settled(page)
    read = []
    monkeypatch.setattr(BiasConfig, "__post_init__", _counted(BiasConfig.__post_init__, read))
    page.run_panel.fields["steps"]._on_user("text", "3000")
    assert len(read) == 1
    assert page.configuration() == BiasConfig.from_dict({**LINKED, "steps": 3000}).to_dict()
    assert page.transport.total == 3000


def test_what_cannot_be_run_changes_nothing(page):
    before = page.configuration()
    for wrong in ({"chains": 3}, {"left": {"name": "SGHMC"}}, {"unknown": 1}):
        with pytest.raises(ValueError):
            page.restore({**LINKED, **wrong})
    assert page.configuration() == before and page.tiles.selected == PRESETS[0].name
    page.tiles._handle_msg({"select": PRESETS[5].name})
    assert page.configuration() == PRESETS[5].config.to_dict() and PRESETS[5].lesson[:20] in page.lesson.object
    page._on_command("reset")
    assert page.configuration() == PRESETS[5].config.to_dict() and page.tiles.selected == PRESETS[5].name


def _counted(function, calls: list):
    def counting(*arguments):
        calls.append(arguments)
        return function(*arguments)

    return counting
