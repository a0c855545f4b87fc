"""What is taken away from the page "Stationary bias" is what was seen there, and comes back as it was."""

from __future__ import annotations

import csv
import io
import re

import numpy as np
import pytest
from pasted import Pasted

from app.pages.stationary_bias.config import BiasConfig
from app.pages.stationary_bias.job import BiasJob
from app.pages.stationary_bias.scene import get_scene
from app.pages.stationary_bias.takeaway import BiasTakeaway, config_json, python_code
from app.sharing.reading import read_settings

CONFIGS = {
    "named": BiasConfig(chains=500, steps=800, burn_in=0.25, seed=3),
    "drawn": BiasConfig(
        target={"kind": "landscape", "points": [[-2, 0.1], [-0.5, 0.6], [0.3, 0.2], [1.5, 0.5], [2.5, 0.05]]},
        left={"name": "SGLD", "step_size": 0.02},
        right={"name": "MongeSGLD", "step_size": 0.01},
        chains=300,
        steps=500,
        step_decay=0.3,
    ),
}


def finished(config: BiasConfig) -> BiasJob:
    job = BiasJob(config)
    job.advance(config.steps)
    return job


@pytest.fixture(scope="module")
def page():
    """A page's menu after a finished run, and what it has been given back."""
    given: list[BiasConfig] = []
    config = CONFIGS["named"]
    takeaway = BiasTakeaway(given.append)
    takeaway.show(config, get_scene(config))
    job = finished(config)
    takeaway.update(job._last, job.judge())
    return takeaway, given, job


@pytest.fixture(scope="module")
def pasted():
    return Pasted({name: python_code(config) for name, config in CONFIGS.items()})


@pytest.mark.slow
@pytest.mark.parametrize("name", CONFIGS)
def test_the_python_runs_as_pasted_and_gives_the_same_numbers(pasted, name):
    job = finished(CONFIGS[name])
    words = r"(\w+): total variation to the target ([\d.]+), to the limit distribution ([\d.]+)"
    found = re.findall(words, pasted.printed(name))
    for side, to_target, to_limit in found:
        measured = job.judge().side(side)
        assert float(to_target) == pytest.approx(measured.to_target, abs=1e-6)
        assert float(to_limit) == pytest.approx(measured.to_prediction, abs=1e-6)
    assert [side for side, _, _ in found] == ["left", "right"]


@pytest.mark.long
def test_the_files_hold_what_was_seen(page):
    takeaway, _, job = page
    contents = {item["key"]: takeaway.content(item["key"]) for item in takeaway.menu.files}
    assert len({name for name, _ in contents.values()}) == len(takeaway.menu.files)
    rows = list(csv.DictReader(io.StringIO(contents["histogram"][1])))
    seen = np.array([float(row["left_histogram"]) for row in rows])
    assert np.array_equal(seen, job._last.left.density())
    width = float(rows[0]["high"]) - float(rows[0]["low"])
    assert sum(float(row["target"]) for row in rows) * width == pytest.approx(1, abs=1e-3)
    values = {row["name"]: row for row in csv.DictReader(io.StringIO(contents["results"][1]))}
    assert float(values["to_target"]["right"]) == job.judge().right.to_target


@pytest.mark.parametrize("name", CONFIGS)
def test_a_configuration_comes_back(name):
    assert read_settings(BiasConfig, config_json(CONFIGS[name])).key() == CONFIGS[name].key()


def test_the_menu_takes_a_file_or_says_why_not(page):
    takeaway, given, _ = page
    takeaway._on_upload(config_json(CONFIGS["drawn"]))
    assert given[-1].key() == CONFIGS["drawn"].key()
    for text, words in (
        ("{", "not valid JSON"),
        ("[]", "JSON object"),
        ('{"chains": -5}', "chains"),
        ('{"run": 1}', "Unknown key 'run'"),
        (" " * 200_000, "at most 100,000"),
    ):
        takeaway._on_upload(text)
        assert takeaway.menu.message["bad"] and words in takeaway.menu.message["text"]
    assert len(given) == 1


def test_there_is_nothing_to_save_before_the_first_counts():
    takeaway = BiasTakeaway(lambda config: None)
    takeaway.show(CONFIGS["named"], get_scene(CONFIGS["named"]))
    with pytest.raises(ValueError, match="nothing to save yet"):
        takeaway.content("histogram")
