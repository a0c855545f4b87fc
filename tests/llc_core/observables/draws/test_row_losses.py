"""Losses of single rows along the chains: those of the states, by the numbers of the data given, in bounded memory."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from small_networks import classifier
from targets import Quadratic

from llc_core import BayesianNetwork, DeepLinearNetwork, NetworkPotential, Run, RunConfig, estimate, planar_landscape
from llc_core.engine.machine import memory_needed
from llc_core.observables import build
from llc_core.potentials.module.other_rows import moving_only, with_rows

CURVE = {"x": [-1.0, 0.0, 0.5, 1.0, 2.0], "y": [0.0, 0.1, 0.4, 0.2, -0.3]}


def rows_in_order(problem, delta: torch.Tensor) -> np.ndarray:
    """[C, n] losses by the order in which the data were given."""
    losses = problem.per_sample_loss(delta, 0, problem.samples).numpy()
    if not isinstance(problem, NetworkPotential):
        return losses
    found = np.empty_like(losses)
    found[:, problem.data.order.numpy()] = losses
    return found


def watched(problem, asked, second=None, steps: int = 40):
    config = RunConfig(
        sampler={"name": "SGLD", "step_size": 1e-4},
        chains=3,
        steps=steps,
        burn_in=8,
        dtype="float64",
        observables=[asked],
    )
    run, places = Run(RunConfig.from_json(config.to_json()), problem, second), []
    for _ in range(steps):
        places.append(run.displacements)
        run.advance(1)
    found = run.estimates()[0].observables["RowLosses"]
    return found, torch.from_numpy(np.array(places)[8:][found["steps"]])


@pytest.mark.parametrize("rows", [(), (40, 3, 17)])
@pytest.mark.parametrize("make", [classifier, lambda: DeepLinearNetwork.random("1K", n=60)])
def test_losses_are_those_of_the_rows_as_the_data_were_given(make, rows):
    problem = make()
    found, places = watched(problem, {"name": "RowLosses", "rows": rows, "every": 5})
    numbers = list(rows) or list(range(problem.samples))
    assert found["draws"].shape == (7, 3, len(numbers)) and found["rows"].tolist() == numbers
    by_hand = np.stack([rows_in_order(problem, each)[:, numbers] for each in places])
    np.testing.assert_allclose(found["draws"], by_hand, rtol=1e-10)
    assert np.ptp(by_hand, axis=0).min() > 0, "the chains moved"
    assert float(found["beta"]) == pytest.approx(problem.n_beta / problem.samples)


def test_scattered_rows_of_any_problem():
    problem = BayesianNetwork((1, 4, 1), data={"x": np.linspace(-1, 1, 50).tolist(), "y": [0.1] * 50})
    rows = list(range(48, 0, -2))
    found, places = watched(problem, {"name": "RowLosses", "rows": rows, "every": 8})
    by_hand = np.stack([rows_in_order(problem, each)[:, rows] for each in places])
    np.testing.assert_allclose(found["draws"], by_hand, rtol=1e-10)


def test_probe_rows_come_behind_those_of_the_data():
    problem = classifier()
    inputs, labels = torch.randn(4, 5, generator=torch.Generator().manual_seed(3)), torch.tensor([0, 1, 2, 0])
    probe = with_rows(problem, (inputs, labels))
    found, places = watched(problem, {"name": "RowLosses", "rows": [5], "every": 8}, probe)
    assert found["draws"].shape[2] == 5
    logits = torch.stack([problem.predict(each, inputs) for each in places])
    by_hand = torch.nn.functional.cross_entropy(
        logits.movedim(-1, 1), labels.expand(logits.shape[:-1]), reduction="none"
    )
    np.testing.assert_allclose(found["draws"][:, :, 1:], by_hand.numpy(), rtol=1e-10)
    alone, _ = watched(problem, {"name": "RowLosses", "rows": [5], "every": 8, "probes": False}, probe)
    np.testing.assert_array_equal(alone["draws"], found["draws"][:, :, :1])


def test_tokens_are_probe_rows_with_one_label_that_counts():
    """What the docstring tells users to do: the losses of a row's tokens add up to the row's own."""
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Embedding(5, 4), torch.nn.Linear(4, 5))
    tokens = torch.randint(0, 5, (6, 4))
    problem = NetworkPotential(module, "next_token", tokens, method="loop")
    labels = tokens[0].repeat(3, 1).where(torch.eye(4, dtype=torch.bool)[1:], -100)
    single = with_rows(problem, (tokens[0].repeat(3, 1), labels))
    delta = 0.1 * torch.randn(2, problem.dim, dtype=torch.float64)
    each = single.per_sample_loss(delta, 0, 3)
    whole = with_rows(problem, (tokens[:1], tokens[:1])).per_sample_loss(delta, 0, 1)
    torch.testing.assert_close(each.sum(1, keepdim=True), whole)
    assert float(each.std(1).min()) > 0


def test_a_network_in_which_a_part_moves_is_the_one_that_was_made_so():
    problem, part = classifier(), classifier(parameters="2.*")
    found = moving_only(problem, "2.*")
    delta = 0.1 * torch.randn(2, part.dim, dtype=torch.float64)
    assert found.dim == part.dim < problem.dim
    for mine, theirs in zip(found.excess_loss_and_grad(delta), part.excess_loss_and_grad(delta), strict=True):
        torch.testing.assert_close(mine, theirs)


def test_memory_is_counted_and_draws_are_thinned():
    problem, probe = classifier(), with_rows(classifier(), (torch.zeros(7, 5), torch.zeros(7, dtype=torch.long)))
    found, _ = watched(problem, {"name": "RowLosses", "most": 16, "every": 1}, steps=72)
    assert len(found["steps"]) <= 16 and set(np.diff(found["steps"])) == {8}
    asked = {"name": "RowLosses", "most": 100, "rows": [1, 2, 3]}
    config = Run(RunConfig(steps=20, chains=2, dtype="float64", observables=[asked]), problem).config
    bare = memory_needed(config.replace(observables=[]), problem)[0]
    assert memory_needed(config, problem)[0] - bare == 8 * 4 * 100 * 2 * 3
    assert memory_needed(config, problem, probe)[0] - bare == 8 * 4 * 100 * 2 * (3 + 7)
    everything = build("RowLosses").kept(2, problem)
    assert everything == 4 * 1024 * 2 * problem.samples


@pytest.mark.parametrize(
    ("problem", "asked", "said"),
    [
        (Quadratic([1.0, 2.0]), {}, "losses of single samples"),
        (planar_landscape(name="quadratic", data_sets=3), {}, "needs one data set, and the problem has 3"),
        (BayesianNetwork((1, 4, 1), data=CURVE), {"rows": [5]}, "names row 5, but the data have 5"),
        (BayesianNetwork((1, 4, 1), data=CURVE), {"rows": [1, 1]}, "names a row twice"),
        (BayesianNetwork((1, 4, 1), data=CURVE), {"rows": 3}, "is 3; give a list"),
    ],
)
def test_what_cannot_be_kept_is_one_sentence(problem, asked, said):
    with pytest.raises(ValueError, match=said):
        estimate(problem, steps=12, chains=3, observables=[{"name": "RowLosses", **asked}])


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ((torch.zeros(2, 5),), "a tuple of 2 tensors"),
        ((torch.zeros(2, 4), torch.zeros(2, dtype=torch.long)), "has the shape"),
        ((torch.zeros(2, 5), torch.zeros(2)), "the same kind of numbers"),
        ((torch.zeros(2, 5), torch.zeros(3, dtype=torch.long)), "3 rows"),
        ((torch.zeros(2, 5), torch.full((2,), 9)), "cannot be evaluated"),
        ((torch.full((2, 5), torch.nan), torch.zeros(2, dtype=torch.long)), "nan"),
    ],
)
def test_probe_rows_that_do_not_fit_are_one_sentence(data, said):
    with pytest.raises(ValueError, match=said):
        with_rows(classifier(), data)
