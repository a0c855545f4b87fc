"""Degeneracies of ReLU networks: what is flat and what matters, counted and walked, and planted faults that are found."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from llc_core.studies.keeping import Kept
from llc_core.studies.papers.local_sampling import degeneracies
from llc_core.studies.papers.local_sampling.degeneracies import ROUNDING, Degeneracies, along, cases, jacobian, tangents
from llc_core.studies.papers.study import Place

WITHOUT_CHAINS = Degeneracies(rows=60, steps=0, seed=5)
BY_NAME = {case.name: case for case in cases()}


def test_paths_are_flat_and_the_rest_matters(tmp_path):
    done = WITHOUT_CHAINS.run(Place(Kept(None), tmp_path))
    assert len(done.claims) == 18 and all(claim.holds for claim in done.claims)
    pytest.importorskip("holoviews")
    assert done.draw is not None and done.draw() is not None


@pytest.mark.parametrize("name", BY_NAME)
def test_directions_that_are_no_path_change_the_loss(name):
    """Across the paths the loss rises as fast as the least singular value that counts says."""
    case = BY_NAME[name]
    x, flat = WITHOUT_CHAINS.inputs(case), tangents(case)
    values = np.linalg.svd(jacobian(case.parameters, x))[1]
    _, _, every = np.linalg.svd(flat)
    across = every[len(flat) :]
    least = values[case.matters - 1] ** 2 / len(x)
    assert all(np.square(jacobian(case.parameters, x) @ each).mean() >= 0.999 * least > 1e-3 for each in across)
    assert np.abs(jacobian(case.parameters, x) @ flat.T).max() < 1e-8


def test_a_planted_count_and_a_path_across_a_kink_are_found(tmp_path, monkeypatch):
    dead = BY_NAME["a dead unit"]
    x, bias = WITHOUT_CHAINS.inputs(dead), dead.paths[-2][1]
    assert max(along(dead, bias, x)) <= ROUNDING < max(along(dead, bias, x, reach=8.0)), "a dead unit that comes alive"
    wrong = dataclasses.replace(dead, matters=dead.matters + 1, paths=dead.paths[:-1])
    monkeypatch.setattr(degeneracies, "cases", lambda: [wrong])
    done = WITHOUT_CHAINS.run(Place(Kept(None), tmp_path))
    assert [claim.holds for claim in done.claims] == [True, False, False]
