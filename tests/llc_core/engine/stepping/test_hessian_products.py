"""Every stepper gives samplers that ask for it the product with the Hessian at the places where their gradient is taken."""

from __future__ import annotations

import pytest
import torch
from cases import few

import llc_core
from llc_core import NetworkPotential
from llc_core.engine.stepping.interacting import permuted
from llc_core.engine.target import Target
from llc_core.samplers import MongeSGLD
from llc_core.types import Energy

torch.set_num_threads(1)


def network() -> NetworkPotential:
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
    return NetworkPotential(module, "cross_entropy", (torch.randn(50, 3), torch.randint(0, 2, (50,))))


PROBLEM = network()


@pytest.mark.slow
@pytest.mark.parametrize("stepper", few(["all chains", "swapping", "graphs", "fused", "chain by chain"], 1))
def test_the_product_is_taken_where_the_gradient_is(stepper, monkeypatch):
    """The sampler itself compares at every step what it is given with what it should be."""
    seen, update = [], MongeSGLD.update

    def asking(self, state, energy, noise, hp):
        vector = torch.ones_like(energy.delta) + energy.delta
        given, right = energy.hvp(vector), PROBLEM.hvp_on(energy.delta, None, vector)
        torch.testing.assert_close(given, right, rtol=1e-9, atol=1e-9 * float(right.abs().max()))
        seen.append(len(given))
        return update(self, state, energy, noise, hp)

    monkeypatch.setattr(MongeSGLD, "update", asking)
    monkeypatch.setattr(NetworkPotential, "by_chain", stepper == "chain by chain")
    monkeypatch.setenv("LLC_LAB_GPU", stepper if stepper in ("graphs", "fused") else "plain")
    ladder = llc_core.ReplicaExchange(temperatures=(1.0, 1.5)) if stepper == "swapping" else None
    options = {"chains": 4, "steps": 40, "n_beta": 20.0, "gradient": "full", "dtype": "float64", "progress": False}
    sampler = MongeSGLD(step_size=1e-3, gamma_term="corrected")
    found = llc_core.estimate(PROBLEM, sampler, interaction=ladder, **options)
    assert set(seen) == {{"chain by chain": 1, "swapping": 8}.get(stepper, 4)} and len(seen) >= 40
    if ladder is None:
        assert found.diverged == 0


def swapped(energy: Energy, order: torch.Tensor) -> None:
    """AssertionError where the products of energies in another order are not those at their new places."""
    moved, vector = permuted(energy, order), torch.ones_like(energy.delta) + energy.delta.flip(0)
    assert not torch.allclose(moved.hvp(vector), energy.hvp(vector)), "the order matters"
    torch.testing.assert_close(moved.hvp(vector), PROBLEM.hvp_on(moved.delta, None, vector))


def energy_of(batch=None, metric_batch=None) -> Energy:
    delta = 0.5 * torch.randn(4, PROBLEM.dim, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    ones = torch.ones(4, 1, dtype=torch.float64)
    return Target(PROBLEM, 20 * ones, ones).evaluate(delta, batch, metric_batch, hvp=True)


def test_products_move_with_the_places_when_chains_swap(monkeypatch):
    order = torch.tensor([2, 0, 3, 1])  # not its own inverse
    energy = energy_of()
    swapped(energy, order)
    monkeypatch.setattr(torch.Tensor, "argsort", lambda self: self)  # the order taken for its inverse
    with pytest.raises(AssertionError, match="not close"):
        swapped(energy, order)


def test_products_are_of_the_loss_that_the_metric_is_made_of():
    batch, other = (
        PROBLEM.draw(torch.Generator().manual_seed(seed), 4, 10, "minibatch", torch.float64) for seed in (1, 2)
    )
    vector = torch.ones(4, PROBLEM.dim, dtype=torch.float64)
    for gradient, metric, wanted in ((batch, None, batch), (batch, "full", None), (batch, other, other)):
        energy = energy_of(gradient, metric)
        torch.testing.assert_close(energy.hvp(vector), PROBLEM.hvp_on(energy.delta, wanted, vector))
        torch.testing.assert_close(energy.statistics_grad, PROBLEM.excess_loss_and_grad(energy.delta, wanted)[1])
    assert Target(PROBLEM, vector[:, :1], vector[:, :1]).evaluate(vector, batch).hvp is None
