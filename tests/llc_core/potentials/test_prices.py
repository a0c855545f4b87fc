"""What a described problem takes is said before any of it is made, and never less than is made then."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from llc_core import Potential, RunConfig, run
from llc_core.compute.cores import PerThread
from llc_core.potentials import build, price
from llc_core.potentials.deep_linear import data as dln_data
from llc_core.potentials.deep_linear import network as dln_network

NETWORKS = [
    {"widths": [1, 1]},
    {"widths": [4, 3, 4]},
    {"widths": [8, 6, 8], "layer_ranks": [3, 5]},
    {"widths": [20, 5], "ranks": "paper", "seed": 3},
    {"widths": [5, 20], "ranks": "equal"},
    {"widths": [30, 1, 30]},
    {"widths": [50, 12, 20]},
    {"widths": [3] * 60},
    {"widths": [60, 60, 60]},
    {"widths": [200, 3]},
    {"widths": [4, 3, 4], "n": 40},
    {"widths": [4, 3, 4], "n": 10**15},
    {"size_class": "1K", "seed": 2},
    {"widths": [6, 5, 6], "virtual": True, "n": 3000},
]


def arrays(thing: Any, seen: set[int]) -> Iterator[tuple[int, int]]:
    """Address and bytes of every array that an object holds, what threads keep for their steps left out."""
    if id(thing) in seen or isinstance(thing, PerThread | torch.Generator | type):
        return
    seen.add(id(thing))
    if isinstance(thing, torch.Tensor):
        yield thing.untyped_storage().data_ptr(), thing.untyped_storage().nbytes()
    elif isinstance(thing, np.ndarray):
        while isinstance(thing.base, np.ndarray):
            thing = thing.base
        yield thing.__array_interface__["data"][0], thing.nbytes
    elif isinstance(thing, dict):
        for value in thing.values():
            yield from arrays(value, seen)
    elif isinstance(thing, list | tuple):
        for value in thing:
            yield from arrays(value, seen)
    elif hasattr(thing, "__dict__"):
        yield from arrays(vars(thing), seen)


def held(problem: Potential) -> int:
    return sum(dict(arrays(problem, set())).values())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("gradient", ["full", "minibatch", "control_variate"])
@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: str(network)[:40])
def test_a_price_is_never_below_what_is_made(monkeypatch, network, gradient, dtype):
    monkeypatch.setattr(dln_data, "POOL_NUMBERS", 40_000)  # so that some of the data have fewer rows than samples
    description = {"kind": "dln", **network}
    settings: dict[str, Any] = {"gradient": gradient, "dtype": dtype, "batch_size": 20}
    found = price(description, **settings)
    problem = build(description)
    for _ in run(
        RunConfig(problem=problem.to_dict(), sampler={"name": "SGLD"}, chains=2, steps=20, **settings), problem
    ):
        pass
    problem.per_sample_loss(torch.zeros(1, problem.dim, dtype=getattr(torch, dtype)), 0, 5)
    assert problem.baseline_loss > 0 and problem.local_learning_coefficient is not None
    assert found.parameters == problem.dim
    pool = 0 if gradient != "full" else held_by_rows(problem)
    assert held(problem) - pool <= found.held <= found.peak


def held_by_rows(problem: Any) -> int:
    """What `per_sample_loss` keeps, which a run with full gradients alone does not ask for."""
    return sum(pool.untyped_storage().nbytes() for pool in problem.data._pools.values())


@pytest.mark.parametrize("k", [[1, 1], [2]])
def test_a_planar_price_is_never_below_what_is_made(k):
    description = {"kind": "planar", "name": "normal_crossing", "k": k, "n": 5000, "data_sets": 3}
    found, problem = price(description), build(description)
    assert problem.baseline_loss > 0
    assert found.parameters == problem.dim and held(problem) <= found.held <= found.peak


@pytest.mark.parametrize(
    "target",
    [
        {"name": "normal"},
        {"points": [[-1, 0.5], [0, 1], [1, 0.5]]},
        {"expression": "exp(-x^4/4)", "of": "density"},
    ],
    ids=str,
)
def test_a_price_on_the_line_is_never_below_what_is_made(target):
    description = {"kind": "landscape", **target}
    found, problem = price(description), build(description)
    problem.quantile(0.5)
    assert found.parameters == 1 and held(problem) <= found.held <= found.peak


def test_a_family_costs_what_its_members_do():
    member = {"kind": "dln", "widths": [4, 3, 4]}
    one, three = price(member), price({"kind": "dln_family", "networks": [member] * 3})
    assert (three.parameters, three.held, three.peak) == (3 * one.parameters, 3 * one.held, 3 * one.peak)


def nothing_is_made(*given: Any, **named: Any) -> Any:
    pytest.fail("a price made what it prices")


@pytest.mark.parametrize(
    ("widths", "gradient", "least"),
    [
        ([12_000, 5_000], "full", 16 * 60_000_000),
        ([1_000_000, 2_000], "full", 16 * 2_000_000_000),
        ([190_000, 1], "full", 8 * 190_000**2),
        ([1, 190_000], "minibatch", 200 * 2**20),
        ([3] * 1001, "full", 40 * 1001**2),
    ],
    ids=lambda value: str(value)[:30],
)
def test_large_networks_are_priced_without_being_made(monkeypatch, widths, gradient, least):
    monkeypatch.setattr(dln_network, "draw_network", nothing_is_made)
    monkeypatch.setattr(dln_network.DeepLinearNetwork, "__init__", nothing_is_made)
    assert price({"kind": "dln", "widths": widths}, gradient=gradient).held >= least


@pytest.mark.parametrize(
    ("description", "words"),
    [
        ("dln", "^problem must be a mapping"),
        ({"kind": "object"}, "exists only as an object"),
        ({"kind": "x" * 10**5}, "^Unknown problem kind 'xxx"),
        ({"kind": "dln"}, "^Give either size_class"),
        ({"kind": "dln", "widths": [4, 4], "size_class": "1K"}, "^Give either size_class"),
        ({"kind": "dln", "widths": [3] * 5000}, "^widths has 5000 entries"),
        ({"kind": "dln", "widths": [4, "x" * 10**5]}, r"^widths\[1\] must be a number"),
        ({"kind": "dln", "widths": [10**6, 10**6]}, "^widths make 1000000000000 parameters"),
        ({"kind": "dln", "widths": [4, 4], "layer_ranks": [1, 1]}, "^layer_ranks has 2 entries"),
        ({"kind": "dln", "widths": [4, 4], "layer_ranks": [9]}, r"^layer_ranks\[0\] is 9; it must be at most 4"),
        ({"kind": "dln", "widths": [4, 4], "layer_ranks": "full"}, "^layer_ranks must be a list"),
        ({"kind": "dln", "size_class": "1G"}, "^size_class is '1G'; choose one of"),
        ({"kind": "dln", "size_class": "1K", "ranks": "low"}, "^ranks is 'low'; choose one of"),
        ({"kind": "dln", "widths": [4, 4], "n": 10**16}, "^n is 10000000000000000; it must be at most"),
        ({"kind": "dln", "widths": [4, 4], "noise_std": -1}, "^noise_std is -1"),
        ({"kind": "dln", "widths": [4, 4], "seed": -1}, "^seed is -1"),
        ({"kind": "dln", "widths": [4, 4], "virtual": 1}, "^virtual is 1"),
        ({"kind": "dln", "widths": [4, 4], "virtual": True, "n": 10**15}, "have at most .* rows"),
        ({"kind": "dln", "widths": [4, 4], "depth": 3}, "^Unknown key 'depth'"),
        ({"kind": "dln_family", "networks": []}, "'dln_family' has the key networks alone"),
        ({"kind": "planar", "name": "normal_crossing", "n": 10**15}, "^n is 1000000000000000; it must be at most"),
        ({"kind": "planar", "name": "normal_crossing", "n": 10**8, "data_sets": 9}, "^data_sets × n is"),
        ({"kind": "landscape", "expression": "x" * 10**5}, "^expression has 100000 characters"),
        ({"kind": "landscape", "points": [[0, 1]] * 10**5}, "^There are 100000 points"),
        ({"kind": "planar", "name": "normal_crossing", "k": [1] * 10**4}, "^k is .* give a list of one or two"),
        ({"kind": "planar", "name": "quadratic", "scales": "s" * 10**5}, "^scales is 's"),
        ({"kind": "planar", "name": "line_and_point", "start": "s" * 10**5}, "^start is 's"),
        ({"kind": "planar", "name": "n" * 10**5}, "^planar landscape is 'n"),
        ({"kind": "landscape", "name": "n" * 10**5}, "^landscape is 'n"),
        ({"kind": "landscape", "n" * 10**5: 1}, "^Unknown key 'n"),
        ({"kind": "landscape", "name": "flat"}, "^landscape is 'flat'"),
    ],
    ids=lambda value: str(value)[:50],
)
def test_a_malformed_description_is_refused_as_when_it_is_built(description, words):
    with pytest.raises(ValueError, match=words) as refused:
        price(description)
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 300
