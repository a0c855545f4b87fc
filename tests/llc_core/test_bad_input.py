"""A thousand bad or odd inputs: each gives one clear sentence or a right result, and none hangs."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sentences import tells

from llc_core import (
    SGLD,
    DeepLinearNetwork,
    RunConfig,
    UnderdampedLangevin,
    estimate,
    learning_coefficient,
    local_learning_coefficient,
    nngp_kernel,
)
from llc_core.engine.run import Run
from llc_core.interactions import build as build_interaction
from llc_core.networks import build_model
from llc_core.networks.optimizers import build_optimizer
from llc_core.potentials import build as build_problem
from llc_core.potentials import price
from llc_core.samplers import build as build_sampler
from llc_core.samplers import samplers
from llc_core.sweeps import Store

ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.floats(allow_nan=True, allow_infinity=True),
    st.text(max_size=12),
    st.binary(max_size=4),
    st.just(Fraction(1, 3)),
    st.just(np.int64(4)),
    st.just(np.float32(2.5)),
    st.just(1j),
    st.lists(st.integers(-3, 9), max_size=4),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)
EACH = settings(max_examples=110, suppress_health_check=[HealthCheck.too_slow])


def tries(call):
    try:
        return call()
    except ValueError as error:
        tells(error)
        return None


@EACH
@given(st.one_of(ODD, st.lists(st.one_of(st.integers(1, 12), ODD), max_size=6)), st.one_of(st.integers(0, 12), ODD))
def test_learning_coefficient(widths, rank):
    result = tries(lambda: learning_coefficient(widths, rank))
    if result is not None:
        sizes = [int(h) for h in widths]
        assert 0 <= result.value <= Fraction(sum(a * b for a, b in zip(sizes, sizes[1:], strict=False)), 2)
        assert result.multiplicity >= 1


@EACH
@given(
    st.lists(st.integers(1, 5), min_size=2, max_size=4),
    st.one_of(ODD, st.lists(st.lists(st.one_of(st.integers(-1, 5), ODD), max_size=5), max_size=5)),
)
def test_local_learning_coefficient(widths, ranks):
    result = tries(lambda: local_learning_coefficient(widths, ranks))
    if result is not None:
        assert result.value >= learning_coefficient(widths, int(ranks[0][len(widths) - 1])).value


@EACH
@given(st.one_of(ODD, st.lists(st.one_of(st.integers(1, 9), ODD), max_size=5)), ODD, ODD)
def test_random_networks(widths, layer_ranks, seed):
    for ranks in (layer_ranks, None):
        problem = tries(lambda r=ranks: DeepLinearNetwork.random(widths=widths, layer_ranks=r, seed=seed))
        if problem is not None:
            assert problem.dim == sum(a * b for a, b in zip(problem.widths, problem.widths[1:], strict=False))


@EACH
@given(ODD, ODD, ODD)
def test_size_classes(size_class, ranks, seed):
    assert tries(lambda: DeepLinearNetwork.random(size_class, ranks, seed=seed)) is None


@EACH
@given(st.one_of(ODD, st.lists(st.one_of(ODD, st.lists(st.lists(ODD, max_size=3), max_size=3)), max_size=3)), ODD, ODD)
def test_given_weights(weights, n, noise_std):
    tries(lambda: DeepLinearNetwork(weights=weights))
    tries(lambda: DeepLinearNetwork(weights=[[[1.0]]], n=n, noise_std=noise_std))


@EACH
@given(st.sampled_from(sorted(samplers())), st.data())
def test_sampler_fields(name, data):
    cls = samplers()[name]
    field = data.draw(st.sampled_from(sorted(cls.__dataclass_fields__) + ["nonsense"]))
    value = data.draw(ODD)
    sampler = tries(lambda: build_sampler({"name": name, field: value}))
    if sampler is not None and isinstance(value, float):
        assert math.isfinite(value)
    tries(lambda: build_sampler(value))


@EACH
@given(st.sampled_from(sorted(RunConfig.__dataclass_fields__)), ODD)
def test_run_configurations(field, value):
    config = tries(lambda: RunConfig(**{field: value}))
    if config is not None:
        assert RunConfig.from_json(config.to_json()) == config
    tries(lambda: RunConfig.from_dict({field: value, "nonsense": 1}))


@EACH
@given(st.one_of(st.text(max_size=40), ODD))
def test_json(text):
    tries(lambda: RunConfig.from_json(text))
    tries(lambda: RunConfig.from_dict(text))
    tries(lambda: build_problem(text))
    tries(lambda: build_problem({"kind": text}))
    tries(lambda: build_problem({"kind": "dln", "widths": text}))


ARGUMENTS = {
    "chains": ODD,
    "steps": ODD,
    "burn_in": ODD,
    "gradient": ODD,
    "batch_size": ODD,
    "baseline": ODD,
    "n_beta": ODD,
    "localization": ODD,
    "grid": st.one_of(
        ODD, st.dictionaries(st.sampled_from(["step_size", "n_beta", "localization", "x"]), ODD, max_size=2)
    ),
    "seed": ODD,
    "device": ODD,
    "dtype": ODD,
    "sampler": ODD,
}


@EACH
@given(st.sampled_from(sorted(ARGUMENTS)), st.data())
def test_runs(argument, data):
    """A configuration that is accepted runs: a few steps of it, however odd, end in numbers or counted dead chains."""
    problem = PROBLEM
    value = data.draw(ARGUMENTS[argument])
    sensible = {"steps": 40, "chains": 2}

    def go():
        if argument == "sampler":
            return estimate(problem, value, **sensible)
        config = RunConfig(**{"problem": problem.to_dict(), **sensible, argument: value})
        if config.chains * (config.batch_size or 1) > 10**6:
            return None
        current = Run(config, problem)
        current.advance(20)
        return current.estimates()

    result = tries(go)
    assert result is None or result


PROBLEM = DeepLinearNetwork.random(widths=[3, 2], n=500, seed=0)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: learning_coefficient([5], 1), ["width"]),
        (lambda: learning_coefficient([5, 0, 5], 1), ["width", "0"]),
        (lambda: learning_coefficient([5, 4], 9), ["rank", "9"]),
        (lambda: DeepLinearNetwork.random("2K"), ["size_class", "2K", "1K"]),
        (lambda: DeepLinearNetwork.random(widths=[3, -2]), ["widths[1]", "-2"]),
        (lambda: DeepLinearNetwork.random(widths=[3, 2], layer_ranks=[3]), ["layer_ranks[0]", "3", "at most 2"]),
        (lambda: DeepLinearNetwork(weights=[[[1.0, 2.0]], [[1.0, 2.0]]]), ["weights[1]", "2 inputs"]),
        (lambda: SGLD(step_size=-1), ["SGLD.step_size", "-1"]),
        (lambda: SGLD(step_size=math.nan), ["SGLD.step_size", "nan"]),
        (lambda: UnderdampedLangevin(friction=math.inf), ["friction", "inf"]),
        (lambda: estimate(PROBLEM, chains=0), ["chains", "0"]),
        (lambda: estimate(PROBLEM, chains=100_000, steps=10, grid={"n_beta": list(range(1, 9000))}), ["GiB", "fewer"]),
        (lambda: estimate(PROBLEM, n_beta=1e39), ["n_beta", "1e+39"]),
        (lambda: estimate(PROBLEM, localization=1e39), ["localization", "1e+39"]),
        (lambda: PROBLEM.expected_llc(0), ["n_beta", "0"]),
        (lambda: estimate(PROBLEM, gradient="exact"), ["gradient", "exact", "minibatch"]),
        (lambda: estimate(PROBLEM, steps=10, burn_in=20), ["burn_in", "20"]),
        (lambda: estimate(PROBLEM, device="cuda:7"), ["device", "cuda:7"]),
        (lambda: estimate(PROBLEM, grid={"colour": [1]}), ["grid", "colour", "step_size"]),
        (lambda: estimate("network"), ["problem", "str"]),
        (lambda: RunConfig.from_json('{"stepz": 3}'), ["stepz", "known keys"]),
    ],
)
def test_the_sentence_names_field_value_and_remedy(call, words):
    with pytest.raises(ValueError) as caught:
        call()
    tells(caught.value)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_a_burn_in_fraction_of_any_real_type():
    assert RunConfig(burn_in=np.float32(0.5)).burn_in == 0.5
    assert RunConfig(burn_in=Fraction(1, 2)).burn_in == 0.5
    assert RunConfig(burn_in=7.0).burn_in == 7


def nested(depth: int) -> dict:
    found: dict = {}
    for _ in range(depth):
        found = {"a": found}
    return found


@pytest.mark.parametrize(
    "given",
    [
        {"grid": {"step_size": torch.tensor(1e-8)}},
        {"grid": {"step_size": torch.zeros(2, 2)}},
        {"grid": {"step_size": torch.empty(2, device="meta")}},
        {"grid": {"step_size": itertools.count(1)}},
        {"grid": {"x" * 100_000: 3}},
        {"seed": nested(50_000)},
        {"device": nested(50_000)},
        {"dtype": nested(50_000)},
        {"problem": {"kind": "dln", "widths": nested(50_000)}},
        {"chains": Decimal("sNaN")},
        {"observables": ["x" * 100_000] * 2},
        {"x" * 100_000: 1},
    ],
)
def test_configurations_of_odd_values_are_one_sentence(given):
    with pytest.raises(ValueError) as caught:
        RunConfig.from_dict(given)
    tells(caught.value)


@pytest.mark.parametrize("depth", [900, 5_000, 50_000])
def test_json_that_is_nested_deeply_is_one_sentence(depth):
    text = '{"seed": ' + "[" * depth + "]" * depth + "}"
    with pytest.raises(ValueError) as caught:
        RunConfig.from_json(text)
    tells(caught.value)


@pytest.mark.parametrize("one", [np.array(3), torch.tensor(3)], ids=["array", "tensor"])
@pytest.mark.parametrize(
    ("kind", "key"),
    [
        ("dln", "widths"),
        ("dln", "layer_ranks"),
        ("planar", "k"),
        ("planar", "at"),
        ("planar", "start"),
        ("surface", "exponents"),
    ],
)
def test_a_list_is_no_single_number(one, kind, key):
    """Arrays without a dimension have a length, which raises."""
    others = {"layer_ranks": {"widths": [3, 2]}, "widths": {}, "exponents": {"name": "sum"}}
    with pytest.raises(ValueError, match=f"{key} ") as caught:
        price({"kind": kind, **others.get(key, {"name": "normal_crossing"}), key: one})
    tells(caught.value)


@pytest.mark.parametrize(
    "make",
    [
        lambda: build_interaction({"name": "ReplicaExchange", "temperatures": np.array(3)}),
        lambda: price({"kind": "landscape", "expression": "x", "of": torch.ones(2)}),
        lambda: price({"kind": "planar", "name": torch.ones(2, 2)}),
        lambda: price({"kind": "surface", "name": []}),
        lambda: RunConfig(histogram={"x" * 100_000: 1}),
        lambda: build_optimizer({"name": []}),
        lambda: build_optimizer({"name": "Adam", "x" * 100_000: 1}),
        lambda: build_model({"kind": "mlp", "x" * 100_000: 1}),
        lambda: nngp_kernel([], [[0.0]], 1),
        lambda: Store("x" * 100_000, readonly=True),
        lambda: Store("x" * 100_000),
    ],
)
def test_descriptions_of_odd_values_are_one_sentence(make):
    with pytest.raises(ValueError) as caught:
        make()
    tells(caught.value)


def test_a_grid_of_a_tensor_is_its_numbers():
    assert RunConfig(grid={"n_beta": torch.tensor([2.0, 3.0])}).grid == {"n_beta": (2.0, 3.0)}


@pytest.mark.parametrize("device", ["x" * 100_000, "cpu:" + "9" * 100_000])
def test_long_devices_are_not_echoed_whole(device):
    with pytest.raises(ValueError) as caught:
        estimate(DeepLinearNetwork.random(widths=[3, 2]), steps=10, device=device)
    tells(caught.value)
