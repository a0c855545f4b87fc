"""Files of the menu "Export" hold what is on the page; files brought back are checked as a whole."""

from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

import numpy as np
import pytest

from app.controls.run_controls import Controls
from app.controls.run_fields import DEFAULTS
from app.pages.local_geometry.config import get_problem
from app.pages.local_geometry.panels.sweep.points import SweepPoints
from app.pages.local_geometry.panels.why.drawing import drawing
from app.pages.local_geometry.presets import PRESETS
from app.pages.local_geometry.scene import link_config
from app.pages.local_geometry.takeaway import Takeaway
from app.sharing.exports import config_json
from app.sharing.json_files import MAX_CHARACTERS
from app.sharing.reading import OFFERED, PageConfig, from_side_bar, parse_file
from llc_core import RunConfig, run
from llc_core.engine.resolve import resolve
from llc_core.studies.explain.parts import Explanation, Part

PROBLEM = get_problem(PRESETS[0].problem)
POINTS = SweepPoints(
    9, 9, "step_size", np.array([0.1, 0.2]), np.array([7.0, np.nan]), np.array([0.1, np.nan]), np.array([7.0, 7.0]),
    np.array([0.0, 1.0]), verdicts=("trust it", "dead"),
)  # fmt: skip


def page_config(**changes) -> PageConfig:
    return from_side_bar(
        PROBLEM.to_dict(), {**DEFAULTS, "steps": 200, "chains": 2, **changes}, lambda described, settings: PROBLEM
    )


def complete(**changes) -> RunConfig:
    return page_config(**changes).complete


def read(text: str) -> PageConfig:
    """What the page makes of a file."""
    return link_config(parse_file(text))


SPLIT = Explanation(
    (
        Part("step_size", "step size", 0.5, 0.1, "Too large.", "ε against ε/2"),
        Part("mixing", "mixing", -0.2, 0.05, "Too short.", "halves"),
    ),
    llc=7.3,
    truth=7.0,
    truth_label="global λ",
    total=0.3,
    total_se=0.1,
    covariance=np.diag([0.01, 0.0025]),
)


@pytest.fixture(scope="module")
def taken() -> tuple[Takeaway, list[PageConfig]]:
    applied: list[PageConfig] = []
    takeaway = Takeaway(lambda values: applied.append(link_config(values)), lambda: POINTS, lambda: SPLIT)
    whole = run(complete(), PROBLEM)
    for _ in whole:
        pass
    takeaway.show(page_config())
    takeaway.update(whole.estimates()[0])
    return takeaway, applied


def test_every_file_has_its_content(taken):
    takeaway, _ = taken
    contents = {item["key"]: takeaway.content(item["key"]) for item in takeaway.menu.files}
    assert len({name for name, _ in contents.values()}) == len(takeaway.menu.files)
    assert contents["traces"][1].startswith("step,averaged,chain_0,chain_1")
    assert "llc," in contents["results"][1] and contents["python"][1].startswith("import llc_core")
    assert RunConfig.from_json(contents["config"][1]) == complete()
    name, content = contents["netcdf"]
    assert name.endswith(".nc") and content[:8] == b"\x89HDF\r\n\x1a\n"
    xarray = pytest.importorskip("xarray")
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        with xarray.open_dataset(path, engine="h5netcdf") as data:
            assert data.loss_trace.shape[1] == 2


def test_a_sweep_is_a_table(taken):
    rows = list(csv.DictReader(io.StringIO(taken[0].content("sweep")[1])))
    assert [float(row["step_size"]) for row in rows] == [0.1, 0.2]
    assert [float(row["dead_share"]) for row in rows] == [0, 1] and rows[0]["verdict"] == "trust it"


def test_a_split_is_a_table_and_a_drawing_of_the_same_numbers(taken):
    rows = list(csv.DictReader(io.StringIO(taken[0].content("why")[1])))
    assert [row["part"] for row in rows] == ["step_size", "mixing", "sum"]
    assert sum(float(row["value"]) for row in rows[:2]) == pytest.approx(float(rows[2]["value"]))
    root = ElementTree.fromstring(drawing(SPLIT))
    words = [element.text for element in root.iter("text")]
    assert {"step size", "mixing", "+0.50 ± 0.10"} <= set(words)
    bars = [float(element.get("width")) for element in root.iter("rect")]
    assert bars[0] / bars[1] == pytest.approx(2.5, rel=0.02), "bars are as long as the numbers say"


def test_before_the_first_estimate_files_are_refused_in_words():
    takeaway = Takeaway(lambda config: None, lambda: None, lambda: None)
    takeaway.show(page_config())
    before = 0
    for key in ("traces", "results", "netcdf"):
        takeaway._on_want(key)
        said = takeaway.menu.message
        assert said["text"] == "There is nothing to save yet; wait for the first estimate." and said["bad"]
        assert said["number"] > before, "the browser shows it again"
        before = said["number"]
    takeaway._on_want("sweep")
    assert "no sweep yet" in takeaway.menu.message["text"]
    takeaway._on_want("why")
    assert "press “Explain” first" in takeaway.menu.message["text"]
    assert takeaway.content("config")[1] and takeaway.content("python")[1]


@pytest.mark.slow
def test_a_page_s_configuration_comes_back_as_it_was():
    """50 random configurations of the side bar: out as a file, in again, and resolved to the same run."""
    pick = random.Random(1)
    for _ in range(50):
        preset = pick.choice(PRESETS)
        problem = get_problem(preset.problem)
        settings = {
            **DEFAULTS,
            **preset.settings,
            "chains": pick.randint(1, 32),
            "steps": pick.randint(100, 10_000),
            "burn_in": round(pick.uniform(0, 0.95), 3),
            "localization": float(f"{10 ** pick.uniform(-3, 5):.3g}"),
            "seed": pick.randint(0, 999_999),
            "dtype": pick.choice((None, "float32", "float64")),
        }
        config = resolve(RunConfig(problem=problem.to_dict(), **settings), problem).config
        found = read(config_json(config))
        assert found.complete == config, "what is run"
        Controls().check(found.settings)
        again = resolve(RunConfig(problem=get_problem(found.problem).to_dict(), **found.settings), problem).config
        assert again == config, "and what the side bar shows"
        assert found.settings["dtype"] in (None, settings["dtype"])


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"step_decay": 0.5}, "step_decay is 0.5; this page has no control for it"),
        ({"grid": {"seed": [1]}}, "grid is"),
        ({"baseline": "full"}, "baseline is 'full'"),
        ({"dtype": "float16"}, "dtype is 'float16'; choose one of float32, float64"),
        ({"problem": {"kind": "landscape", "name": "normal"}}, "this page runs deep linear networks"),
        ({"problem": {"kind": "dln", "widths": [4, -3]}}, r"widths\[1\] is -3"),
        (
            {"problem": {"kind": "dln", "widths": [4000, 4000]}},
            "MB for its data and products, and this server gives each run 600 MB",
        ),
        ({"sampler": {"name": "Nuts"}}, "Unknown sampler 'Nuts'"),
        ({"sampler": {"name": "SGLD", "step_size": -1}}, "SGLD.step_size is -1"),
        ({"chains": "many"}, "chains must be a number"),
        ({"surprise": 1}, "Unknown key 'surprise'"),
    ],
)
def test_what_cannot_be_run_here_is_refused_in_one_sentence(taken, changes, message):
    takeaway, applied = taken
    values = {**json.loads(config_json(complete())), **changes}
    with pytest.raises(ValueError, match=message) as caught:
        read(json.dumps(values))
    assert str(caught.value).endswith(".")
    before = list(applied)
    takeaway._on_upload(json.dumps(values))
    assert applied == before and takeaway.menu.message["text"] == str(caught.value) and takeaway.menu.message["bad"]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "NaN", "[" * 5000, "x" * (MAX_CHARACTERS + 1), '{"problem": 3}']
)
def test_what_is_no_configuration_is_refused(text):
    with pytest.raises(ValueError, match=r"\.$"):
        read(text)


def test_values_beyond_the_controls_are_refused_before_anything_changes():
    controls = Controls()
    for changes, message in (
        ({"chains": 500}, "chains is 500"),
        ({"steps": 5}, "steps is 5"),
        ({"seed": 10**7}, "seed is"),
    ):
        found = read(config_json(complete(**{"burn_in": 0.5, **changes})))
        with pytest.raises(ValueError, match=message):
            controls.check(found.settings)


def test_good_files_are_applied(taken):
    takeaway, applied = taken
    takeaway._on_upload(config_json(complete(seed=5, burn_in=50)))
    assert applied[-1].settings["seed"] == 5 and applied[-1].settings["burn_in"] == 0.25
    assert takeaway.menu.message["text"] == "The configuration is set." and not takeaway.menu.message["bad"]


def test_all_controls_travel():
    assert set(OFFERED) == set(DEFAULTS)
