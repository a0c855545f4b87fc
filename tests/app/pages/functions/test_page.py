"""The page "Weights and functions" without a browser: runs and their gauges, exact answers, words, data points, take-away."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import re
import time
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from bokeh.document import Document
from bokeh.models import ColumnDataSource
from cases import few
from pasted import Pasted
from sent_words import without_cards
from waiting import PATIENCE_SECONDS, on_screen

from app.pages.functions import scene as scenes
from app.pages.functions.cases import linear, linear_features, sorting, torus
from app.pages.functions.config import ACROSS, CASES, MOST_POINTS, POOLED, FunctionsConfig
from app.pages.functions.job import ChainsSeen, Edges, FunctionsJob, FunctionsProgress, Gauges, PairJob, Path, build
from app.pages.functions.page import WeightsAndFunctions
from app.pages.functions.panels import truth
from app.pages.functions.panels.particles import BY_WEIGHTS, REACH, ParticlesPanel
from app.pages.functions.pictures import AGREE, draw_gauges, place
from app.pages.functions.presets import PRESETS, printed_step
from app.pages.functions.scene import INPUTS, Posterior, Scene, case_distribution, effort, known, scene_of
from app.pages.functions.takeaway import python_code
from app.pages.functions.texts import EXACT_CELLS, chance_of, distance_to, headline, verdict
from app.runs.job import State, Status
from llc_core import Run, RunConfig, estimate, nngp_posterior
from llc_core.diagnostics.convergence import r_hat
from llc_core.references.functions.finite_width import FiniteWidth

NARROW = {"kind": "bayesian_network", "widths": [1, 6, 1], "data": {"name": "wave", "n": 5, "seed": 1}}
SMALL = FunctionsConfig(problem=NARROW, sampler={"name": "SplitHMC", "leapfrog_steps": 5.0}, chains=4, steps=60, seed=3)
SERIAL = itertools.count()
BY_NAME = {preset.name: preset for preset in PRESETS}


def finished(config: FunctionsConfig, block: int = 7) -> FunctionsJob:
    job = FunctionsJob(scene_of(config))
    while not job.finished:
        job.record(job.advance(block), None)
    return job


@pytest.fixture(scope="module")
def small_job() -> FunctionsJob:
    """For tests that read what it ended in."""
    return finished(SMALL)


@pytest.fixture
def quick_answers(monkeypatch):
    """Exact answers that take no time, from few draws; they are told however badly they have settled."""
    monkeypatch.setattr(scenes, "MOVES", 720)
    monkeypatch.setattr(scenes, "LEAST_MOVES", 120)
    monkeypatch.setattr(scenes, "DRAWS", 60)
    monkeypatch.setattr(scenes, "SETTLED", math.inf)
    scenes.shipped()  # read once for the process, by keys that are not patched
    # What a test before this one has left half built keeps to its own keys.
    own = f"{next(SERIAL)} "
    monkeypatch.setattr(scenes, "key_of", lambda problem: own + json.dumps(problem, sort_keys=True))


@pytest.fixture
def view(quick_answers):
    made = WeightsAndFunctions()
    yield made
    made.close()


@pytest.fixture(scope="module")
def kept_pages():
    made: list[WeightsAndFunctions] = []
    yield made
    for page in made:
        page.close()


@pytest.fixture
def untouched(quick_answers, kept_pages):
    """One page for tests that assert that it stays as it opens: to build it takes longer than what they ask."""
    if not kept_pages:
        kept_pages.append(WeightsAndFunctions())
        settle_answers(kept_pages[0])
    return kept_pages[0]


def settle_answers(view: WeightsAndFunctions) -> None:
    """Wait for what is worked out beside the run: the Gaussian process and the exact answer."""
    wait_for(lambda: view.truth.poll() or not view.truth.busy)


def wait_for(done) -> None:
    limit = time.monotonic() + PATIENCE_SECONDS
    while not done():
        assert time.monotonic() < limit
        time.sleep(0.01)


def finished_answer(scene: Scene) -> Posterior:
    job = truth.TruthJob(scene)
    while not job.finished:
        job.advance(1)
    return job.judge()


# -- the run ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("steps", [60, 601])
def test_the_gauges_are_those_of_the_engine_s_own_run(steps):
    """R-hat, mean and quantiles of the finished run, from the draws that `estimate` keeps with the same seed."""
    config = SMALL.replace(steps=steps, sampler={"name": "MALA", "step_size": 0.002})
    job = finished(config)
    scene, seen = job.scene, job.judge()
    most = {"every": config.every, "most": 1000}
    found = estimate(
        scene.network,
        dict(config.sampler),
        gradient="full",
        chains=config.chains,
        steps=config.steps,
        burn_in=config.burn_in,
        seed=config.seed,
        observables=[
            {"name": "Predictions", "inputs": scene.inputs.tolist(), **most},
            {"name": "WeightDraws", "count": 48, **most},
        ],
        progress=False,
    )
    f, w = (found.observables[name]["draws"] for name in ("Predictions", "WeightDraws"))
    assert seen.gauges.functions == pytest.approx(max(r_hat(f[:, :, i]) for i in range(INPUTS)), rel=1e-9)
    of_weights = [r_hat(w[:, :, i]) for i in range(w.shape[2])]
    assert seen.gauges.weights == pytest.approx(np.median(of_weights), rel=1e-9)
    assert seen.gauges.most == pytest.approx(max(of_weights), rel=1e-9)
    assert seen.gauges.mean == pytest.approx(f.mean(axis=(0, 1)), abs=1e-9)
    low = np.quantile(f.reshape(-1, INPUTS), 0.1, axis=0)
    assert seen.band.edges[POOLED].low[0.8] == pytest.approx(low, abs=1e-9)


def test_a_run_does_not_depend_on_how_it_is_cut(small_job):
    first, second = small_job, finished(SMALL, 60)
    assert [row.iteration for row in first.log.rows] == list(range(0, 61)) == [row.iteration for row in second.log.rows]
    for a, b in zip(first.log.rows, second.log.rows, strict=True):
        assert np.allclose(a.functions, b.functions, atol=1e-12) and np.allclose(a.losses, b.losses, atol=1e-12)
    last = first.log.rows[-1]
    residual = first.scene.network.data.y - np.array(
        [np.interp(x, first.scene.inputs, last.functions[0]) for x in first.scene.network.data.x[:, 0]]
    )
    exact = np.log(2 * np.pi * 0.05) / 2 + np.mean(residual**2) / 0.1
    assert last.losses[0] == pytest.approx(exact, rel=0.1), "functions lie so close that lines between them will do"


def test_rows_are_bounded_and_their_halves_are_those_of_burn_in(small_job):
    config = SMALL.replace(steps=5_000, sampler={"name": "MALA", "step_size": 1e-3})
    assert config.every == 20 and config.burn_in == 2500
    path = Path(20, tuple(small_job.log.rows))
    assert [row.iteration for row in path._half(60)] == list(range(20, 60))
    assert Path(1).band(0) is None and Path(1).see(5) is None


def test_bands_hold_their_share():
    edges = Edges.of(np.arange(101.0)[:, None])
    assert edges.low[0.8] == pytest.approx([10]) and edges.high[0.8] == pytest.approx([90])
    assert edges.low[0.5] == pytest.approx([25]) and edges.high[0.95] == pytest.approx([97.5])


def test_a_band_across_chains_is_that_of_one_iteration(small_job):
    path = small_job.log
    band = path.band(30)
    row = path.rows[30].functions
    assert band.edges[ACROSS].mean == pytest.approx(row.mean(axis=0)) and np.array_equal(band.lines, row[:8])
    pooled = np.concatenate([path.rows[i].functions for i in range(15, 30)])
    assert band.edges[POOLED].mean == pytest.approx(pooled.mean(axis=0))


def test_the_printed_step_accepts_nothing_at_variance_one_hundredth():
    preset = BY_NAME["printed"]
    assert preset.config.sampler["step_size"] == printed_step(20) == pytest.approx(2 * 0.025 / 140)
    job = FunctionsJob(scene_of(preset.config.replace(steps=100)))
    progress = job.advance(100)
    assert progress.acceptance < 0.01
    moved = job._fresh[-1].functions - job._fresh[10].functions
    assert np.median(np.abs(moved)) < 0.01


# -- exact answers ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_exact_answers_are_the_engine_s_and_are_kept(quick_answers):
    scene = scene_of(SMALL)
    assert known(scene) == (None, None)
    job = truth.TruthJob(scene)
    limit = job.advance(1).limit
    wanted = nngp_posterior(scene.network, scene.inputs)
    assert limit.mean == pytest.approx(wanted.mean) and limit.low[0.8] == pytest.approx(wanted.quantile(0.1))
    assert job.judge() is None and not job.finished
    seen = []
    while not job.finished:
        job.advance(1)
        seen.append(job.judge())
    work = FiniteWidth(scene.network, scene.inputs, **effort(scene.network))
    while not work.finished:
        work.advance()
    found, exact = work.mixture(), seen[-1]
    assert exact.mean == pytest.approx(found.mean) and exact.high[0.95] == pytest.approx(
        found.quantile(0.975), abs=1e-5
    )
    assert (exact.ess, exact.r_hat) == (found.ess, found.r_hat) and any(each is not None for each in seen[:-1])
    assert known(scene) == (limit, exact) and finished_answer(scene_of(SMALL.replace(chains=5))) is exact


def test_two_visitors_work_out_one_answer_together(quick_answers, monkeypatch):
    pieces = []
    monkeypatch.setattr(
        truth.FiniteWidth, "advance", lambda work, old=truth.FiniteWidth.advance: pieces.append(1) or old(work)
    )
    scene = scene_of(SMALL)
    first, second = truth.TruthJob(scene), truth.TruthJob(scene)
    while not (first.finished and second.finished):
        first.advance(1)
        second.advance(1)
    moves = effort(scene.network)["moves"]
    assert len(pieces) == moves // 10 and first.judge() is second.judge()
    assert first._work.pieces is None and first._work.claim.size == 0
    scenes.forget_answers()
    assert truth.TruthJob(scene)._work.pieces is not None, "what was forgotten is worked out again"


@pytest.mark.slow
def test_an_answer_whose_chains_disagree_is_not_told(view, monkeypatch):
    settle_answers(view)
    assert view.truth.exact is view.truth.found is not None and view.truth.words == ""
    monkeypatch.setattr(scenes, "SETTLED", 1.0)
    view._draw_answers()
    assert view.truth.exact is None and "its own chains did not agree" in view.truth.words
    assert not len(view.figure.exact.data["x"])


@pytest.mark.slow
def test_the_page_shows_what_is_worked_out_beside_it(view):
    assert view.truth.busy
    settle_answers(view)
    exact, limit = view.truth.exact, view.truth.limit
    assert known(view.scene) == (limit, exact) and limit is not None
    assert np.array_equal(view.figure.exact.data["mean"], exact.mean)
    assert np.array_equal(view.figure.limit.data["high"], limit.high[0.8])
    view.run(SMALL)
    assert not len(view.figure.exact.data["x"])
    view.on_preset("same")
    assert view.truth.exact is exact and not view.truth.busy, "what is known is shown at once"


@pytest.mark.slow
def test_a_laplace_likelihood_has_exact_answers_of_its_own(view):
    config = SMALL.replace(problem={**NARROW, "likelihood": "laplace"})
    view.run(config)
    settle_answers(view)
    scene = scene_of(config)
    wanted = FiniteWidth(scene.network, scene.inputs, **effort(scene.network))
    while not wanted.finished:
        wanted.advance()
    assert view.truth.exact.mean == pytest.approx(wanted.mixture().mean) and view.truth.trouble == ""
    assert math.isnan(view.truth.limit.log_evidence) and "limit_evidence" in view.numbers.withheld
    gaussian = nngp_posterior(scene_of(SMALL).network, scene.inputs)
    assert np.abs((view.truth.limit.mean - gaussian.mean) / gaussian.sd).max() > 0.1, "that of other noise"


# -- three cases in which the functions have a chain of their own ------------------------------------------------------


def case_config(kind: str, **changes) -> FunctionsConfig:
    return BY_NAME[kind].config.replace(**{"steps": 400, "chains": 6, **changes})


def finished_pair(config: FunctionsConfig) -> tuple[PairJob, FunctionsProgress]:
    job = PairJob(scene_of(config))
    while not job.finished:
        progress = job.advance(70)
        job.record(progress, None)
    return job, progress


@pytest.mark.parametrize("kind", CASES)
def test_both_chains_of_a_case_take_one_path(kind):
    config = case_config(kind)
    job, progress = finished_pair(config)
    case, pair = job.scene.case, job._pair
    assert 0 <= progress.apart < 1e-9 and [row.iteration for row in job.log.rows] == list(range(0, 401, 2))
    from_weights = case.curve(pair.image.numpy())
    assert np.allclose(from_weights[-1], job.log.rows[-1].functions, atol=1e-8)
    assert np.array_equal(job.log.rows[7].weights, pair.weights[7].numpy())
    seen = job.judge()
    assert seen.gauges.iteration == 400 and seen.gauges.mean.shape == (len(case.inputs),)


@pytest.mark.slow
def test_the_functions_of_a_case_reach_their_exact_law():
    """Means and spreads over many chains, within four standard errors of independent chains, and the bias of Euler's steps."""
    for kind, steps in (("linear", 1_500), ("torus", 2_000)):
        job, _ = finished_pair(case_config(kind, chains=64, steps=steps))
        exact, last = case_distribution(job.scene.case), job.log.rows[-1].functions
        away = (last.mean(axis=0) - exact.mean) / exact.sd
        assert np.abs(away).max() < 4 / 8
        inside = (last > exact.low[0.8]) & (last < exact.high[0.8])
        assert abs(inside.mean() - 0.8) < 4 * 0.4 / 8
        of_weights = job.judge().gauges
        assert of_weights.weights > 1.5 > of_weights.functions


def test_exact_laws_of_the_cases():
    law = case_distribution(torus())
    w = np.linspace(-0.5, 0.5, 20_001)[:-1]
    mass = np.exp(3 * np.cos(2 * np.pi * w))
    mass /= mass.sum()
    f = np.sin(2 * np.pi * (torus().inputs[5] + w))
    assert law.mean[5] == pytest.approx(mass @ f, abs=1e-9)
    share = mass @ (f < law.high[0.8][5])
    assert share == pytest.approx(0.9, abs=1e-3)
    case = linear()
    features = linear_features(case.x)
    precision = features.T @ features / 0.05 + np.eye(12)
    mean = features @ np.linalg.solve(precision, features.T @ case.y / 0.05)
    sd = np.sqrt(np.diag(features @ np.linalg.inv(precision) @ features.T))
    law = case_distribution(case)
    assert law.mean == pytest.approx(mean) and law.sd == pytest.approx(sd)
    assert law.high[0.8] == pytest.approx(mean + 1.2815515655 * sd)
    points, shares = sorting().law()
    assert (np.diff(points, axis=1) >= 0).all() and shares.sum() == pytest.approx(1)
    random = np.random.default_rng(0).standard_normal((60_000, 3))
    data = sorting()
    draws = np.exp(-7 * data.losses(np.abs(random)))
    wanted = draws @ data.curve(np.abs(random)) / draws.sum()
    error = 1 / math.sqrt(draws.sum() ** 2 / np.square(draws).sum())
    law = case_distribution(data)
    assert np.abs((wanted - law.mean) / law.sd).max() < 4.5 * error, "the prior's draws, weighted by the likelihood"


@pytest.mark.slow
def test_chains_and_particles_are_drawn_on_the_circle(view):
    job, progress = finished_pair(case_config("torus", chains=8))
    panel = ParticlesPanel()
    panel.reset(job.scene)
    panel.draw(job.log.rows[-1].weights, progress)
    for dots in panel.dots.values():
        assert len(dots.data["x"]) == 8 and np.abs(dots.data["x"]).max() <= 0.5 and len(set(dots.data["y"])) == 1
    area = np.trapezoid(panel.density.data["y"] - 0.5, panel.density.data["x"])
    points = np.linspace(-REACH, REACH, 2_001)
    assert area == pytest.approx(3 * np.trapezoid(np.exp(3 * (np.cos(2 * np.pi * points) - 1)), points), rel=1e-2)


def test_particles_that_repel_collapse_where_chains_do_not():
    _, progress = finished_pair(case_config("torus", chains=32))
    rival = progress.rival
    assert rival.spread < 0.5 * rival.exact and rival.exact == pytest.approx(0.1052, abs=1e-4)
    assert rival.by_functions.std() == pytest.approx(rival.exact, rel=0.15)


@pytest.mark.parametrize("kind", few(CASES, 1))
def test_a_case_is_shown_with_what_it_has(view, kind):
    view.on_preset(kind)
    settle_answers(view)
    assert view.truth.limit is None and view.truth.exact is not None
    assert {"acceptance", "gap"} <= set(view.numbers.withheld) and "apart" not in view.numbers.withheld
    assert ("rival" in view.numbers.withheld) == (kind != "torus")
    assert not view.editor._network.visible and not view.run_panel.sampler.widget.visible
    before = view.configuration()
    view.figure.on_tap(0.5, 0.5)
    assert view.configuration() == before and "data of its own" in view.editor.message.object
    view.run_panel._own["step_size"].set(1e-4)
    view.run_panel.listener()
    assert view.configuration()["sampler"]["step_size"] == 1e-4 and view.configuration()["problem"] == {"kind": kind}
    view.on_preset("same")
    assert view.editor._network.visible and view.run_panel.sampler.widget.visible and not view.editor.message.visible


@pytest.mark.slow
def test_the_coefficient_settles_while_weights_do_not(view):
    """The deep linear network: entries of the product, and λ̂ as the engine gives it."""
    config = BY_NAME["llc"].config.replace(steps=600)
    scene = scene_of(config)
    job = build(scene)()
    while not job.finished:
        job.record(job.advance(50), None)
    seen = job.judge()
    same = {"sampler": dict(config.sampler), "gradient": "full", "chains": 8, "steps": 600, "burn_in": config.burn_in}
    run = Run(RunConfig(problem=scene.deep.to_dict(), **same), scene.deep)
    run.advance(600)
    (found,) = run.estimates(0)  # whether exact draws confirm it is not asked here, and takes five seconds
    assert (seen.llc.value, seen.llc.se) == pytest.approx((found.llc, found.llc_se))
    assert abs(found.llc - 28.4) < 6 * found.llc_se and seen.gauges.weights > 1.5 > seen.gauges.loss
    first = job.log.rows[0]
    assert np.allclose(first.functions, 0) and first.functions.shape == (8, 64)
    delta = torch.zeros(1, 128, dtype=torch.float64)
    delta[0, 9], delta[0, 64 + 1] = 0.5, 2.0  # of the first layer's second row, and of the second layer's first
    one, two = (np.array(layer, dtype=float) for layer in scene.deep.weights)
    moved_one, moved_two = one.copy(), two.copy()
    moved_one[1, 1] += 0.5
    moved_two[0, 1] += 2.0
    assert job.measure(delta)[0][0] == pytest.approx((moved_two @ moved_one - two @ one).ravel())
    state = State(Status.FINISHED, snapshot=job.advance(0), estimate=seen)
    assert "λ̂ has settled" in verdict(state, seen, None, "", True)[1] or not seen.gauges.functions < AGREE
    view.on_preset("llc")
    wait_for(lambda: view.preparation.poll() or not view.preparation.busy)
    assert view.configuration()["problem"] == {"kind": "deep_linear"} and not view.truth.busy and view.truth.words == ""
    assert {"distance", "apart"} <= set(view.numbers.withheld) and "llc" not in view.numbers.withheld
    assert [item["key"] for item in view.toggles.items] == ["live", "lines"]
    assert "llc_core.run(config)" in python_code(config)


# -- what a visitor does ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"problem": {"kind": "dln", "widths": [3, 2]}}, "this page runs Bayesian networks"),
        ({"problem": {"widths": [1, 2_000, 2_000, 1]}}, "this page takes 4 of up to 500"),
        ({"problem": {"widths": [1, 2, 2, 2, 2, 2, 1]}}, "has 5 hidden layers"),
        ({"problem": {"widths": [2, 5, 1]}}, "this page draws functions of 1 input"),
        ({"problem": {"data": {"name": "wave", "n": 65}}}, "data has 65 points"),
        ({"problem": {"data": {"x": [1, 2], "y": [1]}}}, "give as many"),
        ({"problem": {"noise_variance": 0}}, "noise_variance is 0"),
        ({"problem": 7}, "problem is 7"),
        ({"sampler": {"name": "SGLD"}}, "sampler is SGLD; this page has"),
        ({"sampler": {"name": "MALA", "step_size": -1}}, "step_size"),
        ({"sampler": {"name": "CollapsedPCN"}, "problem": {"likelihood": "laplace"}}, "likelihood is 'laplace'"),
        (
            {"problem": {"kind": "torus", "n": 3}, "sampler": {"name": "SGLD", "step_size": 1e-3}},
            "nothing to set beside its kind",
        ),
        ({"problem": {"kind": "linear"}}, "sampler is SplitHMC; this page has SGLD"),
        ({"problem": {"kind": "linear"}, "sampler": {"name": "SGLD"}}, "sampler has no step_size"),
        (
            {"problem": {"kind": "linear"}, "sampler": {"name": "SGLD", "step_size": 0.1}, "steps": 30_000},
            "at most 20,?000",
        ),
        ({"chains": 65}, "chains is 65"),
        ({"steps": 10**7}, "steps is 10000000"),
        ({"band": "wide"}, "band is"),
        ({"share": 0.7}, "share is 0.7; choose one of 0.5, 0.8, 0.95"),
        ({"unheard": 1}, "Unknown key 'unheard'"),
    ],
)
def test_a_wrong_value_changes_nothing(untouched, changes, words):
    view = untouched
    before = view.configuration()
    with pytest.raises(ValueError, match=words if "?" in words else re.escape(words)) as error:
        view.restore(changes)
    assert "\n" not in str(error.value) and len(str(error.value)) < 300
    assert view.configuration() == before and view.tiles.selected == "same"


def test_a_tap_adds_a_point_and_the_curve_can_come_back(view):
    view.figure.on_tap(0.12345, 2.5)
    data = view.configuration()["problem"]["data"]
    assert (data["x"][-1], data["y"][-1]) == (0.123, 2.5) and len(data["x"]) == 8
    assert view.tiles.selected == "" and view.editor.back.visible
    assert view.figure.data.data["x"][-1] == 0.123 and not len(view.figure.live.data["x"])
    assert view.scene.network.n == 8 and view.editor.fields["points"].value == 8
    view.editor.back.clicks += 1
    assert view.configuration()["problem"]["data"] == {"name": "wave", "n": 7, "seed": 0}


def test_a_point_can_be_typed_in_and_added_by_a_button(view):
    """Who has no pointer has no tap."""
    before = view.configuration()
    for field, text in zip(view.editor.place, ("0.4", "-1.25"), strict=True):
        field.widget.listener("entry", text)
    assert view.configuration() == before, "a place alone adds nothing"
    view.editor.add.clicks += 1
    data = view.configuration()["problem"]["data"]
    assert (data["x"][-1], data["y"][-1]) == (0.4, -1.25) and view.editor.back.visible
    view.editor.place[0].widget.listener("entry", "far away")
    assert view.editor.place[0].error and view.editor.place[0].value == 0.4


def test_more_points_than_the_page_takes_are_refused_in_a_sentence(view):
    view.editor.fields["points"].set(MOST_POINTS)
    view.editor.fields["points"].listener()
    before = view.configuration()
    view.figure.on_tap(0.0, 0.0)
    assert view.configuration() == before and f"up to {MOST_POINTS}" in view.editor.message.object


def test_a_network_too_wide_for_the_server_is_refused(view, monkeypatch):
    monkeypatch.setenv("LLC_LAB_VISITOR_MEMORY", "20")
    before = view.configuration()
    view.editor.fields["width"].set(320)
    view.editor.fields["width"].listener()
    assert view.configuration() == before
    assert "MB" in view.fault.object + view.editor.message.object


@pytest.mark.slow
def test_another_band_is_drawn_of_the_same_run(view, small_job):
    settle_answers(view)
    view.run(SMALL)
    job = small_job
    view._show_band(job.judge().band)
    run = view._live._build
    view.run_panel.fields["share"].set("0.5")
    view.run_panel.fields["band"].set(ACROSS)
    view.run_panel.listener()
    assert view._live._build is run and view.configuration()["band"] == ACROSS
    assert np.allclose(view.figure.live.data["low"], job.judge().band.edges[ACROSS].low[0.5])
    assert "a band over chains, not over time" in view.words.object


def test_the_slider_replays_the_run_and_follows_it_again(view, small_job):
    view.run(SMALL)
    job = small_job
    state = State(Status.FINISHED, 5, snapshot=job.advance(0), estimate=job.judge())
    view._on_poll(state, (len(job.log.rows), list(job.log.rows)))
    assert view.replay.value == 60 and view.replay.follows and view._seen.gauges.iteration == 60
    view.replay._field.set(40)
    view.replay._on_change()
    view._replay_work._future.result(PATIENCE_SECONDS)
    view._replay_work.poll()
    assert view._seen.gauges.iteration == 40 and not view.replay.follows
    assert np.array_equal(view.figure.lines.data["ys"][0], job.log.rows[40].functions[0])
    view._on_poll(state, (len(job.log.rows), []))
    assert view._seen.gauges.iteration == 40, "the run does not take the slider away"
    view.replay._field.set(60)
    view.replay._on_change()
    view._on_poll(state, (len(job.log.rows), []))
    assert view._seen.gauges.iteration == 60


def test_the_editor_keeps_layers_that_it_cannot_show(view):
    view.restore({"problem": {**NARROW, "widths": [1, 9, 4, 1]}})
    view.editor.fields["noise_variance"].set(0.1)
    view.editor.fields["noise_variance"].listener()
    assert view.configuration()["problem"]["widths"] == [1, 9, 4, 1]
    view.editor.fields["layers"].set(3)
    view.editor.fields["layers"].listener()
    assert view.configuration()["problem"]["widths"] == [1, 9, 9, 9, 1]


def test_a_class_can_be_left_to_guess_the_posterior(quick_answers, small_job):
    view = WeightsAndFunctions()
    for part in view.parts["answers"]:
        part.visible = False
    settle_answers(view)
    assert (
        view.truth.exact is not None and not len(view.figure.exact.data["x"]) and not len(view.figure.limit.data["x"])
    )
    assert [item["key"] for item in view.toggles.items] == ["live", "lines"]
    assert {"distance", "chance", "gap"} <= set(view.numbers.withheld)
    job = small_job
    state = State(Status.FINISHED, 1, snapshot=job.advance(0), estimate=job.judge())
    assert "exact" not in verdict(state, job.judge(), view.truth.exact, "", False)[1]
    view._seen = job.judge()
    assert "exact" not in view._file("bands")
    view.close()


def sent(view: WeightsAndFunctions) -> tuple[dict[str, dict], str]:
    """What a browser is given of the page: the columns of all its figures, by the names of their sources, and the rest as text."""
    document = Document()
    view.later.arrive()
    for part in view.main:
        document.add_root(part.get_root(document))
    columns = {each.name: dict(each.data) for each in document.select({"type": ColumnDataSource})}
    return columns, without_cards(json.dumps(document.to_json(), default=str, ensure_ascii=False))


def told(columns: dict[str, dict], truths: list[np.ndarray]) -> set[str]:
    """Names of the sources in which one of these arrays is."""
    return {
        name
        for name, data in columns.items()
        for values in data.values()
        if len(values) and any(len(values) == len(t) and np.allclose(np.asarray(values, float), t) for t in truths)
    }


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", ["same", "torus"])
def test_what_is_hidden_is_not_sent_and_comes_back_when_it_is_revealed(view, name):
    view.on_preset(name)
    settle_answers(view)
    on_screen(view)
    wait_for(lambda: view._live._poll() or (view.state.snapshot is not None and view.state.estimate is not None))
    view._live.command("pause")
    view.show_words(view.state)
    exact = view.truth.exact
    truths = [exact.mean, exact.sd, exact.low[0.8], exact.high[0.8]]
    if view.truth.limit is not None:
        truths += [view.truth.limit.mean, view.truth.limit.low[0.8]]
    rival = view.state.snapshot.rival
    truths += [rival.by_weights, rival.by_functions] if rival is not None else []
    columns, text = sent(view)
    open_to_see = told(columns, truths)
    assert open_to_see >= ({"exact", "limit"} if name == "same" else {"exact", "particles " + BY_WEIGHTS})
    numbers = {key: value for key, value in view.numbers.values.items() if key in EXACT_CELLS and value != "–"}
    assert numbers and BY_NAME[name].lesson in text

    view.answers.visible = False
    columns, text = sent(view)
    assert told(columns, truths) == set() and "particles_exact" not in columns and "ensemble_exact" not in columns
    assert not set(view.numbers.values) & set(EXACT_CELLS)
    assert not any(words in text for words in (BY_NAME[name].lesson, "falls to the mode", "is the exact one"))
    view._draw_answers()
    view.show_words(view.state)
    assert told(sent(view)[0], truths) == set() and not set(view.numbers.values) & set(EXACT_CELLS)

    view.reveal.listener("")
    assert view.answers.visible and told(sent(view)[0], truths) == open_to_see
    assert numbers.items() <= dict(view.numbers.values).items()


# -- words and pictures -----------------------------------------------------------------------------------------------


def gauges(weights: float, functions: float, away: float = 0.0, ess: float = 1000.0) -> Gauges:
    ones = np.ones(INPUTS)
    return Gauges(100, weights, weights, functions, functions, ess, away * ones, ones)


EXACT = Posterior(np.zeros(INPUTS), np.ones(INPUTS), {}, {}, 1000.0, math.nan)


@pytest.mark.parametrize(
    ("weights", "functions", "away", "tone", "words", "sentence"),
    [
        (
            1.3,
            1.02,
            0.02,
            "good",
            "The band is the exact one",
            "agree on the curve (R-hat 1.020), but not on their weights",
        ),
        (1.01, 1.02, 0.5, "bad", "Agreed, but not exact", "and on their weights too"),
        (2.1, 1.5, 0.6, "warn", "Not there yet", "do not agree yet: less on their weights"),
        (1.1, 1.5, 0.6, "warn", "0.60 sd from the exact one", "do not agree yet on the curve"),
    ],
)
def test_words_say_what_the_gauges_say(weights, functions, away, tone, words, sentence):
    found = gauges(weights, functions, away)
    assert distance_to(EXACT, found) == pytest.approx(away) and chance_of(EXACT, found) == pytest.approx(
        0.0447, abs=1e-4
    )
    job_state = State(Status.FINISHED, snapshot=FunctionsProgress(100, 100, None, 0.8, 0.1))
    seen = ChainsSeen(None, found)
    said = verdict(job_state, seen, EXACT, "", True)
    assert said[0] == tone and words in said[1]
    assert sentence in headline(found, scene_of(SMALL))
    stuck = replace(job_state, snapshot=FunctionsProgress(100, 100, None, 0.001, 0.1))
    assert "Nothing moves" in verdict(stuck, seen, EXACT, "", True)[1] and "0.1%" in headline(
        found, scene_of(SMALL), 0.001
    )


def test_before_there_are_gauges_nothing_is_claimed():
    assert headline(None, scene_of(SMALL)).endswith("?")
    assert verdict(State(), None, None, "", True)[0] == "wait"
    assert distance_to(None, None) != distance_to(None, None)
    html = draw_gauges({})
    assert html.count("–") >= 3 and "aria-valuenow" not in html and "meter" not in html


def test_gauges_are_even_in_the_logarithm_of_the_excess():
    assert (
        place(1.0) == 0 and place(math.inf) == 1 and place(1.003) == pytest.approx(0) and place(4) == pytest.approx(1)
    )
    assert place(1.3) - place(1.03) == pytest.approx(place(1.1) - place(1.01))
    html = draw_gauges({"weights": 2.0, "loss": 1.1, "functions": AGREE - 0.01})
    assert re.findall(r'data-key="r_hat_(\w+)">([\d.]+)', html) == [
        ("weights", "2.000"), ("loss", "1.100"), ("functions", "1.040"),
    ]  # fmt: skip
    ElementTree.fromstring(f"<div>{html}</div>")


# -- data of one's own ------------------------------------------------------------------------------------------------


def upload(view: WeightsAndFunctions, content: bytes, name: str = "mine.csv") -> None:
    view.editor.upload.param.update(filename=name, value=content)


def test_points_of_a_file_take_the_place_of_the_curve(view):
    upload(view, b"x;y\n-1;0.5\n0;1\n2;-0.25\n")
    assert view.editor.problem["data"] == {"x": [-1.0, 0.0, 2.0], "y": [0.5, 1.0, -0.25]}
    wait_for(lambda: view.configuration()["problem"]["data"] == view.editor.problem["data"])
    assert view.editor.back.visible and view.editor.upload.value is None
    assert view.figure.data.data["x"].tolist() == [-1.0, 0.0, 2.0]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"PK\x03\x04\xff\xfe", "mine.csv is no text in UTF-8"),
        (b"1,2,3\n4,5,6\n", "has 3 column"),
        (b"x,y\n1,two\n", "has &#x27;two&#x27; in row 2, y"),
        (b"1,2\n" * 65, "has 65 points; this page takes up to 64"),
        (b"1,1e9\n2,3\n", "scale the data"),
        (b"1" * 200_000, "has 200 kB"),
        (b"x,y\n", "a header and no rows"),
    ],
)
def test_a_bad_file_is_one_sentence_and_changes_nothing(untouched, content, said):
    view = untouched
    before = view.editor.problem
    upload(view, content)
    assert said in view.editor.message.object and view.editor.problem == before


# -- take-away --------------------------------------------------------------------------------------------------------


EASY = SMALL.replace(problem={**NARROW, "noise_variance": 0.5})
"""Its hidden layers agree in few moves."""
FEW = {"MOVES": 720, "LEAST_MOVES": 600, "DRAWS": 60}


@pytest.fixture(scope="module")
def pasted() -> Pasted:
    """The scripts of a network and of all cases, in one process, which has to load torch only once."""
    with pytest.MonkeyPatch.context() as patch:
        for name, few in FEW.items():
            patch.setattr(scenes, name, few)
        codes = {"network": python_code(EASY)}
    return Pasted(codes | {kind: python_code(case_config(kind)) for kind in CASES})


@pytest.mark.slow
def test_the_exported_script_runs_and_gives_the_numbers_of_the_page(quick_answers, pasted, monkeypatch):
    monkeypatch.setattr(scenes, "LEAST_MOVES", FEW["LEAST_MOVES"])
    assert pasted.codes["network"] == python_code(EASY)
    job = finished(EASY)
    found = job.judge().gauges
    printed = dict(re.findall(r"^(.*): ([\d.]+)", pasted.printed("network"), re.M))
    assert float(printed["R-hat of weights, median"]) == pytest.approx(found.weights, abs=6e-4)
    assert float(printed["R-hat of the loss"]) == pytest.approx(found.loss, abs=6e-4 + rounding_of_r_hat(job))
    assert float(printed["R-hat of functions, largest"]) == pytest.approx(found.functions, abs=6e-4)
    away = distance_to(finished_answer(job.scene), found)
    assert float(printed["distance to the exact posterior"]) == pytest.approx(away, abs=6e-3)


def rounding_of_r_hat(job: FunctionsJob) -> float:
    """How far R-hat of the loss moves when the loss is told in other units, by rounding alone.

    It ranks the distances to the median, and the median lies halfway between two draws: rounding says which of them is nearer.
    The script takes squares of residuals for the loss, so its rounding is not the page's.
    """
    losses = np.stack([row.losses for row in job.log._half(job.scene.config.steps)])
    units = np.random.default_rng(1).uniform(0.1, 3, (20, 2))
    return max(abs(r_hat(losses * scale + offset) - r_hat(losses)) for scale, offset in units)


@pytest.mark.slow
@pytest.mark.parametrize("kind", CASES)
def test_the_exported_script_of_a_case_runs_and_gives_the_numbers_of_the_page(pasted, kind):
    printed = [float(value) for value in re.findall(r": ([\d.e+-]+)$", pasted.printed(kind), re.M)]
    weights, functions, apart = printed
    found = finished_pair(case_config(kind))[0].judge().gauges
    assert (weights, functions) == pytest.approx((found.weights, found.functions), abs=6e-4)
    assert 0 <= apart < 1e-9


def test_files_hold_what_is_on_the_page(view, small_job):
    with pytest.raises(ValueError, match="nothing to save yet"):
        view._file("bands")
    view.run(SMALL)
    settle_answers(view)
    job = small_job
    view._seen = job.judge()
    rows = list(csv.DictReader(io.StringIO(view.takeaway.content("bands")[1])))
    assert len(rows) == INPUTS and float(rows[3]["exact_mean"]) == view.truth.exact.mean[3]
    assert float(rows[5]["low"]) == view._seen.band.edges[POOLED].low[0.8][5]
    results = {row["name"]: row["value"] for row in csv.DictReader(io.StringIO(view.takeaway.content("results")[1]))}
    assert float(results["r_hat_functions_largest"]) == view._seen.gauges.functions
    assert json.loads(results["config"]) == json.loads(json.dumps(view.configuration()))
    assert {item["key"] for item in view.takeaway.menu.files} == {"bands", "results", "ksd", "risk", "config", "python"}
    view.on_preset("wider")
    view.takeaway._on_upload(json.dumps(SMALL.to_dict()))
    assert view.configuration() == SMALL.to_dict() and not view.takeaway.menu.message["bad"]


def test_with_hidden_answers_tiles_and_lesson_tell_nothing(view):
    lesson = view.lesson.object
    view.answers.visible = False
    assert [item["title"] for item in view.tiles.items] == [f"No. {i}" for i in range(1, len(view.tiles.items) + 1)]
    assert "Decide before the run ends" in view.lesson.object and view.lesson.object != lesson
    view.on_preset(view.tiles.items[1]["name"])
    assert "Decide before the run ends" in view.lesson.object
