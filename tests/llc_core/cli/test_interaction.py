"""Chains that interact, asked for in a terminal and in a sweep: the numbers are those of the engine."""

from __future__ import annotations

import json

import pytest

from llc_core import Run, RunConfig, SweepSpec, estimate
from llc_core.cli.commands import main
from llc_core.potentials import build
from llc_core.sweeps import worker
from llc_core.sweeps.unit import key_of

NETWORK = ["estimate", "--widths", "3", "2", "--sampler", "SGLD", "--gradient", "full", "--chains", "2", "--json"]
SHORT = [*NETWORK, "--steps", "80", "--step-size", "1e-9"]
LADDER = {"name": "ReplicaExchange", "temperatures": [1.0, 2.0, 5.0]}
SWEEP = {
    "size_class": "3-2",
    "problems": [0, 1],
    "samplers": ["SGLD"],
    "step_sizes": [1e-10, 1e-9],
    "gradients": ["full"],
    "chains": 2,
    "steps": 60,
    "together": 2,
}


def said(capsys, *more: str) -> list[dict]:
    assert main([*SHORT, *more]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines() if line.startswith("{")]


def test_a_name_and_a_table_are_taken(capsys):
    for asked in ("Contour", json.dumps({"name": "Contour", "high": 30.0, "clip": 4.0})):
        (found,) = said(capsys, "--interaction", asked)
        own = found["config"]["interaction"]
        assert own["name"] == "Contour" and own["high"] == (30.0 if "{" in asked else 12.5)
        again = estimate(
            build(found["config"]["problem"]),
            "SGLD",
            step_size=1e-9,
            gradient="full",
            chains=2,
            steps=80,
            interaction=own,
        )
        assert again.llc == found["llc"]


def test_of_a_ladder_each_level_is_printed(capsys):
    found = said(capsys, "--interaction", json.dumps(LADDER))
    levels = [each["setting"]["n_beta"] for each in found]
    assert [levels[0] / level for level in levels] == pytest.approx([1.0, 2.0, 5.0])
    assert levels == pytest.approx([each["n_beta"] for each in found], rel=1e-6)  # in single precision


def test_a_configuration_file_keeps_and_changes_its_interaction(capsys, tmp_path):
    (first,) = said(capsys, "--interaction", "Contour")
    file = tmp_path / "run.json"
    file.write_text(json.dumps(first["config"]))
    for more, name in (([], "Contour"), (["--interaction", "Cyclical"], "Cyclical")):
        assert main(["estimate", str(file), "--json", *more]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["config"]["interaction"]["name"] == name
        assert (found["llc"] == first["llc"]) == (name == "Contour")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--interaction", "Tempering"], "Unknown interaction 'Tempering'; choose one of Contour"),
        (["--interaction", "{oops"], "--interaction is '{oops', which is no JSON"),
        (["--interaction", '{"name": "Contour", "low": 99}'], "it must be below high"),
        (["--interaction", "Contour", "--sampler", "HMC"], "its chains cannot interact; use SGLD"),
    ],
)
def test_what_cannot_interact_is_one_sentence(capsys, more, words):
    with pytest.raises(SystemExit) as ended:
        main([*SHORT, *more])
    assert ended.value.code == 2 and words in capsys.readouterr().err


@pytest.mark.parametrize("interaction", [LADDER, {"name": "Cyclical", "length": 20}])
def test_rows_of_a_sweep_are_those_of_the_target(interaction):
    spec = SweepSpec.from_dict({**SWEEP, "interaction": interaction})
    (unit,) = SweepSpec.from_dict(json.loads(json.dumps(spec.to_dict()))).units()
    rows = worker.run_unit(json.loads(json.dumps(unit.to_dict())))
    assert len(rows) == 4 and {row["status"] for row in rows} == {"ok"}
    run = Run(unit.config)
    run.advance(60)
    levels = 3 if interaction is LADDER else 1
    assert [row["llc"] for row in rows] == [each.llc for each in run.estimates()[::levels]]
    assert unit.workload.settings == 2 * levels
    again = RunConfig.from_json(rows[0]["config"])
    assert again.interaction["name"] == interaction["name"] and key_of(again) == rows[0]["key"]


def test_rows_without_an_interaction_keep_their_keys():
    (plain,) = SweepSpec.from_dict(SWEEP).units()
    (other,) = SweepSpec.from_dict({**SWEEP, "interaction": "Cyclical"}).units()
    assert "interaction" not in plain.config.to_dict() and set(plain.keys).isdisjoint(other.keys)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"interaction": "Tempering"}, "Unknown interaction"),
        ({"interaction": 3}, "interaction is 3"),
        ({"interaction": "Contour", "samplers": ["HMC"], "step_sizes": [1e-3]}, "cannot interact"),
        ({"interaction": {"name": "Contour", "members": 3}}, "groups of 3 members"),
    ],
)
def test_a_sweep_that_cannot_be_is_one_sentence(changes, words):
    with pytest.raises(ValueError, match=words):
        SweepSpec.from_dict({**SWEEP, **changes})
