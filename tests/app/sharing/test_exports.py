"""What is taken away is what was seen: the pasted Python gives the same numbers, files read back."""

from __future__ import annotations

import csv
import html
import io
import json
import math

import numpy as np
import pytest
from pasted import Pasted

import llc_core
from app.estimates.texts import verdict
from app.runs.job import State, Status
from app.runs.llc_job import LlcJob
from app.sharing.exports import config_json, netcdf, python_code, result_csv, trace_csv
from llc_core import RunConfig
from llc_core.verdicts import plain_words

CONFIGS = {
    "defaults": RunConfig(problem={"kind": "dln", "widths": [3, 2]}, steps=60),
    "everything": RunConfig(
        problem={"kind": "dln", "widths": [3, 4, 2], "layer_ranks": [2, 1], "seed": 4, "n": 5000},
        sampler={"name": "RMSPropSGLD", "step_size": 1e-7, "stability": 1e-4},
        gradient="minibatch",
        metric_gradient="full",
        batch_size=64,
        baseline="full",
        n_beta=100.5,
        localization=3.0,
        chains=3,
        steps=50,
        burn_in=20,
        step_decay=0.25,
        grid={"localization": (1.0, 2.0)},
        seed=9,
        dtype="float64",
    ),
}


def estimates(config):
    run = llc_core.run(config)
    for _ in run:
        pass
    return run, run.estimates()


@pytest.fixture(scope="module")
def estimate():
    return estimates(CONFIGS["defaults"])[1][0]


TAIL = "import json; print('LLC', json.dumps([e.llc for e in run.estimates()]), run.config.to_json())"
WARNED = RunConfig(
    problem={"kind": "dln", "widths": [4, 3, 4], "layer_ranks": [3, 3], "seed": 1},
    sampler={"name": "RMSPropSGLD", "stability": 1e-4},
    chains=4,
    steps=2000,
)


@pytest.fixture(scope="module")
def pasted():
    codes = {name: python_code(llc_core.run(config).config) + TAIL for name, config in CONFIGS.items()}
    return Pasted({**codes, "warned": python_code(llc_core.run(WARNED).config)})


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", CONFIGS)
def test_the_python_runs_as_pasted_and_gives_the_same_numbers(pasted, name):
    run, found = estimates(CONFIGS[name])
    code = python_code(run.config)
    assert pasted.codes[name] == code + TAIL
    values = pasted.printed(name).split("LLC ")[1]
    numbers, rest = json.JSONDecoder().raw_decode(values)
    assert numbers == [e.llc for e in found] and all(map(math.isfinite, numbers))
    assert RunConfig.from_json(values[rest:].strip()) == run.config
    assert max(map(len, code.splitlines())) <= 130


@pytest.mark.slow
@pytest.mark.long
def test_the_script_says_what_the_page_says(pasted):
    """RMSProp with a small constant: the page warns of its distribution, and so does the script."""
    job = LlcJob(WARNED)
    while not job.finished:
        snapshot = job.advance(1000)
    found = job.judge()
    assert pasted.codes["warned"] == python_code(found.config)
    said = llc_core.conclude(found)
    assert said.remedy.startswith("Switch to a sampler that draws from the target")
    assert pasted.printed("warned").rstrip().endswith(str(said))
    tone, words = verdict(State(status=Status.FINISHED, snapshot=snapshot, estimate=found))
    assert tone == "bad" and said.reason in html.unescape(words) and plain_words(said.remedy) in html.unescape(words)


def test_the_configuration_reads_back(estimate):
    assert RunConfig.from_json(config_json(estimate.config)) == estimate.config


def test_the_traces_read_back(estimate):
    rows = list(csv.DictReader(io.StringIO(trace_csv(estimate))))
    assert [int(r["step"]) for r in rows] == estimate.trace_steps.tolist()
    chains = np.array([[float(r[f"chain_{i}"]) for i in range(estimate.chains)] for r in rows])
    assert np.array_equal(chains, estimate.trace, equal_nan=True)
    kept = np.array([int(r["averaged"]) for r in rows], dtype=bool)
    assert np.mean(chains[kept]) == pytest.approx(estimate.llc)


def test_the_results_read_back(estimate):
    values = {r["name"]: r["value"] for r in csv.DictReader(io.StringIO(result_csv(estimate)))}
    assert float(values["llc"]) == estimate.llc and values["local_learning_coefficient"] == "3"
    assert RunConfig.from_json(values["config"]) == estimate.config


def test_the_netcdf_file_reads_back(estimate, tmp_path):
    xarray = pytest.importorskip("xarray")
    path = tmp_path / "run.nc"
    path.write_bytes(netcdf(estimate))
    with xarray.open_dataset(path, engine="h5netcdf") as data:
        assert float(data.llc) == estimate.llc
        assert np.array_equal(data.loss_trace.values, estimate.trace, equal_nan=True)
        assert RunConfig.from_json(data.attrs["config"]) == estimate.config
