"""Exact answers that come with the page: they are those of presets, and other chains find the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from app.pages.functions.config import key_of
from app.pages.functions.presets import PRESETS
from app.pages.functions.scene import forget_answers, keep, known, scene_of, shipped
from llc_core import estimate

BY_NAME = {preset.name: preset for preset in PRESETS}


def test_the_first_preset_has_its_exact_answer_at_once():
    scene = scene_of(PRESETS[0].config)
    exact = known(scene)[1]
    assert exact is not None and exact.settled and exact.r_hat < 1.05
    assert all(
        len(edge) == len(scene.inputs) for edge in (exact.mean, exact.sd, *exact.low.values(), *exact.high.values())
    )
    for inner, outer in ((0.5, 0.8), (0.8, 0.95)):
        assert (exact.low[outer] < exact.low[inner]).all() and (exact.high[inner] < exact.high[outer]).all()


def test_every_shipped_answer_is_of_a_preset():
    assert set(shipped()) <= {key_of(preset.config.problem) for preset in PRESETS} and len(shipped()) == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["same", "wider"])
def test_chains_of_another_seed_find_the_shipped_answer(name):
    scene = scene_of(BY_NAME[name].config)
    exact, some = known(scene)[1], slice(2, None, 8)
    steps = {"same": 1_500, "wider": 300}[name]
    found = estimate(
        scene.network, "CollapsedPCN", chains=16, steps=steps, predict=scene.inputs[some], seed=7, progress=False
    ).predictive
    off = np.abs(found.mean - exact.mean[some])
    assert (off < 4.5 * np.hypot(found.mean_se, exact.sd[some] / np.sqrt(exact.ess))).all()
    # A width has an error of about 1/√(2·ess) of itself.
    assert (np.abs(found.sd / exact.sd[some] - 1) < 4.5 * np.sqrt(0.5 / found.ess + 0.5 / exact.ess)).all()
    other = known(scene_of(BY_NAME["wider" if name == "same" else "same"].config))[1]
    assert not (np.abs(found.mean - other.mean[some]) < 4.5 * found.mean_se).all(), "another width passes too"


def test_what_chains_found_does_not_replace_it():
    scene = scene_of(PRESETS[0].config)
    before = known(scene)[1]
    try:
        keep(scene, replace(before, r_hat=1.9))
        assert known(scene)[1] is before
    finally:
        forget_answers()
