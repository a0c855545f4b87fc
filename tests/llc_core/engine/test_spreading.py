"""Directions that chains have not spread along, counted from the gradients of the steps where the distribution is not measured."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from small_networks import classifier
from targets import Quadratic

import llc_core
import llc_core.engine.record as record
from llc_core import DeepLinearNetwork, NetworkPotential
from llc_core.engine.run import Run
from llc_core.engine.spreading import spreading
from llc_core.observables.look import Group
from llc_core.observables.spreading import SpreadCount, SpreadSeen
from llc_core.samplers import SGLD

torch.set_num_threads(1)
WIDE = Quadratic(np.geomspace(1, 20, 12))


@pytest.fixture
def no_law(monkeypatch):
    monkeypatch.setattr(record, "law_bias", lambda setup: None)


def run(problem, **options):
    return llc_core.estimate(problem, SGLD(), **{"chains": 4, "steps": 3000, "seed": 1, "progress": False, **options})


def counted(result) -> tuple[float, float]:
    return result.diagnostics["unspread"], result.diagnostics["unspread_se"]


@pytest.mark.parametrize("gradient", ["full", "minibatch"])
def test_where_nothing_is_flat_all_directions_have_been_spread_along(no_law, gradient):
    result = run(Quadratic(np.geomspace(1, 20, 12), gradient_noise=0.02), n_beta=1000.0, gradient=gradient)
    many, error = counted(result)
    assert abs(many) < 4 * error and error < 1


FLAT = DeepLinearNetwork.random(widths=[7, 5, 6], layer_ranks=[3, 3], n=10**5, seed=202)


@pytest.mark.slow
@pytest.mark.parametrize("law", [True, False], ids=["beside the law", "from the steps"])
@pytest.mark.parametrize("gradient", ["full", "minibatch", "control_variate"])
def test_flat_directions_are_counted_with_the_gradients_of_minibatches_too(law, gradient, request):
    """30 of the 65 directions are curved at w0. Minibatches heat these chains by 4 of 20, and without its part 8 would be hidden."""
    if not law:
        request.getfixturevalue("no_law")
    result = run(FLAT, gradient=gradient, steps=4000)
    many, error = counted(result)
    assert error < 5 and many + 2 * error > 29 and many - 2 * error < 35
    assert not result.converged


@pytest.mark.slow
def test_the_count_refuses_what_was_trusted_without_it(no_law):
    """The chains agree on a value that is 7% below exact draws, and nothing else is to be seen of it."""
    settings = {"sampler": {"name": "MALA"}, "steps": 4000, "chains": 4, "seed": 200_152}
    made = Run(llc_core.RunConfig(problem=FLAT.to_dict(), **settings), FLAT)
    made.advance(4000)
    found = made.estimates(0)[0]
    assert not found.converged and "not spread along about" in found.converged.reason
    made._record.spread = None
    assert made.estimates(0)[0].converged


def test_a_gradient_of_a_batch_has_that_of_all_data_as_its_mean_wherever_the_chains_are():
    """Every row is equally likely in a batch of consecutive rows, so the mean over all places is exact."""
    potential = classifier(rows=40)
    assert isinstance(potential, NetworkPotential)
    delta = 0.3 * torch.randn(40, potential.dim, generator=torch.Generator().manual_seed(0)).to(torch.float64)
    delta[:] = delta[:1]
    batch = potential.draw(torch.Generator(), 40, 7, "minibatch", torch.float64)
    batch.data["places"] = (torch.arange(40)[:, None] + torch.arange(7)) % 40
    grads = potential.excess_loss_and_grad(delta, batch)[1]
    torch.testing.assert_close(grads.mean(0), potential.excess_loss_and_grad(delta[:1])[1][0], rtol=1e-9, atol=1e-12)


def test_chains_do_not_know_that_they_are_counted(no_law, monkeypatch):
    with_it = run(WIDE, n_beta=1000.0, steps=600)
    monkeypatch.setattr(record, "spread_count", lambda setup: None)
    without = run(WIDE, n_beta=1000.0, steps=600)
    assert np.array_equal(with_it.trace, without.trace) and np.isnan(counted(without)[0])


class Count(SpreadCount):
    def __init__(self, seen: SpreadSeen):
        super().__init__(1)
        self.own = seen

    def seen(self, group: Group) -> SpreadSeen:
        return self.own


def test_what_heat_adds_is_taken_off_with_the_error_of_its_formula():
    rows = np.random.default_rng(0).normal(10, 1, (400, 4))
    group = Group(slice(0, 4), np.ones(4, bool), 1.0)
    seen = SpreadSeen(rows, rows, rows, np.ones_like(rows))
    cold, hot = (spreading(Count(seen), group, heat, 20.0) for heat in (0.0, 3.0))
    assert hot.unspread == pytest.approx(cold.unspread + 6) and hot.se > cold.se
    assert np.isnan(spreading(None, group, 0.0, 20.0)).all()
    few = SpreadSeen(rows[:7], rows[:7], rows[:7], np.ones((7, 4)))
    assert np.isnan(spreading(Count(few), group, 0.0, 20.0).unspread), "of seven looks nothing is said"


def test_exact_draws_are_not_counted():
    """Nothing there follows a gradient, and the draws are of the target in any case."""
    assert np.isnan(counted(llc_core.estimate(FLAT, "Gibbs", steps=60, progress=False))[0])
