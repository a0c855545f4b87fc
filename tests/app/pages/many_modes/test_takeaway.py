"""What is taken away from the page "Many modes" is what was seen there, and comes back as it was."""

from __future__ import annotations

import csv
import io
import re

import numpy as np
import pytest
from pasted import Pasted

from app.pages.many_modes.config import ModesConfig, cyclical, particles
from app.pages.many_modes.job import ModesJob
from app.pages.many_modes.scene import get_scene
from app.pages.many_modes.takeaway import ModesTakeaway, config_json, python_code
from app.sharing.reading import read_settings

pytest.importorskip("numba")

CONFIGS = {
    "default": ModesConfig(gradients=30_000, trials=2, seed=3),
    "others": ModesConfig(left=cyclical(2000), right=particles(0.3, 20), gradients=20_000, trials=2),
}


def finished(config: ModesConfig) -> ModesJob:
    job = ModesJob(config)
    job.record(job.advance(config.gradients), None)
    return job


@pytest.fixture(scope="module")
def pasted():
    return Pasted({name: python_code(config) for name, config in CONFIGS.items()})


@pytest.mark.slow
@pytest.mark.parametrize("name", CONFIGS)
def test_the_python_runs_as_pasted_and_gives_the_same_numbers(pasted, name):
    seen = finished(CONFIGS[name]).judge()
    found = re.findall(r"(\w+): median KL ([\d.]+) of (\d+) trials, ([\d,]+) gradients", pasted.printed(name))
    assert [side for side, *_ in found] == ["left", "right"]
    for side, kl, trials, gradients in found:
        assert float(kl) == pytest.approx(np.median(seen.side(side).kl), abs=1e-7) and trials == "2"
        assert int(gradients.replace(",", "")) == seen.side(side).gradients


@pytest.mark.slow
def test_the_files_hold_what_was_seen():
    given: list[ModesConfig] = []
    config = CONFIGS["default"]
    takeaway = ModesTakeaway(given.append)
    takeaway.show(config, get_scene(config))
    with pytest.raises(ValueError, match="nothing to save yet"):
        takeaway.content("curves")
    job = finished(config)
    rows, seen = job.log.since(0)[1], job.judge()
    takeaway.stream(rows)
    takeaway.update(seen)
    contents = {item["key"]: takeaway.content(item["key"]) for item in takeaway.menu.files}
    assert len({name for name, _ in contents.values()}) == len(takeaway.menu.files)
    curve = list(csv.DictReader(io.StringIO(contents["curves"][1])))
    assert len(curve) == len(rows) and float(curve[-1]["right_median_kl"]) == np.median(seen.right.kl)
    cells = list(csv.DictReader(io.StringIO(contents["cells"][1])))
    assert len(cells) == 25 and sum(float(row["exact"]) for row in cells) == pytest.approx(1)
    assert np.array_equal([float(row["left"]) for row in cells], seen.left.masses().ravel())
    takeaway._on_upload(config_json(CONFIGS["others"]))
    assert given[-1].key() == CONFIGS["others"].key()
    for text, words in (("{", "not valid JSON"), ("[]", "JSON object"), ('{"trials": -5}', "trials")):
        takeaway._on_upload(text)
        assert takeaway.menu.message["bad"] and words in takeaway.menu.message["text"]
    assert len(given) == 1


@pytest.mark.parametrize("name", CONFIGS)
def test_a_configuration_comes_back(name):
    assert read_settings(ModesConfig, config_json(CONFIGS[name])).key() == CONFIGS[name].key()
