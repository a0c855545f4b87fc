"""λ̂ over a training: from its record, from state_dicts in a list or by step, with one table at the end."""

from __future__ import annotations

import pytest
import torch
from sentences import tells
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from llc_core import estimate, llc_over_training
from llc_core.networks import Split, potential_at, train

torch.manual_seed(0)
X = torch.randn(60, 4)
Y = (X[:, 0] > 0).long()
DATA = Split("rows", X, Y, X, Y)
QUICK = {"sampler": "SGLD", "chains": 2, "steps": 60, "localization": 10.0}


def net() -> nn.Module:
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2))


@pytest.fixture(scope="module")
def training():
    return train(net(), DATA, steps=30, checkpoints=[0, 10], batch_size=20)


@pytest.mark.slow
def test_state_dicts_give_what_the_record_gives(training):
    states = {c.step: c.state for c in training.checkpoints}
    by_record = llc_over_training(net(), training, DATA, **QUICK)
    by_step = llc_over_training(net(), states, (X, Y), **QUICK)
    listed = llc_over_training(net(), list(states.values()), DataLoader(TensorDataset(X, Y), batch_size=7), **QUICK)
    assert list(by_record) == list(by_step) == [0, 10, 30] and list(listed) == [0, 1, 2]
    values = [[e.llc for e in found.values()] for found in (by_record, by_step, listed)]
    assert values[0] == values[1] == values[2]
    alone = estimate(potential_at(net(), states[10], (X, Y)), progress=False, **QUICK)
    assert alone.llc == values[0][1]


def test_the_table(training):
    found = llc_over_training(net(), training, DATA, **QUICK)
    rows = found.rows()
    assert [row["step"] for row in rows] == [0, 10, 30] and rows[2]["llc"] == found[30].llc
    assert rows[0]["loss"] == found[0].baseline_loss > rows[2]["loss"]
    text = repr(found).splitlines()
    assert len(text) == 4 and "λ̂" in text[0] and text[2].split()[0] == "10"
    assert f"{found[30].llc:.4g}" in text[3]


def test_singular_fluctuation_comes_from_the_same_chains(training):
    """Looking at the losses of single rows moves no chain, and the table has two columns more."""
    alone, watched = (llc_over_training(net(), training, DATA, **QUICK, functional_variance=k) for k in (None, 5))
    assert [e.llc for e in watched.values()] == [e.llc for e in alone.values()]
    assert all(row["singular_fluctuation"] > row["singular_fluctuation_se"] >= 0 for row in watched.rows())
    assert "ν̂" in repr(watched) and "ν̂" not in repr(alone)
    assert f"{watched[30].singular_fluctuation:.4g}" in repr(watched).splitlines()[3]


@pytest.mark.slow
@pytest.mark.long
def test_states_of_a_compiled_module_and_a_function_of_the_batch(training):
    states = [{f"_orig_mod.{k}": v for k, v in c.state.items()} for c in training.checkpoints]
    plain = llc_over_training(net(), training, DATA, **QUICK)
    found = llc_over_training(
        torch.compile(net()), states, (X, Y), loss_fn=lambda m, b: F.cross_entropy(m(b[0]), b[1]), **QUICK
    )
    for one, other in zip(found.values(), plain.values(), strict=True):
        assert one.llc == pytest.approx(other.llc, rel=1e-3), (
            "the same chains up to rounding, which grows over 60 steps"
        )


@pytest.mark.parametrize(
    ("training", "words"),
    [
        ([], ["no checkpoints"]),
        (net().state_dict(), ["one state_dict", "list"]),
        ([{"weight": torch.ones(1)}], ["does not fit", "Sequential"]),
        ([3], ["checkpoint", "int", "state_dict"]),
        (3, ["training", "int"]),
    ],
)
def test_one_sentence(training, words):
    with pytest.raises(ValueError) as caught:
        llc_over_training(net(), training, DATA)
    tells(caught.value)
    assert all(word in str(caught.value) for word in words), str(caught.value)
