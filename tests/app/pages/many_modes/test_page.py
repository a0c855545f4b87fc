"""The page "Many modes" without a browser: configurations, the job, words, presets, and what its default run ends with."""

from __future__ import annotations

import json
import math
import time
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from cases import few
from sent_words import without_cards
from waiting import settled

from app.pages.many_modes import texts
from app.pages.many_modes.config import ModesConfig, alone, contour, cyclical, ladder, particles
from app.pages.many_modes.job import ModesJob, ModesProgress, SideRun, coarse, plane_run
from app.pages.many_modes.page import ManyModes
from app.pages.many_modes.panels import ladder as ladder_panel
from app.pages.many_modes.panels import theta
from app.pages.many_modes.panels.basins import BasinPanel
from app.pages.many_modes.pictures import OUTCOMES, draw_comparison
from app.pages.many_modes.presets import PRESETS
from app.pages.many_modes.scene import get_scene
from app.runs.job import State, Status
from app.runs.manager import manager
from app.session import run_words
from llc_core.plane import plane_law
from llc_core.plane.exact import kl_of_cells

pytest.importorskip("numba")

SMALL = ModesConfig(gradients=40_000, trials=3)


def finished(config: ModesConfig, block: int = 4096) -> ModesJob:
    job = ModesJob(config)
    while not job.finished:
        job.record(job.advance(block), None)
    return job


@pytest.fixture(scope="module")
def small_job() -> ModesJob:
    return finished(SMALL)


@pytest.mark.slow
def test_numbers_are_those_of_the_engine_whatever_the_blocks(small_job):
    """KL, Kish share and the share of turned steps, against one uncut run of the engine."""
    seen, scene = small_job.judge(), get_scene(SMALL)
    for side in ("left", "right"):
        run = plane_run(SMALL, side)
        whole = run.advance(run.total_steps)
        cells = coarse(whole.counts)
        masses = cells / cells.sum(axis=(1, 2), keepdims=True)
        assert np.array_equal(seen.side(side).kl, kl_of_cells(scene.masses, masses))
        assert np.array_equal(seen.side(side).masses(), masses[0])
        assert seen.side(side).gradients == whole.gradients
        assert np.array_equal(seen.side(side).shared, whole.shared)
    again = finished(SMALL, block=777).judge()
    assert again.left.turned == seen.left.turned > 0 and seen.right.turned == 0
    assert np.allclose(again.left.kish, seen.left.kish, rtol=1e-12) and np.allclose(seen.right.kish, 1)
    assert ((seen.left.kish > 0) & (seen.left.kish < 1)).all()


def test_both_sides_spend_the_same_gradients(small_job):
    seen = small_job.judge()
    for side in ("left", "right"):
        assert 0 <= SMALL.gradients - seen.side(side).gradients < SMALL.chains(side)
    rows = small_job.log.since(0)[1]
    assert rows.shape[1] == 7 and (np.diff(rows[:, 0]) > 0).all() and rows[-1, 0] == SMALL.gradients
    assert 80 < len(rows) < 150 and small_job.log.since(len(rows))[1].shape == (0, 7)
    assert rows[-1, 1] == np.median(seen.left.kl) and rows[-1, 4] == np.median(seen.right.kl)
    assert (rows[-1, 2] <= rows[-1, 1]) & (rows[-1, 1] <= rows[-1, 3])


def test_the_scene_is_exact():
    scene = get_scene(SMALL)
    assert scene.masses == pytest.approx(plane_law(SMALL.target, points=2000).cells(5), rel=1e-6)
    assert scene.masses.sum() == pytest.approx(1) and set(scene.theta) == {"left"}
    assert scene.theta["left"].sum() == pytest.approx(1) and len(scene.theta["left"]) == 100


def test_the_figures_of_contour_chains_are_what_they_move_by(small_job):
    """The multiplier drawn over the bins, against the one that each chain had at its last step."""
    made, seen, scene = SMALL.made("left"), small_job.judge().left, get_scene(SMALL)
    run = plane_run(SMALL, "left")
    whole = run.advance(run.total_steps)
    drawn = theta.multiplier(made, seen.shared[0, : made.bins])
    place = np.clip(np.ceil((whole.loss[0, -1] - made.low) / made.width).astype(int) - 1, 0, made.bins - 1)
    assert np.allclose(drawn[place], whole.heat[0, -1], rtol=1e-9)
    figures = theta.ThetaFigures("left")
    figures.reset(made, None)
    figures.show(made, scene, "left", seen)
    data = figures.source.data
    assert data["theta"].sum() == pytest.approx(1) and data["mean"].sum() == pytest.approx(1)
    assert np.nansum(data["exact"]) == pytest.approx(1) and np.isnan(data["exact"][:7]).all(), "no state lies below 0"
    said = theta.words(SMALL, made, scene, "left", seen, True)
    assert f"{theta.distance(seen.shared[0, :100], scene.theta['left']):.2f} from the exact" in said
    assert "exact" not in theta.words(SMALL, made, scene, "left", seen, False)


@pytest.mark.slow
def test_the_multiplier_of_the_exact_theta_gives_the_learning_coefficient():
    """|x|² + |y|⁴ has λ = ¾: at small E of the exact θ*, and roughly of the learned one."""
    config = next(preset for preset in PRESETS if preset.name == "lambda").config.replace(trials=8)
    made, scene = config.made("left"), get_scene(config)
    exact = theta.scale_resolved(made, scene.theta["left"])
    middles = 10 ** theta.middles(made)
    assert (np.abs(exact[(middles > 0.03) & (middles < 0.2)] - 0.75) < 0.04).all(), (
        "first order in E, and the quadrature's points"
    )
    seen = SideRun(config, "left", scene.masses).advance_to(config.gradients)  # the other side says nothing of it
    found = np.median(theta.scale_resolved(made, seen.shared[:, :16].mean(axis=0))[4:12])
    assert 0.6 < found < 0.9, "0.72 and 0.73 in two runs, with a spread of about 0.15 between bins"
    assert f"λ(E) is {found:.2f}" in theta.words(config, made, scene, "left", seen, True)


def test_the_index_process_is_that_of_the_ladder(small_job):
    made, seen = SMALL.made("right"), small_job.judge().right
    assert np.array_equal(seen.order[-1], seen.shared[0, 2:5]) and (np.sort(seen.order, axis=1) == [0, 1, 2]).all()
    moved = np.abs(np.diff(np.argsort(seen.order, axis=1), axis=0))
    assert moved.max() == 1, "neighbours alone change places"
    refused = ladder_panel.rejection(made, seen.shared)
    assert ((refused > 0) & (refused < 1)).all()
    words = ladder_panel.words(SMALL, made, seen)
    assert f"Λ = {refused.sum():.2f}" in words and "Syed" in words
    assert ladder_panel.most_trips(np.zeros(1)) == 0.5, (
        "two levels that always swap: four rounds for each of two copies"
    )
    trips = seen.shared[:, 0].mean() / (seen.gradients // 3)
    assert 0.5 < trips / ladder_panel.most_trips(refused) < 1.05


@pytest.mark.slow
def test_the_levels_weigh_two_basins_as_quadrature_does():
    config = next(preset for preset in PRESETS if preset.name == "basins").config.replace(gradients=200_000, trials=8)
    scene, panel = get_scene(config), BasinPanel()
    panel.reset(config, scene)
    seen = finished(config).judge()
    panel.draw(config, seen)
    found = panel.found["right"].data
    assert found["n_beta"] == pytest.approx([660 / 660 ** (k / 5) for k in range(6)])
    exact = np.interp(np.log(found["n_beta"]), np.log(scene.line[0]), scene.line[1])
    error = (found["high"] - found["low"]) / 4
    assert (np.abs(found["share"] - exact) < 4 * error + 0.01).all(), "0.01: the step's bias and the interpolation"
    law = plane_law(config.target, points=2000)
    assert scene.line[1, -1] == pytest.approx(law.mass[law.axis > 0.5].sum(), abs=1e-3)
    assert panel.found["left"].data["share"][0] < 0.1 < found["share"][0], "plain chains stay where they began"
    assert panel.view.visible and not seen.left.order.size


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_every_preset_runs_and_says_one_thing(preset):
    job = finished(preset.config.replace(gradients=20_000, trials=1))
    seen = job.judge()
    for side in ("left", "right"):
        assert np.isfinite(seen.side(side).kl).all() and seen.side(side).trail.shape[1] == preset.config.chains(side)
    assert 40 < len(preset.lesson) < 200 and preset.lesson.endswith(".")
    ElementTree.fromstring(draw_comparison(preset.config))
    assert ModesConfig.from_dict(json.loads(json.dumps(preset.config.to_dict()))) == preset.config


@pytest.mark.slow
@pytest.mark.parametrize(
    "preset", [each for each in PRESETS if each.name != "particles"], ids=lambda preset: preset.name
)
def test_what_a_tile_draws_was_measured(preset):
    """Its first value again, by the whole preset's job: of `lab.benchmarks.accuracy.tiles`, to the four figures that it keeps."""
    rows = OUTCOMES[preset.name]["kl"]
    first = next(row for row in rows if row[1] is not None or row[2] is not None)
    job = ModesJob(preset.config)
    job.record(job.advance(int(first[0] * 1.001)), None)  # the gradients are rounded to four figures as well
    log = job.log.since(0)[1]
    found = log[np.abs(log[:, 0] / first[0] - 1).argmin()][[0, 1, 4]]
    assert found == pytest.approx([math.nan if value is None else value for value in first], rel=1e-3, nan_ok=True)
    assert rows[-1][0] == preset.config.gradients and None not in rows[-1]


def run_to_the_end(page: ManyModes, seconds: float = 120) -> State:
    """The page's own run, polled as its ticks would, though not as often: a poll draws, which takes longer than the run's steps."""
    live = page._live
    live.run = manager().submit(live._build)
    limit = time.monotonic() + seconds
    while live.run.state.status is not Status.FINISHED:
        assert live.run.state.status is not Status.FAILED and time.monotonic() < limit, live.run.state
        live._poll()
        time.sleep(0.5)
    page._ticks = -1
    live._poll()
    return live.run.state


@pytest.mark.slow
def test_the_default_ends_where_the_benchmark_does():
    """Medians of 60 trials are 0.0105 and 0.0012 (`lab.benchmarks.accuracy.modes.many_modes`); logs of single trials have
    standard deviations of 0.41 and 0.33, so that medians of 16 have standard errors of 0.13 and 0.11: four of them here."""
    page = ManyModes()
    try:
        run_to_the_end(page)
        curve = page.curves.figure.source.data
        assert curve["gradients"][-1] == 400_000 and len(curve["gradients"]) > 150
        left, right = curve["left_median"][-1], curve["right_median"][-1]
        assert abs(math.log(left / 0.0105)) < 4 * 0.13
        assert abs(math.log(right / 0.0012)) < 4 * 0.11
        assert OUTCOMES["modes"]["kl"][-1] == pytest.approx([400_000, left, right], rel=0.02), "as the tile draws it"
        said = page.headline.object
        assert "After 400,000 gradients each, replica exchange is at least" in said and texts.small(right) in said
        assert page.transport.step == 400_000 and page.transport.caption == "finished"
        values = page.sides["left"].numbers.values
        assert values["left_kl"] == texts.small(left) and values["left_draws"] == f"{12 / left:,.0f}"
        assert len(page.sides["right"].cells.ratio.data["x"]) == 25
        theta_source = page.insides["left"].theta.source.data
        assert len(theta_source["energy"]) == 100 and page.insides["right"].view.visible
        page.answers.visible = False
        assert "KL" not in page.headline.object and "same number of gradients" in page.headline.object
        assert {item["title"] for item in page.tiles.items} == {f"No. {i + 1}" for i in range(len(PRESETS))}
        assert (
            all(preset.lesson not in without_cards(page.lesson.object) for preset in PRESETS)
            and "Decide before" in page.lesson.object
        )
        assert not page.curves.view.visible and "left_kl" in page.sides["left"].numbers.withheld
    finally:
        page.close()


def judged(left: list[float], right: list[float], trials: int) -> str:
    config = ModesConfig(trials=trials)
    side = ModesJob(config.replace(gradients=20_000)).judge().left
    seen = ModesProgress(1000, 1000, left=replace(side, kl=np.array(left)), right=replace(side, kl=np.array(right)))
    return texts.headline(config, seen, True)


def test_the_sentence_follows_the_numbers():
    assert "show no difference" in judged([0.01, 0.02, 0.03], [0.012, 0.018, 0.027], 3)
    clear = judged([0.0099, 0.01, 0.0101], [0.00099, 0.001, 0.00101], 3)
    assert "replica exchange is at least 9 times nearer" in clear and "KL 0.0010 against 0.0100" in clear
    assert "contour sampling is at least 9 times nearer" in judged([0.00099, 0.001, 0.00101], [0.0099, 0.01, 0.0101], 3)
    assert texts.method(ModesConfig(left=particles(0.3)), "left") == "SPOS"
    single = judged([0.03], [0.01], 1)
    assert "2.9 times nearer" in single or "3 times nearer" in single
    assert "at least" not in single and "in this one trial" in single


def test_words_of_the_run_itself():
    assert run_words.trouble(State(status=Status.FAILED, message="a < b"))[1].endswith("a &lt; b")
    assert "number 3" in run_words.trouble(State(status=Status.QUEUED, place=3))[1]
    assert run_words.trouble(State(status=Status.RUNNING)) == ("", "")
    assert run_words.caption(State()) == "preparing the chains…"
    assert texts.names(ModesConfig(left=ladder())) == ("replica exchange (left)", "replica exchange (right)")
    assert {texts.method(ModesConfig(left=own), "left") for own in (contour(), ladder(), cyclical(), particles(), alone())} == {
        "contour sampling", "replica exchange", "cyclical steps", "SVGD", "independent chains",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"gradients": 10}, "gradients is 10; it must be at least 20000"),
        ({"trials": 1000}, "trials is 1000; it must be at most 64"),
        ({"surface": {"name": "mixture"}}, "counts cells within a box"),
        ({"left": {**contour(), "step_size": 0}}, "left.step_size is 0; it must be at least"),
        ({"left": {**contour(), "chains": 50}}, "left.chains is 50; it must be at most 20"),
        ({"left": contour(bins=10**6)}, "left.interaction.bins is 1000000; it must be at most 1000"),
        ({"left": contour(members=2)}, "members is 2; here all 5 chains are one group"),
        (
            {"right": {**ladder(tuple(range(1, 40))), "chains": 5}},
            "temperatures has 39 entries; this page takes up to 12",
        ),
        ({"right": cyclical(10**7)}, "length is 10000000; it must be at most 200000"),
        ({"right": particles(chains=200), "trials": 64}, "64 trials of 200 particles are 2,560,000 pairs"),
        ({"right": particles(chains=201)}, "right.chains is 201; it must be at most 200"),
        ({"right": {"interaction": {"name": "Tempering"}}}, "Unknown interaction 'Tempering'"),
        ({"right": {"speed": 1}}, "Unknown key 'speed' in right"),
        ({"wrong": 1}, "Unknown key 'wrong'"),
        ({"left": 3}, "left must be a mapping"),
    ],
)
def test_impossible_comparisons_are_refused_in_words(changes, words):
    with pytest.raises(ValueError, match=words):
        ModesConfig.from_dict({**SMALL.to_dict(), **changes})


@pytest.fixture
def page():
    made = ManyModes()
    made.complete()  # as the first poll that has something to draw does; the editors know nothing before
    made.later.arrive()
    yield made
    made.close()


LINKED = SMALL.replace(
    left=contour(zeta=0.5, pilot=0), right=ladder((1.0, 2.5, 9.0, 30.0), interval=3), seed=7
).to_dict()


def test_a_link_comes_back_and_a_change_keeps_the_rest(page):
    page.restore(LINKED)
    settled(page)
    assert page.configuration() == ModesConfig.from_dict(LINKED).to_dict()
    assert page.tiles.selected == "" and "Your own settings" in page.lesson.object
    page.run_editor.fields["gradients"]._on_user("text", "30000")
    assert settled(page).configuration() == ModesConfig.from_dict({**LINKED, "gradients": 30_000}).to_dict()
    page.editors["left"].fields["zeta"]._on_user("text", "1")
    after = settled(page).configuration()
    assert after["left"]["interaction"]["zeta"] == 1 and after["right"] == LINKED["right"]


def test_a_ladder_of_its_own_gives_way_to_a_geometric_one(page):
    page.restore(LINKED)
    settled(page)
    page.editors["right"].fields["hottest"]._on_user("text", "16")
    found = settled(page).configuration()["right"]
    assert np.allclose(found["interaction"]["temperatures"], np.geomspace(1, 16, 4)) and found["chains"] == 4
    assert found["interaction"]["interval"] == 3


@pytest.mark.parametrize("method", few(["ReplicaExchange", "SteinVariational", "Contour", "Cyclical", "none"], 2))
def test_every_method_can_be_chosen_on_both_sides(page, method):
    for side in ("left", "right"):
        page.editors[side].method.widget.value = "none" if method != "none" else "Cyclical"
        page.editors[side].method.widget.value = method
        own = settled(page).configuration()[side]
        assert (own["interaction"] or {"name": "none"})["name"] == method
    assert not page.fault.visible


def test_what_cannot_be_run_changes_nothing(page):
    before = page.configuration()
    for wrong in ({"trials": 0}, {"left": {"interaction": "Contour"}}, {"unknown": 1}):
        with pytest.raises(ValueError):
            page.restore({**LINKED, **wrong})
    assert page.configuration() == before and page.tiles.selected == PRESETS[0].name
    page.tiles._handle_msg({"select": PRESETS[2].name})
    assert settled(page).configuration() == PRESETS[2].config.to_dict() and PRESETS[2].lesson[:20] in page.lesson.object
