"""What predictions are worth: the panel's risks are those of the engine, of the page's points, of tables and of files."""

from __future__ import annotations

import csv
import io
import math

import numpy as np
import pytest

from app.pages.functions.config import FunctionsConfig
from app.pages.functions.page import WeightsAndFunctions
from app.pages.functions.panels.risk import job as risks
from app.pages.functions.panels.risk.job import FILE, OWN, Asked, OneNetwork, RiskJob, RiskProgress
from app.pages.functions.panels.risk.panel import RiskPanel, risk_table
from app.pages.functions.scene import scene_of
from app.runs.job import State, Status
from llc_core.studies.risk.comparison import EXACT, Effort, measured
from llc_core.studies.risk.task import synthetic

SMALL = {
    "kind": "bayesian_network",
    "widths": [1, 6, 5, 1],
    "data": {"name": "wave", "n": 5, "seed": 1},
    "noise_variance": 0.3,
}
CONFIG = FunctionsConfig(problem=SMALL, chains=4, steps=40)
CSV = b"a,b\n" + b"\n".join(f"{x:.3f},{x * x:.3f}".encode() for x in np.linspace(-1, 1, 12))


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(risks, "NETWORKS", 2)
    monkeypatch.setattr(risks, "CHAINS", 4)
    monkeypatch.setattr(risks, "GRADIENTS", (100, 100))
    monkeypatch.setattr(risks, "MOVES", (100, 100))


def run(asked: Asked, problem: dict | None = None) -> tuple[RiskJob, RiskProgress]:
    job = RiskJob(scene_of(CONFIG.replace(problem=problem or SMALL)), asked)
    while not job.finished:
        progress = job.advance(7)
        job.record(progress, None)
    return job, progress


@pytest.mark.slow
def test_risks_of_the_page_s_points_are_those_of_the_engine():
    job, progress = run(Asked(OWN))
    scene = scene_of(CONFIG)
    for number, found in enumerate(job.log.items):
        wanted = measured(synthetic(scene.network, scene.inputs, number), Effort(4, 100, 100), number)
        assert list(found.rows) == list(wanted.rows) and found.bayes == pytest.approx(wanted.bayes)
        assert np.allclose(list(found.rows.values()), list(wanted.rows.values()), equal_nan=True)
    assert len(job.log.items) == progress.steps == 2 and progress.points == (5, len(scene.inputs))
    assert job.log.items[0].bayes != job.log.items[1].bayes


@pytest.mark.slow
@pytest.mark.parametrize("likelihood", ["gaussian", "laplace"])
def test_tables_and_files_are_predicted_by_the_widths_of_the_page(likelihood):
    job = RiskJob(scene_of(CONFIG.replace(problem={**SMALL, "likelihood": likelihood})), Asked("iris"))
    assert job._work.task.problem.widths == (4, 6, 5, 1) and job._work.task.problem.likelihood == likelihood
    assert job._work.task.problem.noise_variance == 0.3 and job.advance(1).points == (48, 12)
    job, progress = run(Asked(FILE, CSV, "mine.csv"), {**SMALL, "likelihood": likelihood})
    assert progress.points == (10, 2) and all(found.rows[EXACT][1] == 0 for found in job.log.items)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (Asked(FILE), "There is no file yet"),
        (Asked(FILE, b"\xff\xfe\x00", "a.csv"), "a.csv is no text in UTF-8"),
        (Asked(FILE, b"1,x\n2,y\n", "a.csv"), "a.csv"),
        (Asked(FILE, b"1,2\n3,4\n", "a.csv"), "a.csv has 2 rows"),
        (Asked(FILE, b"1" * 2_100_000, "a.csv"), "has at most 2 MB"),
    ],
)
def test_inputs_that_will_not_do_are_one_sentence(asked, said):
    with pytest.raises(ValueError, match=said) as error:
        RiskJob(scene_of(CONFIG), asked)
    assert "\n" not in str(error.value)


def test_a_comparison_without_room_is_refused_before_it_is_made(monkeypatch):
    scene = scene_of(CONFIG.replace(problem={**SMALL, "widths": [1, 300, 300, 1]}))
    monkeypatch.setenv("LLC_LAB_VISITOR_MEMORY", "20")
    monkeypatch.setattr(risks, "TaskRisks", None)
    with pytest.raises(ValueError, match="this server gives each run 20 MB"):
        RiskJob(scene, Asked(OWN))


def test_wide_networks_get_fewer_gradients(monkeypatch):
    monkeypatch.setattr(risks, "GRADIENTS", (100, 1_000))
    monkeypatch.setattr(risks, "WORK", 71 * 5 * 300)
    assert (
        RiskJob(scene_of(CONFIG.replace(problem={**SMALL, "widths": [1, 6, 7, 1]})), Asked(OWN)).advance(0).gradients
        < 1_000
    )


@pytest.mark.slow
def test_the_panel_shows_what_is_known_and_gives_it_away():
    panel = RiskPanel()
    panel.reset(scene_of(CONFIG))
    with pytest.raises(ValueError, match="Nothing is compared yet"):
        panel.csv()
    job, progress = run(Asked(OWN))
    panel.receive(State(Status.FINISHED, snapshot=progress), job.log.items)
    bayes = np.mean([found.bayes for found in job.log.items])
    assert f"<b>{bayes:.4f}</b>" in panel.table.object and "±" in panel.table.object and panel.table.visible
    rows = list(csv.DictReader(io.StringIO(panel.csv())))
    assert len(rows) == 2 * len(job.log.items[0].rows) and rows[0]["network"] == "0"
    assert float(rows[3]["gap"]) == list(job.log.items[0].rows.values())[3][1]
    panel.reset(scene_of(CONFIG))
    assert not panel.table.visible and not panel.found


def test_a_network_that_is_under_way_is_shown_as_far_as_it_is_known():
    assert "<tbody></tbody>" in risk_table([OneNetwork({}, 0.1)], 0.05)
    one = risk_table([OneNetwork({"HMC": (0.2, 0.01, 1.5), "gradient descent": (0.3, 0.1, math.nan)}, 0.1)], 0.05)
    assert "0.0100" in one and "±" not in one and "1.50" in one


def test_a_file_is_read_when_the_comparison_begins_and_hidden_answers_give_none_away():
    view = WeightsAndFunctions()
    try:
        assert view.risk.view.visible
        view.risk.inputs.widget.value = FILE
        assert view.risk.upload.visible
        view.risk.upload.param.update(filename="mine.csv", value=CSV)
        assert view.risk._file == (CSV, "mine.csv") and "mine.csv is open" in view.risk.words.object
        build = view.risk.begin()
        assert build.args[1] == Asked(FILE, CSV, "mine.csv")
        with pytest.raises(ValueError, match="Nothing is compared yet"):
            view.takeaway.content("risk")
        with pytest.raises(ValueError, match="Nothing is measured yet"):
            view.takeaway.content("ksd")
        view.answers.visible = False
        for key in ("risk", "ksd"):
            with pytest.raises(ValueError, match="press Reveal first"):
                view.takeaway.content(key)
        view.on_preset("torus")
        assert not view.risk.view.visible
    finally:
        view.close()
