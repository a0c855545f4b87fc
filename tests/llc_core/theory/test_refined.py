"""Coefficients of some layers alone, and of inputs in a subspace, against Jacobians and against networks that are cut by hand."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sentences import tells

from llc_core import DeepLinearNetwork
from llc_core.theory.coefficients import local_learning_coefficient
from llc_core.theory.rank_tables import numerical_rank_table
from llc_core.theory.refined import refined_learning_coefficient

SEEDS = st.integers(0, 10**6)


def network(seed: int, depth: int | None = None) -> DeepLinearNetwork:
    """Random widths from 1 to 5, each layer of a random rank from 0 on."""
    random = np.random.default_rng(seed)
    widths = random.integers(1, 6, (depth or int(random.integers(1, 5))) + 1)
    layers = []
    for before, after in zip(widths, widths[1:], strict=False):
        rank = int(random.integers(0, min(before, after) + 1))
        layers.append(random.standard_normal((after, rank)) @ random.standard_normal((rank, before)))
    return DeepLinearNetwork(layers, n=1000, seed=seed)


def product(layers: list[np.ndarray], size: int) -> np.ndarray:
    return reduce(lambda below, w: w @ below, layers, np.eye(size))


@given(SEEDS, st.booleans())
@settings(max_examples=60)
def test_one_layer_alone_is_half_the_rank_of_its_jacobian(seed, on_subspace):
    problem, random = network(seed), np.random.default_rng(seed + 1)
    inputs = random.standard_normal((int(random.integers(1, 7)), problem.widths[0])) if on_subspace else None
    x = torch.eye(problem.widths[0], dtype=torch.float64) if inputs is None else torch.from_numpy(inputs.T)
    layers = [torch.from_numpy(w) for w in problem.weights]
    for layer, w in enumerate(layers):

        def outputs(moving, layer=layer):
            return reduce(lambda below, each: each @ below, [*layers[:layer], moving, *layers[layer + 1 :]], x)

        jacobian = torch.autograd.functional.jacobian(outputs, w).reshape(-1, w.numel())
        found = problem.refined(layer, inputs)
        assert 2 * found.value == np.linalg.matrix_rank(jacobian.numpy(), tol=1e-9) and found.multiplicity == 1


@given(SEEDS, st.data())
@settings(max_examples=60)
def test_several_layers_are_the_network_that_is_cut_down_to_what_they_see(seed, data):
    """Each standing product F = U·Vᵀ of rank f; a moving layer becomes Vᵀ(after)·W·U(before)."""
    problem = network(seed)
    depth = len(problem.weights)
    moving = sorted(data.draw(st.sets(st.integers(0, depth - 1), min_size=1)))
    ends = zip([0, *(m + 1 for m in moving)], [*moving, depth], strict=True)
    halves = []
    for first, last in ends:
        left, values, right = np.linalg.svd(product(problem.weights[first:last], problem.widths[first]))
        rank = int((values > 1e-9).sum())
        halves.append((left[:, :rank] * values[:rank], right[:rank]))
    found = problem.refined(moving)
    if min(len(right) for _, right in halves) == 0:
        assert found.value == 0
        return
    cut = [halves[k + 1][1] @ problem.weights[m] @ halves[k][0] for k, m in enumerate(moving)]
    widths = [cut[0].shape[1], *(w.shape[0] for w in cut)]
    expected = local_learning_coefficient(widths, numerical_rank_table(cut, 1e-8))
    assert (found.value, found.multiplicity) == (expected.value, expected.multiplicity)


@given(SEEDS)
@settings(max_examples=30)
def test_all_layers_and_all_directions_are_the_local_coefficient(seed):
    problem = network(seed)
    whole = problem.local_learning_coefficient
    assert problem.refined() == whole == problem.refined(inputs=np.eye(problem.widths[0]))
    assert refined_learning_coefficient(problem.rank_table, range(len(problem.weights))) == whole


def test_ten_four_ten_of_rank_two():
    """Ten times two directions each, whichever layer moves; on three inputs two times ten still see the upper one."""
    problem = DeepLinearNetwork.random(widths=[10, 4, 10], layer_ranks=[2, 2], seed=1)
    three = np.random.default_rng(0).standard_normal((3, 10))
    assert [problem.refined(layer).value for layer in (0, 1)] == [10, 10]
    assert [problem.refined(layer, three).value for layer in (0, 1)] == [3, 10]
    assert [problem.refined(layer, three[:1]).value for layer in (0, 1)] == [1, 5]


def test_more_rows_than_inputs_and_rows_in_single_precision_span_what_they_span():
    problem = DeepLinearNetwork.random(widths=[6, 4, 5], seed=2)
    random = np.random.default_rng(3)
    rows = random.standard_normal((50, 2)) @ random.standard_normal((2, 6))
    assert [problem.refined(0, each).value for each in (rows, rows.astype(np.float32), torch.tensor(rows).float())] == [
        4
    ] * 3


def test_a_moved_network_keeps_the_answer_of_its_teacher():
    problem = DeepLinearNetwork.random(widths=[4, 3, 4], layer_ranks=[2, 2], seed=4)
    moved = problem.moved(torch.full((problem.dim,), 0.1, dtype=torch.float64))
    for inputs in (None, np.eye(4)[:1]):
        assert moved.refined(1, inputs) == problem.refined(1, inputs)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"layer": 2}, ["layer", "2"]),
        ({"layer": "0"}, ["layer"]),
        ({"layer": []}, ["layer", "0 to 1"]),
        ({"inputs": np.ones((2, 3))}, ["inputs", "(2, 3)", "4"]),
        ({"inputs": np.ones(4)}, ["inputs", "(4,)"]),
        ({"inputs": np.full((1, 4), np.nan)}, ["inputs", "nan"]),
        ({"inputs": [["a", "b", "c", "d"]]}, ["inputs", "numbers"]),
    ],
)
def test_one_sentence(arguments, words):
    with pytest.raises(ValueError) as caught:
        DeepLinearNetwork.random(widths=[4, 3, 4], seed=0).refined(**arguments)
    tells(caught.value)
    assert all(word in str(caught.value) for word in words), str(caught.value)
