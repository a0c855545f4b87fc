"""Every table of pictures can be read and run by the command line, and what is none is refused in words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from llc_core.cli.commands import main
from llc_core.networks import PUBLISHED
from llc_core.studies.pictures import METHODS, read_table

TABLES = sorted((Path(__file__).resolve().parents[4] / "lab/sweeps/pictures").glob("*.toml"))
TINY = """data = "cifar100"
networks = ["ResNet-20"]
methods = ["logistic regression", "SGHMC"]
seeds = 2
[small]
epochs = 2
milestones = [1]
draws_from = 1
chains = 2
batch_size = 512
"""


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.name)
def test_a_table_names_what_there_is(path):
    table = read_table(path)
    assert set(table.networks) <= set(PUBLISHED) and table.seeds == 10
    assert {"SGD", "deep ensemble", "logistic regression"} <= set(table.methods) <= set(METHODS)


@pytest.mark.slow
def test_a_table_is_run_from_the_command_line(tmp_path, capsys):
    pytest.importorskip("sklearn")
    path, out = tmp_path / "tiny.toml", tmp_path / "found.json"
    path.write_text(TINY)
    asked = ["pictures", str(path), "--out", str(out), "--draws", str(tmp_path / "draws")]
    assert main(asked) == 0
    kept, said = json.loads(out.read_text()), capsys.readouterr().out
    assert set(kept["rows"]) == {"ResNet-20, logistic regression", "ResNet-20, SGHMC"} and kept["seeds"] == 2
    figures = dict(kept["rows"]["ResNet-20, SGHMC"])
    assert figures["draws"] == [2, 2] and len(figures["auroc"]) == 2 and "ResNet-20, SGHMC" in said
    assert (tmp_path / "draws" / "ResNet-20-SGHMC-1" / "draws.npy").exists()
    for rows in kept["rows"].values():  # as if the program had been ended after the first seed
        rows.update({name: values[:1] for name, values in rows.items()})
    out.write_text(json.dumps(kept))
    assert main(["pictures", str(path), "--out", str(out), "--resume"]) == 0
    again = json.loads(out.read_text())["rows"]["ResNet-20, SGHMC"]
    assert again["auroc"] == pytest.approx(figures["auroc"], abs=1e-6) and again["seconds"][0] == figures["seconds"][0]
    out.write_text('{"rows": 1}')
    with pytest.raises(SystemExit):
        main(["pictures", str(path), "--out", str(out), "--resume"])
    assert "is no file of this command" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text, words",
    [
        ('data = "cifar100"', "is no table of pictures"),
        ("data = [", "is no table of pictures"),
        ('data = "cifar100"\nnetworks = "all"\nmethods = ["SGD"]', "networks is 'all'; give a list"),
        ('data = "cifar100"\nnetworks = ["VGG"]\nmethods = ["SGD"]', "has 'VGG' among its networks"),
        ('data = "faces"\nnetworks = ["ResNet-20"]\nmethods = ["SGD"]', "has 'faces' among its data"),
        ('data = "cifar10"\nnetworks = ["ResNet-20"]\nmethods = ["SGD"]\nspeed = 1', "has 'speed' among its keys"),
        (TINY.replace("epochs", "epoch"), "Unknown key 'epoch' in the settings of pictures"),
        (TINY.replace("draws_from = 1", "draws_from = 2"), "draws_from is 2; it must be less than epochs"),
        (TINY.replace("batch_size = 512", 'batch_size = "all"'), "batch_size"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path, text, words):
    path = tmp_path / "table.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=words):
        read_table(path)
