"""The benchmark of bandits plays every agent and keeps what it found, with the command that gives it again."""

from __future__ import annotations

import json
from argparse import Namespace

import pytest

from lab.benchmarks.networks.bandits import AGENTS, ON, SMALL_FORCED, as_row, keep, of_row, one, own_pull, show


@pytest.mark.parametrize("name", AGENTS)
def test_every_agent_can_be_played(name):
    played, seconds = one(("linear", name, SMALL_FORCED // 20 + 2, 0, True))
    assert played.forced_pulls == SMALL_FORCED and len(played.regret) == SMALL_FORCED // 20 + 2 and seconds > 0


def test_what_was_found_is_kept_with_the_known_optimum(tmp_path, capsys):
    plays = {"linear": [one(("wheel", "linear", 30, seed, True))[0] for seed in range(3)]}
    options = Namespace(out=tmp_path / "found.json", small=True, on="wheel", seeds=3, rounds=30, agents="linear")
    show("wheel", plays, {"linear": 0.1}, [30])
    keep(options, plays, {"linear": 0.1}, [30])
    kept = json.loads(options.out.read_text())["wheel, small"]
    chance = ON["wheel"]().random_regret * 30 * 20
    assert (
        kept["chance"] == pytest.approx(chance, abs=0.1)
        and "--on wheel --seeds 3 --rounds 30 --small" in kept["command"]
    )
    expected = sum(p.expected_regret[-1] for p in plays["linear"]) / 3
    assert kept["agents"]["linear"]["expected"] == [pytest.approx(expected, abs=0.1)]
    assert f"chance {chance:,.0f}" in capsys.readouterr().out
    first = SMALL_FORCED // 20
    own = sum(p.expected_regret[-1] - p.expected_regret[first - 1] for p in plays["linear"]) / (3 * 20 * (30 - first))
    assert kept["agents"]["linear"]["own pull"] == pytest.approx(own, abs=1e-4) and own_pull(plays["linear"])[1] > 0


def test_a_play_can_be_kept_as_json():
    played, seconds = one(("wheel", "pICSGLD", SMALL_FORCED // 20 + 2, 1, True))
    again, spent = of_row(json.loads(json.dumps(as_row(played, seconds))))
    assert again.regret.tolist() == played.regret.tolist() and spent == seconds and again.seed == 1
    assert again.report["heat"].tolist() == played.report["heat"].tolist()
