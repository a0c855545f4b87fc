"""Distribution of the ensemble: √KSD of chains against iterations, and what cannot be measured is said."""

from __future__ import annotations

import numpy as np
import pytest

from app.pages.functions import scene as scenes
from app.pages.functions.config import FunctionsConfig
from app.pages.functions.page import WeightsAndFunctions
from app.pages.functions.panels.ensemble import job as ensembles
from app.pages.functions.panels.ensemble.job import EnsembleJob, places_of
from app.pages.functions.panels.ensemble.panel import START, EnsemblePanel
from app.pages.functions.scene import scene_of
from app.runs.job import State, Status

EASY = {
    "kind": "bayesian_network",
    "widths": [1, 8, 1],
    "data": {"name": "wave", "n": 3, "seed": 1},
    "noise_variance": 0.5,
}
CONFIG = FunctionsConfig(problem=EASY, sampler={"name": "SplitHMC", "leapfrog_steps": 5.0}, chains=4, steps=40, seed=3)


@pytest.fixture
def quick(monkeypatch):
    """Few draws of the exact answer, and few chains."""
    monkeypatch.setattr(scenes, "DRAWS", 1_500)
    monkeypatch.setattr(ensembles, "MEMBERS", 80)


def run(config: FunctionsConfig) -> EnsembleJob:
    job = EnsembleJob(scene_of(config))
    while not job.finished:
        job.record(job.advance(5), None)
    return job


def test_an_ensemble_from_the_prior_comes_to_the_exact_posterior(quick):
    job = run(CONFIG)
    found = {row.iteration: row.root for row in job.log.items}
    assert list(found) == sorted(found) and min(found) == 0 and max(found) == CONFIG.steps
    floor = job.advance(1).floor
    # √KSD of so many exact draws has a standard deviation of a fifth of itself, or less.
    assert found[CONFIG.steps] < 2 * floor < found[0]


def test_an_ensemble_that_stays_where_it_began_does_not(quick):
    job = run(CONFIG.replace(sampler={"name": "MALA", "step_size": 1e-9}))
    roots = [row.root for row in job.log.items]
    assert roots[-1] == pytest.approx(roots[0], rel=1e-2)


def test_long_runs_are_cut_to_what_a_visitor_may_ask_for(quick, monkeypatch):
    monkeypatch.setattr(ensembles, "MOST_EVALUATIONS", 80 * 5 * 25)
    last = run(CONFIG.replace(steps=5_000)).log.items[-1].iteration
    assert last == 25


def test_inputs_are_those_of_data_and_one_in_the_widest_gap():
    scene = scene_of(FunctionsConfig())
    places = places_of(scene)
    assert len(places) == 4 and (np.diff(places) > 0).all()
    assert len(set(places) & set(scene.x.tolist())) == 3
    lonely = scene_of(CONFIG.replace(problem={**EASY, "data": {"x": [0.5], "y": [1.0]}}))
    assert places_of(lonely).tolist() == [0.5, 1.5]


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (CONFIG.replace(problem={**EASY, "likelihood": "laplace"}), "the exact score is known for 'gaussian' alone"),
        (FunctionsConfig(problem={"kind": "torus"}, sampler={"name": "SGLD", "step_size": 1e-3}), "Only a network"),
    ],
)
def test_what_has_no_exact_answer_is_refused(config, said):
    with pytest.raises(ValueError, match=said):
        EnsembleJob(scene_of(config))


def test_what_has_no_room_is_refused_before_it_is_built(quick, monkeypatch):
    monkeypatch.setenv("LLC_LAB_VISITOR_MEMORY", "1")
    monkeypatch.setattr(ensembles, "MEMBERS", 5_000)
    monkeypatch.setattr(ensembles, "FiniteWidth", None)
    with pytest.raises(ValueError, match="Use fewer chains"):
        EnsembleJob(scene_of(CONFIG))


def test_chains_behind_the_exact_answer_that_do_not_agree_are_told(monkeypatch):
    monkeypatch.setattr(scenes, "MOVES", 120)
    monkeypatch.setattr(scenes, "LEAST_MOVES", 120)
    monkeypatch.setattr(scenes, "DRAWS", 60)
    with pytest.raises(ValueError, match="do not agree"):
        run(FunctionsConfig(steps=40))


def test_the_panel_shows_what_the_job_says(quick):
    panel, scene = EnsemblePanel(), scene_of(CONFIG)
    panel.reset(scene)
    with pytest.raises(ValueError, match="Nothing is measured yet"):
        panel.csv()
    job = run(CONFIG)
    assert panel.begin() is not None
    panel.receive(State(Status.FINISHED, snapshot=job.advance(1)), job.log.items)
    assert panel.found.data["x"][0] == START and len(panel.found.data["x"]) == len(job.log.items)
    assert panel.exact.data["y"] == [panel.floor] * 2 and f"of exact draws {panel.floor:.3f}" in panel.words.object
    assert panel.csv().splitlines()[0] == "iteration,root_ksd,exact_draws"
    panel.reset(scene)
    assert not len(panel.found.data["x"]) and panel.view.visible


def test_the_card_is_there_for_gaussian_networks_alone(monkeypatch):
    view = WeightsAndFunctions()
    try:
        assert view.ensemble.view.visible and not view.particles.view.visible
        view.on_preset("torus")
        assert not view.ensemble.view.visible and view.particles.view.visible
    finally:
        view.close()
