"""`llc-lab estimate --temperatures`: one estimate, with λ̂ from the slope in it."""

from __future__ import annotations

import json

import pytest

from llc_core import Estimate, estimate
from llc_core.cli.commands import main
from llc_core.potentials import build

SHORT = ["estimate", "--widths", "3", "2", "--sampler", "SGLD", "--gradient", "full", "--chains", "2", "--steps", "60"]


def test_it_is_that_of_estimate(capsys):
    assert main([*SHORT, "--temperatures", "1", ".5", "--json"]) == 0
    found = Estimate.from_json(capsys.readouterr().out)
    same = {"chains": 2, "steps": 60, "gradient": "full", "temperatures": (1, 0.5)}
    again = estimate(build(found.config.problem), "SGLD", **same)
    slope = found.from_temperatures
    assert slope.temperatures == (1.0, 0.5) and slope.llc == again.from_temperatures.llc
    assert slope.means == again.from_temperatures.means


def test_it_is_one_line_for_people_and_one_file(capsys, tmp_path):
    pytest.importorskip("h5netcdf")
    file = tmp_path / "run.nc"
    assert main([*SHORT, "--temperatures", "1", "2", "--out", str(file)]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("from temperatures 1, 2: λ̂ = ")]
    assert len(lines) == 1 and file.exists()


def test_a_configuration_file_gets_them_too(capsys, tmp_path):
    assert main([*SHORT, "--json"]) == 0
    file = tmp_path / "run.json"
    file.write_text(json.dumps(json.loads(capsys.readouterr().out)["config"]))
    assert main(["estimate", str(file), "--json", "--temperatures", "1", "2"]) == 0
    found = Estimate.from_json(capsys.readouterr().out)
    assert found.from_temperatures.temperatures == (1.0, 2.0)
    with pytest.raises(SystemExit):
        main([*SHORT, "--temperatures", "2"])
    assert "temperatures" in capsys.readouterr().err
