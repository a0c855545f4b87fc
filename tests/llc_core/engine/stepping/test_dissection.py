"""A step that is taken apart is the step that is taken, and its parts are those of the sampler's formula."""

from __future__ import annotations

import math

import numpy as np
import pytest
from cases import few

from llc_core import RunConfig
from llc_core.engine.run import Run
from llc_core.samplers.registry import samplers

FEW, MANY, STEP_SIZE = 20, 400, 0.0003
PROBLEM = {"kind": "planar", "name": "quadratic", "scales": [1.0, 2.0], "n": 1000}


def begun(name: str, chains: int = MANY, **sampler: float) -> Run:
    made = Run(RunConfig(problem=PROBLEM, sampler={"name": name, **sampler}, chains=chains, steps=200, seed=3))
    made.advance(120)
    return made


@pytest.mark.parametrize("name", few([name for name in samplers() if name not in ("Gibbs", "CollapsedPCN", "PCN")], 3))
def test_the_run_goes_on_as_if_nobody_had_looked_and_the_parts_add_up(name):
    plain, looked = begun(name, FEW), begun(name, FEW)
    for _ in range(3):
        plain.advance(1)
        _, parts = looked.dissect()
        assert parts is not None
        ends = parts.start + parts.drift + parts.noise
        now = np.where(parts.accepted[:, None], ends, parts.start)
        np.testing.assert_allclose(now, looked.displacements, rtol=0, atol=1e-6)
    np.testing.assert_array_equal(plain.displacements, looked.displacements)


def test_the_parts_of_sgld_are_half_a_step_downhill_and_noise_of_its_size():
    run = begun("SGLD", step_size=STEP_SIZE)
    _, parts = run.dissect()
    problem, complete = run.problem, run.config
    scales = np.array(PROBLEM["scales"])
    curvature = complete.n_beta * (scales / problem.noise_std) ** 2 + complete.localization
    # The data move the minimum: the force is straight, and vanishes somewhere else than at w0.
    slope = np.array([np.polyfit(parts.start[:, i], parts.drift[:, i], 1)[0] for i in range(2)])
    assert np.all(slope < 0)
    np.testing.assert_allclose(slope[1] / slope[0], curvature[1] / curvature[0], rtol=0.2)
    mean, square = parts.noise.mean(), (parts.noise**2).mean()
    count = parts.noise.size
    assert abs(mean) < 5 * math.sqrt(STEP_SIZE / count)
    assert abs(square / STEP_SIZE - 1) < 5 * math.sqrt(2 / count)


def test_a_proposal_that_is_refused_is_seen():
    run = begun("MALA", step_size=0.02)
    before = run.displacements
    _, parts = run.dissect()
    refused = ~parts.accepted
    assert 0 < refused.sum() < MANY
    np.testing.assert_array_equal(run.displacements[refused], before[refused])
    assert np.all(np.abs(parts.drift + parts.noise)[refused].sum(axis=1) > 0)


def test_exact_draws_have_no_parts():
    problem = {"kind": "dln", "widths": [2, 2, 2], "seed": 1}
    run = Run(RunConfig(problem=problem, sampler={"name": "Gibbs"}, chains=4, steps=20, seed=3))
    snapshot, parts = run.dissect()
    assert parts is None and snapshot.steps == 1
