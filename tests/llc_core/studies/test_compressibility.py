"""Compression of networks: what is thrown away is what is said, and the loss is that of the weights that are left."""

from __future__ import annotations

import holoviews as hv
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sentences import tells
from small_networks import classifier

from llc_core import DeepLinearNetwork, compressibility, landscape
from llc_core.studies.compressibility import Compressibility, Curve, of_rank, rounded, thinned

MATRICES = st.tuples(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 6)).map(
    lambda given: torch.randn(given[1:], dtype=torch.float64, generator=torch.Generator().manual_seed(given[0]))
)


@given(MATRICES, st.integers(2, 12))
def test_rounding_keeps_to_a_grid_of_so_many_values_and_moves_by_half_a_step(w, bits):
    step = w.abs().max() / (2 ** (bits - 1) - 1)
    found = rounded(w, bits)
    places = (found / step).round()
    torch.testing.assert_close(places * step, found)
    assert int(places.max() - places.min()) < 2**bits - 1 and (found - w).abs().max() <= step / 2 * (1 + 1e-9)
    assert torch.equal(rounded(torch.zeros_like(w), bits), torch.zeros_like(w))


@given(MATRICES, st.integers(0, 7))
def test_a_rank_leaves_the_smaller_singular_values_behind(w, rank):
    found = of_rank(w, rank)
    s = torch.linalg.svdvals(w)
    torch.testing.assert_close((found - w).square().sum(), s[rank:].square().sum(), atol=1e-12, rtol=1e-9)
    assert torch.linalg.matrix_rank(found, atol=1e-9) <= rank


@given(MATRICES, st.floats(0, 1))
def test_a_share_keeps_the_largest_weights(w, share):
    found = thinned(w, share)
    kept = found != 0
    assert kept.sum() == round(share * w.numel()) and torch.equal(found[kept], w[kept])
    assert not kept.any() or kept.all() or w[kept].abs().min() >= w[~kept].abs().max()


@pytest.mark.parametrize("problem", [DeepLinearNetwork.random(widths=[4, 3, 4], n=500, seed=1), classifier()])
def test_the_loss_is_that_of_the_weights_that_are_left(problem):
    found = compressibility(problem, bits=[8, 3], ranks=[1, 3], shares=[0.5, 1], llc=False)
    assert list(found.bits.settings) == [3, 8] and found.estimate is None
    w0 = problem.origin(torch.empty(0, dtype=torch.float64))
    sizes = [int(np.prod(shape)) for shape in problem.layers]
    there = torch.cat([rounded(w, 3) for w in torch.split(w0, sizes)])
    loss = problem.excess_loss_and_grad((there - w0)[None])[0]
    assert found.bits.loss[0] == pytest.approx(float(loss), rel=1e-9)
    assert found.shares.loss[-1] == pytest.approx(0, abs=1e-12), "all weights are kept"


def test_ranks_that_the_layers_have_cost_nothing():
    problem = DeepLinearNetwork.random(widths=[8, 6, 8], layer_ranks=[3, 3], n=1000, seed=2)
    found = compressibility(problem, bits=[16], shares=[1], llc=False, tolerance=1e-9)
    assert list(found.ranks.settings) == [1, 2, 3, 4, 5, 6] and found.critical_rank == 3
    assert found.exact == problem.local_learning_coefficient


def test_the_critical_setting_lies_on_a_line_of_the_logarithm():
    curve = Curve(np.array([2.0, 3.0, 4.0, 5.0]), np.array([1.0, 0.001, 0.1, 0.001]))
    assert curve.critical(0.01) == pytest.approx(4.5), (
        "the first of all that stay within it, and not an accident before"
    )
    assert curve.critical(2.0) == 2.0 and np.isnan(curve.critical(1e-4))
    assert Curve(np.array([2.0, 3.0]), np.array([1.0, -0.1])).critical(0.5) == 3.0


@pytest.mark.slow
def test_the_table_and_the_figure_have_what_was_found():
    found = compressibility(
        DeepLinearNetwork.random(widths=[4, 3, 4], n=500, seed=1), bits=[3, 5], shares=[0.5], steps=60
    )
    text = repr(found)
    assert f"λ̂ = {found.estimate.llc:.4g}" in text and "true local λ" in text
    assert len(found.rows()) == 2 + 3 + 1 and f"{found.bits.loss[0]:.3g}" in text
    first = next(each for each in found.plot().traverse(lambda each: each, [hv.Curve]) if type(each) is hv.Curve)
    np.testing.assert_allclose(first["y"], found.bits.loss)
    hv.render(found.plot(), backend="bokeh")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"problem": 3}, ["problem", "int"]),
        ({"problem": landscape("normal")}, ["problem", "weights"]),
        ({"bits": [1]}, ["bits", "1"]),
        ({"bits": []}, ["bits", "at least one"]),
        ({"bits": [3, 3]}, ["bits", "twice"]),
        ({"shares": [2]}, ["shares", "2"]),
        ({"tolerance": 0}, ["tolerance", "0"]),
    ],
)
def test_one_sentence(arguments, words):
    with pytest.raises(ValueError) as caught:
        compressibility(**{"problem": classifier(), "llc": False, **arguments})
    tells(caught.value)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_the_critical_rank_is_one_that_was_tried():
    ranks = Curve(np.array([1.0, 8.0, 16.0, 64.0]), np.array([0.5, 0.1, 0.011, 0.0]))
    for tolerance, least in ((0.6, 1.0), (0.2, 8.0), (0.05, 16.0), (0.01, 64.0)):
        assert Compressibility(ranks, ranks, ranks, tolerance, None, None).critical_rank == least
    assert np.isnan(
        Compressibility(ranks, Curve(ranks.settings[:3], ranks.loss[:3]), ranks, 0.01, None, None).critical_rank
    )
