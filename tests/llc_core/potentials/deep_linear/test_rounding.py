"""When single precision cannot hold a network's layers together: measured, named, and cured by float64."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from rounding import condition, likely, passes

from llc_core import DeepLinearNetwork, RunConfig
from llc_core.engine.run import Run
from llc_core.potentials import build


def far_along_the_orbit(problem: DeepLinearNetwork, size: float) -> np.ndarray:
    """w − w0 of the same function with the first layer `size` times as large and the second so much smaller."""
    first, second, *rest = problem.weights
    moves = [(size - 1) * first, (1 / size - 1) * second, *(np.zeros_like(w) for w in rest)]
    return np.concatenate([m.ravel() for m in moves])


@pytest.fixture(scope="module")
def network() -> DeepLinearNetwork:
    return DeepLinearNetwork.random(widths=[6, 5, 7, 4], n=100_000, seed=3)


@pytest.mark.parametrize("widths", [[6, 5, 7, 4], [60, 50, 20, 70, 55], [9, 8]])
def test_rounding_is_what_single_precision_is_off_by(widths):
    problem = DeepLinearNetwork.random(widths=widths, n=100_000, seed=3)
    generator = torch.Generator().manual_seed(0)
    delta = 0.3 * torch.randn(3, problem.dim, generator=generator)
    found = problem.rounding(delta)
    exact = problem.excess_loss_and_grad(delta.double())[0]
    assert found.dtype == torch.float64 and found.shape == (3,)
    assert torch.equal(found, (problem.excess_loss_and_grad(delta)[0].double() - exact).abs())
    assert (found <= likely(passes(problem).loss, torch.float32) * condition(problem, delta).loss * exact).all()
    assert problem.rounding(delta.double()) is None


def test_a_family_knows_it_of_each_of_its_networks():
    members = [DeepLinearNetwork.random(widths=[6, 5, 4], n=100_000, seed=s) for s in (1, 2)]
    family = build({"kind": "dln_family", "networks": [m.to_dict() for m in members]})
    moves = [np.float32(far_along_the_orbit(m, size)) for m, size in zip(members, (1e5, 1e4), strict=True)]
    delta = torch.from_numpy(np.repeat(moves, 2, axis=0))
    seen = family.excess_loss_and_grad(delta)[0].double().numpy()
    true = np.repeat([by_hand(m, move) for m, move in zip(members, moves, strict=True)], 2)
    found = family.rounding(delta).numpy()
    np.testing.assert_allclose(found, np.abs(seen - true), rtol=1e-3)
    assert found[0] == found[1] > 10 * found[2] > 0


def by_hand(problem: DeepLinearNetwork, delta: np.ndarray) -> float:
    """ΔL from the product of the weights, in float64."""
    moved, product, at = np.eye(problem.widths[0]), np.eye(problem.widths[0]), 0
    for w in problem.weights:
        moved = (w + delta[at : at + w.size].astype(np.float64).reshape(w.shape)) @ moved
        product, at = w @ product, at + w.size
    off = moved - product
    return float(np.sum((off @ problem.data.sxx.numpy() - 2 * problem.data.snx.numpy()) * off))


def kept_where_it_began(problem: DeepLinearNetwork, dtype: str) -> Run:
    """Steps of size 0: what is seen is the loss of the place alone."""
    sampler = {"name": "SGLD", "step_size": 1e-14}
    config = RunConfig(sampler=sampler, gradient="full", steps=64, burn_in=0, chains=2, dtype=dtype)
    current = Run(config, problem)
    current._step_size.current.zero_()
    current.advance(64)
    return current


@pytest.mark.parametrize("dtype, named", [("float32", True), ("float64", False)])
def test_the_verdict_names_it_and_float64_cures_it(network, dtype, named):
    problem = DeepLinearNetwork(network.weights, n=100_000, seed=3)
    problem.start = far_along_the_orbit(problem, 1e5)
    found = kept_where_it_began(problem, dtype).estimates()[0]
    assert ("Rounding" in found.converged.reason) is named, found.converged
    if named:
        true = problem.n_beta * by_hand(problem, np.float32(problem.start))
        assert found.diagnostics["rounding"] == pytest.approx(abs(found.llc - true), rel=0.05)
        assert "float64" in found.converged.remedy
    else:
        assert found.diagnostics["rounding"] == 0 and abs(found.llc) < 1e-6, "the function is that of w0"


@pytest.mark.slow
def test_a_usual_run_is_not_accused(network):
    current = Run(RunConfig(steps=400, seed=1), network)
    current.advance(400)
    found = current.estimates()[0]
    assert 0 < found.diagnostics["rounding"] < 1e-3 * found.llc


def test_a_lost_chain_does_not_speak_for_the_others(network):
    config = RunConfig(sampler={"name": "SGLD", "step_size": 1e-9}, gradient="full", steps=64, burn_in=0, chains=4)
    current = Run(config, network)
    with current._mode():
        current._state["delta"][1] = torch.inf
    current.advance(64)
    found = current.estimates()[0]
    assert found.diverged == 1 and found.diagnostics["rounding"] < 1e-3 * found.llc
