"""λ̂ of parts × data × checkpoints: each is the estimate that it would be alone, and on linear networks it is the known one."""

from __future__ import annotations

import json
import math

import holoviews as hv
import numpy as np
import pytest
import torch
from sentences import tells
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from llc_core import DeepLinearNetwork, NetworkPotential, estimate, refined
from llc_core.networks import Split, build_model, named_parts, synthetic_text, train
from llc_core.studies.refined import linear_module, linear_rows

torch.manual_seed(0)
X = torch.randn(60, 4)
Y = (X[:, 0] > 0).long()
DATA = Split("rows", X, Y, X, Y)
QUICK = {"sampler": "SGLD", "chains": 2, "steps": 60, "localization": 10.0}


def net() -> nn.Module:
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2))


def ready() -> NetworkPotential:
    return NetworkPotential(net(), "cross_entropy", (X, Y), parameters="2.*")


@pytest.fixture(scope="module")
def training():
    return train(net(), DATA, steps=20, checkpoints=[0], batch_size=20)


@pytest.fixture(scope="module")
def over(training):
    return refined(net(), "layers", {"all": DATA, "half": (X[:30], Y[:30])}, training, **QUICK)


@pytest.mark.slow
def test_every_estimate_is_what_it_is_alone(over, training):
    assert (over.parts, over.datasets, over.steps) == (["layer:0", "layer:2"], ["all", "half"], [0, 20])
    model = net()
    model.load_state_dict(training.checkpoints[1].state)
    alone = NetworkPotential(model, "cross_entropy", (X[:30], Y[:30]), parameters="2.*")
    assert over["layer:2", "half", 20].llc == estimate(alone, progress=False, **QUICK).llc


@pytest.mark.slow
def test_a_ready_potential_is_restricted_and_keeps_what_it_has():
    some = torch.arange(12).view(3, 4) < 5
    ready = NetworkPotential(net(), "cross_entropy", (X, Y), parameters={"0.weight": some, "2.weight": True})
    half = NetworkPotential(net(), "cross_entropy", (X[:30], Y[:30]))
    found = refined(ready, "layers", {"own": None, "half": (X[:30], Y[:30]), "other": half}, **QUICK)
    assert {(key[:2]): e.dim for key, e in found.estimates.items()} == {
        ("layer:0", "own"): 5,
        ("layer:2", "own"): 6,
        ("layer:0", "half"): 5,
        ("layer:2", "half"): 6,
        ("layer:0", "other"): 12,
        ("layer:2", "other"): 6,
    }
    assert found["layer:2", "half", None].llc == found["layer:2", "other", None].llc  # the same rows, and the same n
    first = NetworkPotential(net(), "cross_entropy", (X, Y), parameters={"0.weight": some})
    assert found["layer:0", "own", None].llc == estimate(first, progress=False, **QUICK).llc
    assert list(refined(ready, "all", **QUICK).estimates) == [("all", "its data", None)]


def test_the_table_and_the_dictionary(over):
    text = repr(over).splitlines()
    assert len(text) == 1 + 8 == 1 + len(over) and text[0].split()[:5] == ["part", "data", "step", "dim", "λ̂"]
    assert f"{over['layer:0', 'all', 20].llc:.4g}" in text[2]
    found = json.loads(json.dumps(over.to_dict()))
    assert [row["llc"] for row in found["rows"]] == [each.llc for each in over.estimates.values()]
    assert found["rows"][0]["λ"] is None and len(found["estimates"]) == 8


@pytest.mark.slow
def test_a_heat_map_for_each_data_set_over_training_and_one_without(over):
    figure = over.plot()
    maps = [each for each in figure.traverse(lambda each: each, [hv.HeatMap]) if type(each) is hv.HeatMap]
    assert len(maps) == 2
    for data, drawn in zip(over.datasets, maps, strict=True):
        shown = {(y, x): value for x, y, value in zip(*(drawn.dimension_values(k) for k in range(3)), strict=True)}
        assert shown == {(part, str(step)): e.llc for (part, name, step), e in over.estimates.items() if name == data}
    hv.render(figure, backend="bokeh")
    hv.render(refined(net(), "all", {"a": DATA}, **QUICK).plot(), backend="bokeh")


def test_a_loader_is_read_once_for_all_parts():
    read = []

    class Counted(DataLoader):
        def __iter__(self):
            read.append(1)
            return super().__iter__()

    refined(net(), "layers", Counted(TensorDataset(X, Y), batch_size=20), **QUICK)
    assert len(read) == 1


@pytest.mark.slow
def test_heads_over_training():
    data = synthetic_text(sequences=24, length=6, vocabulary=5)
    model = build_model({"kind": "transformer", "vocabulary": 5, "length": 6, "dim": 8, "layers": 1, "heads": 2})
    training = train(model, data, steps=4, checkpoints=[0], batch_size=8)
    found = refined(model, "heads", data, training, **QUICK)
    assert (found.parts, found.steps) == (["head:0.0", "head:0.1"], [0, 4])
    masks = named_parts(model, "head:0.1")["head:0.1"]
    assert found["head:0.1", "its data", 4].dim == sum(int(mask.sum()) for mask in masks.values())


def test_few_rows_have_the_losses_of_all_rows():
    problem = DeepLinearNetwork.random(widths=[5, 3, 4], n=2000, seed=1)
    delta = 0.1 * torch.randn(6, problem.dim, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    twin = NetworkPotential(linear_module(problem), "squared_error", linear_rows(problem), n=problem.n)
    for mine, its in zip(twin.excess_loss_and_grad(delta), problem.excess_loss_and_grad(delta), strict=True):
        torch.testing.assert_close(mine, its, rtol=1e-9, atol=1e-9)
    one = np.ones((1, 5)) / math.sqrt(5)
    x, _ = linear_rows(problem, one)
    torch.testing.assert_close(x, x @ torch.from_numpy(one.T @ one))


@pytest.mark.slow
def test_layers_of_linear_networks_alone_are_the_expected_value():
    """Within 3%, or three errors: the posterior of one layer is normal, and its mean known at any n, nβ and γ."""
    problem = DeepLinearNetwork.random(widths=[5, 3, 4], layer_ranks=[3, 2], seed=0)
    found = refined(problem, datasets={"all": None, "two": np.eye(5)[:2]}, sampler="HMC", chains=8, steps=600)
    assert len(found) == 4
    for row in found.rows():
        assert abs(row["llc"] - row["expected"]) <= max(0.03 * row["expected"], 3 * row["llc_se"]), row
        assert row["confirmed"] and 0.9 * row["λ"] < row["expected"] < 1.02 * row["λ"]


@pytest.mark.rare
@pytest.mark.slow
def test_parts_of_a_ready_potential_are_the_known_coefficients():
    """As above, of a network that nothing was tried on, whose middle layer never moves."""
    problem = DeepLinearNetwork.random(widths=[4, 5, 3, 4], layer_ranks=[3, 3, 2], seed=11)
    module, x = linear_module(problem), np.eye(4)[:3]
    on = {
        name: NetworkPotential(
            module, "squared_error", linear_rows(problem, rows), n=problem.n, parameters=["0.*", "2.*"]
        )
        for name, rows in {"all": None, "three": x}.items()
    }
    found = refined(
        on["all"],
        {"first": "0.*", "last": "2.*"},
        {"all": None, "three": on["three"]},
        sampler="HMC",
        chains=8,
        steps=600,
    )
    for row in found.rows():
        exact = problem.refined(0 if row["part"] == "first" else 2, x if row["data"] == "three" else None)
        assert abs(row["llc"] - row["expected"]) <= max(0.03 * row["expected"], 3 * row["llc_se"]), row
        assert 0.9 * float(exact) < row["expected"] < 1.02 * float(exact), (row, exact)


def test_exact_values_stand_beside_whole_layers_only():
    problem = DeepLinearNetwork.random(widths=[4, 3, 4], seed=3)
    row = {"0.weight": torch.arange(12).view(3, 4) < 4}
    found = refined(problem, {"first": 0, "both": [0, 1], "row": row}, **QUICK)
    assert {part: exact for (part, _), exact in found.exact.items()} == {
        "first": problem.refined(0),
        "both": problem.local_learning_coefficient,
    }
    assert list(refined(problem, [1], **QUICK).exact) == [("layer:1", "its data")]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"model": 3}, ["model is a int", "DeepLinearNetwork"]),
        ({"model": net()}, ["datasets is missing"]),
        ({"model": net(), "datasets": {}}, ["datasets is empty"]),
        ({"model": DeepLinearNetwork([[[1.0]]], n=9), "checkpoints": []}, ["checkpoints", "one point"]),
        ({"model": ready(), "checkpoints": []}, ["checkpoints", "NetworkPotential", "one point"]),
        ({"model": ready(), "loss": "mse"}, ["loss is of a module"]),
        ({"model": ready(), "parts": "0.*"}, ["parts names '0.*'", "there are 2.weight, 2.bias"]),
        ({"model": ready(), "parts": "layer:0"}, ["parts names 'layer:0'", "there are 2"]),
        ({"model": ready(), "datasets": DeepLinearNetwork([[[1.0]]], n=9)}, ["datasets has a DeepLinearNetwork"]),
        ({"model": ready(), "datasets": (X[:, :3], Y)}, ["data[0] has the shape"]),
        ({"model": DeepLinearNetwork([[[1.0]]], n=9), "parts": 1}, ["parts is 1"]),
        ({"model": net(), "datasets": DATA, "checkpoints": []}, ["no checkpoints"]),
    ],
)
def test_one_sentence(arguments, words):
    with pytest.raises(ValueError) as caught:
        refined(**arguments)
    tells(caught.value)
    assert all(word in str(caught.value) for word in words), str(caught.value)
