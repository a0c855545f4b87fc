"""Stores, sweeps and estimates from before the modules moved read as before."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3

import numpy as np
import pytest
from old_files import OLD, content

from llc_core import DeepLinearNetwork, Estimate, RunConfig, SweepSpec, estimate, run_sweep
from llc_core.sweeps import runner
from llc_core.sweeps.store import LATER, Store, results, table

NOT_KNOWN = dict.fromkeys(LATER)
"""What rows of that day have in columns that came later."""


def test_an_old_store_reads_as_it_was(tmp_path):
    shutil.copy(OLD / "store.sqlite", tmp_path)
    found = sorted(results(tmp_path / "store.sqlite"), key=lambda row: row["key"])
    assert found == [{**row, **NOT_KNOWN} for row in content("store.expected.json")] and len(found) == 16
    assert np.isnan(table(tmp_path / "store.sqlite").numbers["llc_from_variance"]).all()
    for row in found:
        problem = RunConfig.from_dict(json.loads(row["config"])).problem
        assert problem == {"kind": "dln", "size_class": "1K", "ranks": "paper", "seed": row["problem"]}


def test_an_old_sweep_is_read_alike_from_toml_and_json():
    spec = SweepSpec.from_toml(OLD / "sweep.toml")
    assert spec == SweepSpec.from_dict(content("sweep.json"))
    assert json.loads(json.dumps(spec.to_dict())) == content("sweep.json")


def test_an_old_sweep_that_is_finished_starts_nothing(tmp_path, monkeypatch):
    """Rows are found by keys made of what is run; any other key would run everything again."""
    shutil.copy(OLD / "store.sqlite", tmp_path)
    monkeypatch.setattr(runner, "client_of", None)
    last = run_sweep(SweepSpec.from_toml(OLD / "sweep.toml"), tmp_path / "store.sqlite")
    assert (last.state, last.done, last.errors) == ("finished", 16, 0)


def test_an_old_store_takes_new_rows(tmp_path):
    shutil.copy(OLD / "store.sqlite", tmp_path)
    rows = results(tmp_path / "store.sqlite")
    new = {**rows[0], "key": "new", "llc_from_variance": 120.0, "llc_from_variance_se": 4.0, "lost_after": 7}
    with Store(tmp_path / "store.sqlite") as store, Store(tmp_path / "store.sqlite", readonly=True) as reader:
        store.add([new])
        assert [row["lost_after"] for row in reader.rows() if row["key"] == "new"] == [7], (
            "to whoever had it open before, too"
        )
        assert len(reader.table()) == 17
    found = results(tmp_path / "store.sqlite")
    assert [row for row in found if row["key"] != "new"] == rows
    assert [{**row, "finished": None} for row in found if row["key"] == "new"] == [{**new, "finished": None}]
    numbers = table(tmp_path / "store.sqlite").numbers["llc_from_variance"]
    assert numbers[np.isfinite(numbers)].tolist() == [120.0]


def test_two_that_opened_an_old_store_both_add_to_it(tmp_path):
    shutil.copy(OLD / "store.sqlite", tmp_path)
    (row, *_) = results(tmp_path / "store.sqlite")
    with Store(tmp_path / "store.sqlite") as one, Store(tmp_path / "store.sqlite") as other:
        for store, key in ((one, "new"), (other, "newer")):
            store.add([{**row, "key": key, "lost_after": 7}])
        assert len(one.rows()) == 18


def test_a_store_that_has_some_of_the_later_columns_is_one(tmp_path):
    shutil.copy(OLD / "store.sqlite", tmp_path)
    with contextlib.closing(sqlite3.connect(tmp_path / "store.sqlite")) as file, file:
        file.execute("ALTER TABLE results ADD COLUMN llc_from_variance REAL")
    rows = results(tmp_path / "store.sqlite")
    with Store(tmp_path / "store.sqlite") as store:
        store.add([{**rows[0], "key": "new", "llc_from_variance": 120.0}])
        assert sorted(str(row["llc_from_variance"]) for row in store.rows()) == ["120.0", *["None"] * 16]


def test_what_goes_wrong_leaves_an_old_store_as_it_was(tmp_path):
    shutil.copy(OLD / "store.sqlite", tmp_path)
    rows = results(tmp_path / "store.sqlite")
    with Store(tmp_path / "store.sqlite") as store:
        with pytest.raises(sqlite3.IntegrityError):
            store.add([{**rows[0], "key": "new"}, {**rows[0], "key": "bad", "status": "no such"}])
        assert store.rows() == rows
        store.add([{**rows[0], "key": "new", "llc_from_variance": 120.0}])
    assert len(results(tmp_path / "store.sqlite")) == 17


def test_an_old_estimate_names_the_run_that_gives_it_again():
    old = content("estimate.json")
    config = RunConfig.from_json(json.dumps(old["config"]))
    assert json.loads(config.to_json()) == old["config"]
    problem = DeepLinearNetwork.random(widths=[3, 4, 2], layer_ranks=[2, 2], n=5000, seed=5)
    settings = {name: old["config"][name] for name in ("chains", "steps", "seed", "gradient")}
    new = json.loads(estimate(problem, old["config"]["sampler"], progress=False, **settings).to_json())
    assert list(new)[: len(old)] == list(old) and new["config"] == old["config"]
    read = Estimate.from_json(json.dumps(old))
    assert read.llc == old["llc"] and read.config == config and read.converged.reason == old["verdict"]
    assert new["llc"] == pytest.approx(old["llc"], abs=0.05 * old["llc_se"]), "rounding is far below the chains' noise"
    assert problem.expected_llc() == pytest.approx(old["expected"], rel=1e-6), "of the mean over data sets"
    assert new["expected"] == pytest.approx(problem.expected_llc_of_data(), rel=1e-6), "of these data"
