"""Chains through numpy's products, one by one or stacked, and batches that keep their moments: other ways to the same."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest
import torch
from rounding import condition, likely, passes

from llc_core import DeepLinearNetwork, RunConfig
from llc_core.compute.cores import over_chains
from llc_core.compute.matrices import openblas, single_threaded
from llc_core.engine import target as turning
from llc_core.engine.run import Run
from llc_core.groups import Groups
from llc_core.potentials.deep_linear import data as dln_data
from llc_core.potentials.deep_linear import tensors as dln_tensors
from llc_core.potentials.deep_linear.cut import cut_of, multiplications
from llc_core.potentials.deep_linear.numpy_chains import NumpyAllChains, NumpyChain, NumpyCutChain

WIDTHS = {
    "whole": ([30, 50, 60, 40, 45], [30, 30, 25, 20], 0),
    "cut in the middle": ([50, 40, 60, 20, 45, 50], [30, 30, 15, 20, 20], 3),
    "cut after the first layer": ([60, 12, 40, 50], [12, 10, 8], 1),
    "cut before the last layer": ([50, 40, 60, 12, 60], [35, 30, 10, 9], 3),
}
"""Widths, ranks, and where the network is cut in two."""


@pytest.fixture
def numpy_preferred(monkeypatch):
    """Whatever the machine's own choice is."""
    monkeypatch.setattr(dln_tensors, "prefers_numpy", lambda: True)
    monkeypatch.setattr(turning, "prefers_numpy", lambda: True)


@pytest.fixture(params=WIDTHS)
def lane(numpy_preferred, request):
    widths, ranks, cut = WIDTHS[request.param]
    assert cut_of(widths) == cut
    return DeepLinearNetwork.random(widths=widths, layer_ranks=ranks, n=4000, seed=3)


@pytest.fixture(params=[[12, 9, 14, 11], [7, 5]], ids=["three layers", "one layer"])
def small(numpy_preferred, request):
    return DeepLinearNetwork.random(widths=request.param, n=4000, seed=3)


def both(network, delta, batch):
    grad = torch.empty_like(delta)
    loss = network._evaluate(delta, batch, grad)
    wanted = (
        NumpyAllChains
        if max(network.widths) < dln_tensors.STACKED_BELOW
        else NumpyCutChain
        if cut_of(network.widths)
        else NumpyChain
    )
    assert isinstance(network._tensors(delta).by_numpy, wanted)
    return (loss, grad), network.excess_loss_and_grad(delta, batch)


@pytest.mark.parametrize("gradient", ["full", "minibatch", "control_variate"])
@pytest.mark.parametrize("size", [1e-5, 1e-3, 0.3])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_lane_equals_the_plain_evaluation(lane, gradient, size, dtype):
    compare(lane, gradient, size, dtype)


@pytest.mark.parametrize("gradient", ["full", "minibatch", "control_variate"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_stack_equals_the_plain_evaluation(small, gradient, dtype):
    compare(small, gradient, 1e-3, dtype)


@pytest.mark.parametrize("gradient", ["full", "minibatch", "control_variate"])
@pytest.mark.parametrize("size", [1e-6, 1e-3, 0.3])
def test_a_network_cut_in_two_is_the_whole_one(lane, gradient, size, monkeypatch):
    """Against the evaluation without a cut, by the same data; both by torch."""
    if not cut_of(lane.widths):
        pytest.skip("this one is not cut")
    delta = size * torch.randn(6, lane.dim, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    batch = None if gradient == "full" else lane.draw(torch.Generator().manual_seed(2), 3, 250, gradient, delta.dtype)
    results = []
    for cut in (cut_of(lane.widths), 0):
        on = lane._tensors(delta)
        on.cut = cut
        on.__dict__.pop("halves", None)
        grad = torch.full_like(delta, torch.nan)
        results.append((lane._evaluate(delta, batch, grad), grad))
        assert (on.halves is None) == (cut == 0)
    (loss, grad), (whole_loss, whole_grad) = results
    torch.testing.assert_close(grad, whole_grad, rtol=0, atol=1e-10 * float(whole_grad.abs().max()))
    torch.testing.assert_close(loss, whole_loss, rtol=1e-8, atol=0)


def test_where_a_network_is_cut():
    assert cut_of([50, 40]) == cut_of([50, 40, 50]) == 0
    assert cut_of([400] * 7) == 0
    assert cut_of([100, 5, 100]) == 0, "as many multiplications either way"
    assert cut_of([100, 90, 5, 90, 100]) == 2
    # By hand. Whole: four products with 100 columns in every layer but the first. Cut: four with 5 columns in the outer
    # layers, and U·V, its change from w0, and the two ways back. Both: the moments.
    assert multiplications([100, 90, 5, 90, 100], 0) == 4 * (450 + 450 + 9000) * 100 + 100**3
    assert multiplications([100, 90, 5, 90, 100], 2) == 4 * (9000 + 9000 + 100 * 100) * 5 + 100**3


def compare(network, gradient, size, dtype):
    generator = torch.Generator().manual_seed(1)
    delta = size * torch.randn(6, network.dim, generator=generator, dtype=dtype)
    batch = None if gradient == "full" else network.draw(generator, 3, 250, gradient, dtype)
    (loss, grad), (ours, our_grad) = both(network, delta, batch)
    number = passes(network)
    at = condition(network, delta, batch, getattr(network._tensors(delta).by_numpy, "safe", math.inf))
    assert ((our_grad - grad).abs().amax(1) / grad.abs().amax(1) <= likely(number.gradient, dtype) * at.gradient).all()
    assert ((ours / loss - 1).abs() <= likely(number.loss, dtype) * at.loss).all()


def test_small_differences_are_propagated_and_not_subtracted(lane):
    """At 1e-7 of the weights, a subtraction in single precision has lost most digits; the propagation none."""
    direction = torch.randn(2, lane.dim, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    delta = 1e-7 * direction
    exact = lane._evaluate(delta, None, torch.empty_like(direction))
    bound = likely(passes(lane).loss, torch.float32) * condition(lane, delta).loss
    loss, _ = lane.excess_loss_and_grad(delta.float(), None)
    assert ((loss.double() / exact - 1).abs() <= bound).all()
    on = lane._tensors(torch.empty(0))
    on.by_numpy.safe = 0.0  # always subtract
    subtracted, _ = lane.excess_loss_and_grad(delta.float(), None)
    assert ((subtracted.double() / exact - 1).abs() > 10 * bound).all()


def test_numbers_do_not_depend_on_the_number_of_threads(lane):
    def found(threads):
        before = torch.get_num_threads()
        torch.set_num_threads(threads)
        try:
            sampler = {"name": "SGLD", "step_size": 1e-9}
            current = Run(RunConfig(sampler=sampler, gradient="minibatch", chains=5, steps=20, seed=2), lane)
            current.advance(20)
            return current.displacements
        finally:
            torch.set_num_threads(before)

    np.testing.assert_array_equal(found(1), found(3))


@pytest.mark.parametrize("transpose", [False, True])
def test_coordinates_turn_alike_by_numpy_and_torch(small, transpose):
    delta = torch.randn(5, small.dim, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    one = torch.ones(5, 1, dtype=torch.float64)
    coordinates = turning.KroneckerCoordinates(small.kronecker_factors(delta), 1e4 * one, one, Groups(1, 5, 1), delta)
    assert coordinates._arrays
    turned = coordinates._rotate(delta, transpose)
    coordinates._arrays = []
    torch.testing.assert_close(turned, coordinates._rotate(delta, transpose), rtol=1e-12, atol=1e-12)


def test_a_chain_that_overflows_leaves_the_others_alone(lane):
    delta = 1e-3 * torch.randn(3, lane.dim, generator=torch.Generator().manual_seed(0))
    alone, _ = lane.excess_loss_and_grad(delta[2:], None)
    delta[1] = float("nan")
    loss, grad = lane.excess_loss_and_grad(delta, None)
    assert torch.isnan(loss[1]) and torch.equal(loss[2:], alone)
    assert torch.isfinite(grad[[0, 2]]).all()


@pytest.mark.parametrize("copy", [copy.deepcopy, lambda network: pickle.loads(pickle.dumps(network))])
def test_a_network_that_was_evaluated_can_be_copied(lane, copy):
    delta = 1e-3 * torch.randn(2, lane.dim, generator=torch.Generator().manual_seed(0))
    loss, _ = lane.excess_loss_and_grad(delta, None)
    torch.testing.assert_close(copy(lane).excess_loss_and_grad(delta, None)[0], loss)


def test_an_error_in_a_worker_is_raised():
    def work(chains):
        if 3 in chains:
            raise ZeroDivisionError

    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with pytest.raises(ZeroDivisionError):
            over_chains(4, work)
    finally:
        torch.set_num_threads(before)


def test_openblas_gets_its_threads_back():
    library = openblas()
    if library is None:
        pytest.skip("numpy has no OpenBLAS here")
    before = library.get_num_threads()
    library.set_num_threads(2)
    try:
        with single_threaded():
            with single_threaded():
                assert library.get_num_threads() == 1
            assert library.get_num_threads() == 1
        assert library.get_num_threads() == 2
    finally:
        library.set_num_threads(before)


@pytest.mark.parametrize(("n", "size"), [(1000, 100), (1000, 120), (600, 250)])
def test_kept_batches_hold_every_row_equally_often(n, size):
    """The mean over all batches is then the mean over all data: gradients are unbiased."""
    network = DeepLinearNetwork.random(widths=[6, 4, 5], n=n, seed=0)
    kept = network.data.kept(torch.device("cpu"), torch.float64, size)
    kept._learn(range(kept.count))
    torch.testing.assert_close(kept.sxx.mean(0), network.data.sxx, rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(kept.snx.mean(0), network.data.snx, rtol=1e-6, atol=1e-6)
    assert float(kept.baseline.mean()) == pytest.approx(network.baseline_loss, rel=1e-6)


def test_kept_batches_vary_as_random_ones_do(monkeypatch):
    """Variance of the gradient at w0 over kept batches against that over runs of rows from anywhere."""
    network = DeepLinearNetwork.random(widths=[6, 4, 5], n=200_000, seed=0)
    generator = torch.Generator().manual_seed(0)
    delta = torch.zeros(300, network.dim, dtype=torch.float64)

    def variance():
        batch = network.draw(generator, 300, 50, "minibatch", torch.float64)
        return float(network.excess_loss_and_grad(delta, batch)[1].var(dim=0).sum())

    kept = variance()
    network.data._kept.clear()
    monkeypatch.setattr(dln_data, "KEPT_NUMBERS", 0)
    assert network.data.kept(torch.device("cpu"), torch.float64, 50) is None
    assert kept == pytest.approx(variance(), rel=0.15)
