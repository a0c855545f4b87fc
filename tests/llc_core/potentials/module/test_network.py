"""NetworkPotential: evaluation agrees with autograd, with itself in other cuts, and with the deep linear network."""

from __future__ import annotations

import math

import pytest
import torch
from small_networks import batch, classifier, moved
from torch import nn

from llc_core import SGLD, DeepLinearNetwork, NetworkPotential, RunConfig, estimate
from llc_core.engine.run import Run


def test_the_loss_is_that_of_the_module():
    problem = classifier()
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 3)).double()
    x, y = (f.double() if f.is_floating_point() else f for f in problem.data.fields)
    before = nn.functional.cross_entropy(module(x), y)
    delta = moved(problem, 1)
    with torch.no_grad():
        torch.nn.utils.vector_to_parameters(
            torch.nn.utils.parameters_to_vector(module.parameters()) + delta[0], module.parameters()
        )
    after = nn.functional.cross_entropy(module(x), y)
    assert float(problem.excess_loss_and_grad(delta)[0]) == pytest.approx(float((after - before).detach()), abs=1e-12)
    assert problem.baseline_loss == pytest.approx(float(before.detach()), rel=1e-6)
    losses = problem.per_sample_loss(delta, 10, 30)
    assert torch.allclose(losses[0], nn.functional.cross_entropy(module(x), y, reduction="none")[10:30])


def test_control_variates_average_to_the_full_gradient_and_are_exact_at_w0():
    problem = classifier(rows=12)
    delta = moved(problem, 12)
    places = (torch.arange(12)[:, None] + torch.arange(5)) % 12  # every batch there is, once
    delta[:] = delta[0]
    full_loss, full = problem.excess_loss_and_grad(delta[:1])
    for kind in ("minibatch", "control_variate"):
        on = batch(problem, 12, 5, kind)
        on.data["places"].copy_(places)
        loss, grad = problem.excess_loss_and_grad(delta, on)
        assert torch.allclose(loss.mean(), full_loss[0]) and torch.allclose(grad.mean(0), full[0])
        at_w0 = problem.excess_loss_and_grad(torch.zeros_like(delta), on)[1]
        exact = problem.excess_loss_and_grad(torch.zeros_like(delta[:1]))[1]
        assert torch.allclose(at_w0, exact.expand_as(at_w0), atol=1e-12) == (kind == "control_variate")


@pytest.mark.parametrize("gradient", ["full", "minibatch", "control_variate"])
def test_the_engine_runs_every_gradient_and_baseline(gradient):
    problem = classifier(rows=300)
    config = RunConfig(gradient=gradient, steps=200, batch_size=50)
    current = Run(config, problem)
    current.advance(200)
    result = current.estimates()[0]
    assert result.diverged == 0 and math.isfinite(result.llc)
    for baseline in ("same_batch", "full", "first_batch"):
        assert math.isfinite(current.llc_per_chain(baseline).mean())


@pytest.mark.parametrize("gradient", ["full", "minibatch"])
def test_a_linear_module_agrees_with_the_deep_linear_network_chain_by_chain(gradient, monkeypatch):
    monkeypatch.setattr("llc_core.potentials.deep_linear.data.KEPT_NUMBERS", 0)  # so that both draw the same rows
    dln = DeepLinearNetwork.random(widths=[4, 3, 5], n=400, seed=2)
    module = nn.Sequential(nn.Linear(4, 3, bias=False), nn.Linear(3, 5, bias=False)).double()
    with torch.no_grad():
        for layer, w in zip(module, dln.weights, strict=True):
            layer.weight.copy_(torch.as_tensor(w))
        pool = dln.data.pool(torch.device("cpu"), torch.float64)
        x, noise = pool[:, :4], pool[:, 4:-1]
        data = x, module(x) + noise
    problem = NetworkPotential(module, "squared_error", data, shuffle=False)
    assert problem.baseline_loss == pytest.approx(dln.baseline_loss, rel=1e-5)
    results = [
        estimate(p, SGLD(step_size=1e-6), gradient=gradient, steps=300, batch_size=40, dtype="float64", seed=4)
        for p in (dln, problem)
    ]
    first, second = (r.per_chain for r in results)
    assert abs(first - second).max() < 1e-8 * abs(first).max()
