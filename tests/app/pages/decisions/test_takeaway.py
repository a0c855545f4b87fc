"""What is taken away from the page "Decisions" is what was seen there, and comes back as it was."""

from __future__ import annotations

import csv
import io
import re

import pytest
from pasted import Pasted

from app.pages.decisions.config import BanditSettings, DecisionsConfig, OutsideSettings
from app.pages.decisions.job.bandit import BanditJob
from app.pages.decisions.job.digits import DigitsJob
from app.pages.decisions.presets import play
from app.pages.decisions.scene import get_scene
from app.pages.decisions.takeaway import DecisionsTakeaway, python_code
from app.sharing.exports import config_json
from app.sharing.reading import read_settings

QUICK = {"rounds": 30, "forced_pulls": 200, "hidden": 6, "capacity": 128, "batch_size": 32, "steps": 2}
CONFIGS = {
    "nets": DecisionsConfig(
        bandit=BanditSettings(left=play("pSGLD", "greedy"), right=play("pICSGLD"), **QUICK), seed=2
    ),
    "made": DecisionsConfig(
        bandit=BanditSettings(mushrooms="exclusive", left=play("pCSGLD"), right=play("linear", "thompson"), **QUICK)
    ),
    "digits": DecisionsConfig(
        game="digits", outside=OutsideSettings(steps=90, chains=2, hidden=6, temperature=2.0), seed=1
    ),
}


def finished(config: DecisionsConfig):
    job = (BanditJob if config.plays else DigitsJob)(get_scene(config))
    job.record(job.advance(config.total), None)
    assert job.finished
    return job


@pytest.fixture(scope="module")
def pasted():
    return Pasted({name: python_code(config) for name, config in CONFIGS.items()})


@pytest.mark.slow
@pytest.mark.parametrize("name", CONFIGS)
def test_the_python_runs_as_pasted_and_gives_the_same_numbers(pasted, name):
    config = CONFIGS[name]
    seen = finished(config).judge()
    printed = pasted.printed(name)
    if config.plays:
        found = re.findall(r"(\w+): regret (-?\d+), of it by its own decisions (-?\d+)", printed)
        assert [side for side, *_ in found] == ["left", "right", "baseline"]
        for side, regret, own in found:
            player = seen.players["linear" if side == "baseline" else side]
            assert (float(regret), float(own)) == (player.regret, player.own)
    else:
        draws, auroc, accuracy = re.fullmatch(r"(\d+) draws: AUROC ([\d.]+), accuracy ([\d.]+)\n", printed).groups()
        assert int(draws) == seen.draws and float(auroc) == pytest.approx(seen.scores.auroc, abs=1e-6)
        assert float(accuracy) == pytest.approx(seen.scores.accuracy, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("name", CONFIGS)
def test_the_files_hold_what_was_seen(name):
    given: list[DecisionsConfig] = []
    config = CONFIGS[name]
    takeaway = DecisionsTakeaway(given.append)
    takeaway.show(config)
    with pytest.raises(ValueError, match="nothing to save yet"):
        takeaway.content("curves")
    job = finished(config)
    rows = job.log.since(0)[1]
    takeaway.stream(rows)
    contents = {item["key"]: takeaway.content(item["key"]) for item in takeaway.menu.files}
    assert len({name for name, _ in contents.values()}) == len(takeaway.menu.files)
    curve = list(csv.DictReader(io.StringIO(contents["curves"][1])))
    assert len(curve) == len(rows)
    assert float(list(curve[-1].values())[1]) == rows[-1, 1]
    assert read_settings(DecisionsConfig, config_json(config)).key() == config.key()
    takeaway._on_upload(config_json(config))
    assert given[-1].key() == config.key()
    for text, words in (("{", "not valid JSON"), ("[]", "JSON object"), ('{"seed": -5}', "seed")):
        takeaway._on_upload(text)
        assert takeaway.menu.message["bad"] and words in takeaway.menu.message["text"]
    assert len(given) == 1
