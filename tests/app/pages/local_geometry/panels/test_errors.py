"""The section "Errors on new data": what it says, what it leaves out, and what it refuses before anything is made."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest

from app.pages.local_geometry.panels.errors import job as jobs
from app.pages.local_geometry.panels.errors.drawing import scatter
from app.pages.local_geometry.panels.errors.job import DATA_SETS, work
from app.pages.local_geometry.panels.errors.panel import ErrorsPanel, distrust
from app.runs.job import State, Status
from llc_core import DeepLinearNetwork
from llc_core.studies.data_errors import data_errors, summary

SMALL = DeepLinearNetwork.random(widths=[2, 1, 2], layer_ranks=[1, 1], n=50, seed=0)


@pytest.fixture(scope="module")
def found():
    return [data_errors(SMALL, 100, seed, sweeps=80) for seed in range(3)]


def test_the_panel_shows_means_of_what_is_trusted(found):
    panel = ErrorsPanel()
    panel.show(SMALL)
    bad = dataclasses.replace(found[0], r_hat=1.3, waic=1e6)
    panel.receive(State(status=Status.RUNNING), [found[0], bad])
    assert not panel.table.object, "one data set has no standard error"
    assert "1 of 2 data sets, with R-hat up to 1.30" in panel.words.object
    panel.receive(State(status=Status.FINISHED), found[1:])
    seen = summary(found, float(SMALL.learning_coefficient))
    assert f"{seen.means['waic']:.1f}" in re.sub("−", "-", panel.table.object)
    assert panel.table.object.count("<tr>") == 7 and panel.table.object.count("<circle") == 4
    assert "Not trusted, and left out: 1 of 4" in panel.words.object
    assert distrust(found) == ""
    panel.show(SMALL)  # another run of the same network
    assert panel.found
    panel.show(DeepLinearNetwork.random(widths=[2, 1, 2], layer_ranks=[1, 1], n=50, seed=1))
    assert not panel.found and not panel.table.object


def test_dots_lie_where_the_numbers_say(found):
    at = np.array(re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', scatter(found, 1.5)), float)
    values = np.array([[each.waic, each.errors.bayes_generalisation] for each in found])
    for axis, sign in ((0, 1), (1, -1)):  # upwards is less
        slope = np.polyfit(values[:, axis], at[:, axis], 1)
        assert slope[0] * sign > 0 and at[:, axis] == pytest.approx(np.polyval(slope, values[:, axis]), abs=0.1)


def test_large_networks_are_refused_before_anything_is_drawn(monkeypatch):
    large = DeepLinearNetwork.random(widths=[20, 20, 20], n=1000, seed=0)
    with pytest.raises(ValueError, match="800 weights; this section takes up to 500"):
        work(large, 200)
    monkeypatch.setattr(jobs, "allowance", lambda: 1.0)
    with pytest.raises(ValueError, match="this server gives each run 1 MB"):
        work(SMALL, 200)


def test_the_job_draws_every_data_set_and_then_the_free_energy(monkeypatch, found):
    asked = []
    monkeypatch.setattr(jobs, "data_errors", lambda problem, n, seed: asked.append(seed) or found[0])
    monkeypatch.setattr(jobs, "prior_free_energy", lambda problem, n, seed: None)
    job = work(SMALL, 100)()
    while not job.finished:
        job.advance(5)
    assert asked == list(range(DATA_SETS)) and job._done == DATA_SETS + 1
