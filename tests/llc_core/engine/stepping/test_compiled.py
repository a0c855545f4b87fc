"""Long runs of many parameters: normals of `llc_core.compute.philox`, and update and noise in one compiled loop."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from cases import few
from discrete_law import linear_map
from targets import Quadratic

from llc_core import DeepLinearNetwork, RunConfig, estimate
from llc_core.compute.philox import fill
from llc_core.compute.philox_layout import GROUP
from llc_core.engine.run import Run
from llc_core.engine.stepping import compiled as module
from llc_core.engine.stepping.compiled import WORTH, CompiledUpdate, worth_compiling
from llc_core.engine.stepping.noise import NoiseByPlace
from llc_core.samplers import build, hyperparameters, samplers

pytest.importorskip("numba")

WITH_CELL = [name for name, kind in samplers().items() if kind().cell() is not None]
FLOAT = torch.empty(0)


@pytest.fixture
def always(monkeypatch):
    """However short the run."""
    monkeypatch.setattr(module, "WORTH", 1)


@pytest.fixture(scope="module")
def network():
    return DeepLinearNetwork.random(widths=[40, 70, 30, 60], layer_ranks=[25, 20, 20], n=4000, seed=1)


def run(problem, sampler, steps: int, cuts: tuple[int, ...] = (), **more) -> Run:
    settings = {"sampler": sampler, "chains": 3, "steps": steps, "seed": 2, "dtype": "float32", **more}
    current = Run(RunConfig(**settings), problem)
    assert isinstance(current._stepper.noise, NoiseByPlace), "the fixture `always` is missing"
    for cut in (*cuts, steps):
        current.advance(cut)
    return current


def test_it_is_for_long_runs_of_many_parameters_in_single_precision():
    assert worth_compiling(FLOAT, GROUP, 8, WORTH // GROUP)
    assert not worth_compiling(FLOAT, GROUP, 1, WORTH // GROUP - 1)
    assert not worth_compiling(FLOAT, GROUP - 1, 8, WORTH)
    assert not worth_compiling(FLOAT.double(), GROUP, 8, WORTH)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("gradient", ["full", "minibatch"])
@pytest.mark.parametrize("name", few(WITH_CELL, 2))
def test_the_loop_walks_where_the_written_update_does(always, network, monkeypatch, name, gradient):
    """With its own step sizes; in so short a run no coordinates are adapted, whose eigenvectors turn with every rounding."""
    ends, loops, step = [], [], CompiledUpdate.step
    monkeypatch.setattr(CompiledUpdate, "step", lambda self, *arguments: loops.append(step(self, *arguments)))
    for compiled in (True, False):
        if not compiled:
            monkeypatch.setattr(CompiledUpdate, "serves", lambda self, energy: False)
        ends.append(run(network, {"name": name}, 80, gradient=gradient).displacements)
        assert len(loops) == (81 if compiled else 82), "to compile, in both runs, and then in each step of the first"
    assert np.abs(ends[0] - ends[1]).max() < 1e-3 * np.abs(ends[0]).max()
    assert np.abs(ends[0]).max() > 0


def test_samplers_without_a_scalar_formula_get_the_same_noise(always, network, monkeypatch):
    sampler = {"name": "PSGLD", "step_size": 1e-9}
    assert build("PSGLD").cell() is None
    asked = []
    monkeypatch.setattr(
        "llc_core.engine.stepping.noise.fill", lambda *arguments: asked.append(arguments[2:]) or fill(*arguments)
    )
    one, other = run(network, sampler, 20), run(network, sampler, 20, (7, 5))
    np.testing.assert_array_equal(one.displacements, other.displacements)
    # Number 0 is for the start, then one for each step: no number is used twice.
    wanted = [(step, chain, 0) for step in range(21) for chain in range(3)]
    assert asked == wanted + wanted


@pytest.mark.slow
def test_the_start_and_the_steps_have_different_noise(always, network, monkeypatch):
    """Samplers with a momentum draw it first; the loop's steps follow."""
    asked = []
    monkeypatch.setattr(
        "llc_core.engine.stepping.noise.fill", lambda *arguments: asked.append(arguments[2]) or fill(*arguments)
    )
    words = module.words_of
    monkeypatch.setattr(module, "words_of", lambda *arguments: asked.append(arguments[1]) or words(*arguments))
    run(network, {"name": "SGHMC", "step_size": 1e-9}, 3)
    assert asked == [0, 0, 0, 0, 1, 2, 3], "once to compile, once for each chain's momentum, then for the steps"


@pytest.mark.slow
def test_threads_that_are_started_later_are_as_many_as_before(always):
    """Networks do not go through `chains_on_cores`, which would put it right."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        run(Quadratic(torch.ones(GROUP)), {"name": "SGLD", "step_size": 1e-3}, 3, n_beta=10.0)
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(torch.get_num_threads).result() == torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


class Remembers(Quadratic):
    """Keeps its last answer as long as it is given the same tensor, and asks for gradients on it."""

    last = None

    def excess_loss_and_grad(self, delta, batch=None):
        if self.last is None or self.last[0] is not delta:
            delta.requires_grad_()
            self.last = delta, super().excess_loss_and_grad(delta.detach(), batch)
        return self.last[1]


@pytest.mark.slow
def test_a_potential_may_remember_what_it_was_given(always):
    ends = []
    for kind in (Quadratic, Remembers):
        problem = kind(torch.ones(GROUP))
        ends.append(run(problem, {"name": "SGHMC", "step_size": 1e-3}, 10, n_beta=10.0).displacements)
    np.testing.assert_array_equal(*ends)


@pytest.mark.parametrize("threads", [1, 3])
def test_numbers_depend_neither_on_blocks_nor_on_threads(always, network, threads):
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        found = run(network, {"name": "SGHMC", "step_size": 1e-9}, 20, (1, 6)).displacements
    finally:
        torch.set_num_threads(before)
    np.testing.assert_array_equal(found, run(network, {"name": "SGHMC", "step_size": 1e-9}, 20).displacements)


@pytest.mark.slow
def test_a_state_that_was_looked_at_is_a_copy(always, network):
    current = run(network, {"name": "SGLD", "step_size": 1e-9}, 20, (5,))
    current = Run(current.config, network)
    current.advance(5)
    seen = current.state["delta"]
    kept = seen.clone()
    current.advance(5)
    assert torch.equal(seen, kept) and not torch.equal(seen, current.state["delta"])


CURVATURE, N_BETA, LOCALIZATION, DIM, CHAINS, STEPS = 1.0, 50.0, 3.0, 2 * GROUP + 37, 4, 400


def error_in_standard_errors(sampler: dict, fraction: float) -> float:
    """λ̂ of a quadratic against its exact distribution at this step size; D independent parameters make the standard error small."""
    top = torch.tensor([[N_BETA * CURVATURE + LOCALIZATION]])
    limit = float(build(sampler).stable_step(top, hyperparameters(build(sampler), 1, FLOAT)))
    sampler = build({**sampler, "step_size": fraction * limit})
    variance = linear_map(sampler, N_BETA, LOCALIZATION).variance
    exact = N_BETA * CURVATURE * variance * DIM / 2
    found = estimate(
        Quadratic(torch.full((DIM,), CURVATURE)), sampler, chains=CHAINS, steps=STEPS, n_beta=N_BETA,
        localization=LOCALIZATION, seed=4, dtype="float32",
    )  # fmt: skip
    # At each step Σδ² has relative standard deviation √(2/D), and it is forgotten within some 2/fraction steps.
    independent = CHAINS * STEPS / 2 * fraction / 2
    return (found.llc - exact) / (exact * math.sqrt(2 / DIM / independent))


LAWS = [
    ({"name": "SGLD"}, 0.3),
    ({"name": "SGHMC"}, 0.2),
    ({"name": "UnderdampedLangevin", "mass": "unit", "friction": 10.0}, 0.3),
]


@pytest.mark.parametrize("sampler, fraction", few(LAWS, 2, unpack=True, rare=False))
def test_the_law_is_the_exact_one(always, sampler, fraction):
    assert abs(error_in_standard_errors(sampler, fraction)) < 4


def test_noise_that_comes_twice_is_seen(always, monkeypatch):
    """What the comparison above is worth: every second step has the noise of the one before."""
    words = module.words_of
    monkeypatch.setattr(module, "words_of", lambda seed, step, row, field=0: words(seed, step // 2, row, field))
    assert abs(error_in_standard_errors({"name": "SGLD"}, 0.3)) > 40
