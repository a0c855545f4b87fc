"""How far w0 lies above the minimum: exact on linear regressions, and what the verdict makes of it."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from llc_core import DeepLinearNetwork, NetworkPotential, RunConfig, conclude, estimate, polish
from llc_core.engine.run import Run
from llc_core.verdicts import Trust


def regression(seed: int, inputs: int = 6, outputs: int = 5, n: int = 2000):
    """A linear network at its true parameter, on noisy rows, and nβ·(L(w0) − min L), which is known."""
    stream = torch.Generator().manual_seed(seed)
    x = torch.randn(n, inputs, generator=stream)
    w = torch.randn(outputs, inputs, generator=stream) / 2
    y = x @ w.T + torch.randn(n, outputs, generator=stream)
    module = nn.Linear(inputs, outputs, bias=False)
    with torch.no_grad():
        module.weight.copy_(w)
    problem = NetworkPotential(module, lambda out, target: (out - target).square().sum(dim=1) / 2, (x, y))
    best = torch.linalg.lstsq(x.double(), y.double()).solution
    rest = (y.double() - x.double() @ best).square().sum() / 2 / n
    at_w0 = (y.double() - x.double() @ w.double().T).square().sum() / 2 / n
    return problem, problem.n_beta * float(at_w0 - rest), inputs * outputs / 2


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_it_is_what_least_squares_say(seed):
    problem, exact, half = regression(seed)
    found = estimate(problem, "UnderdampedLangevin", gradient="full", steps=1500, seed=seed, progress=False)
    above = found.diagnostics["above_minimum"]
    # It ends where a step promises less than .002, and γ = 1 moves the minimum of U by 1/(nβ·1) of it.
    assert exact - 0.06 < above < exact * 1.001 + 1e-3
    assert abs(found.llc + above - half) < 4 * found.llc_se + 0.06
    assert not found.converged and "w0 lies above the minimum" in found.converged.reason
    assert "Polish w0" in found.converged.remedy and found.converged.change == {"polish": True}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [3, 4])
def test_at_the_minimum_nothing_lies_lower(seed):
    problem, _, half = regression(seed)
    x, y = problem.data.fields
    module = nn.Linear(6, 5, bias=False)
    with torch.no_grad():
        module.weight.copy_(torch.linalg.lstsq(x.double(), y.double()).solution.T)
    best = NetworkPotential(module, lambda out, target: (out - target).square().sum(dim=1) / 2, (x, y))
    found = estimate(best, "UnderdampedLangevin", gradient="full", steps=3000, seed=seed, progress=False)
    assert found.diagnostics["above_minimum"] < 0.02 and abs(found.llc - half) < 4 * found.llc_se
    assert found.converged and "from the variance" in found.converged.reason


@pytest.mark.slow
@pytest.mark.parametrize("sampler", [None, "UnderdampedLangevin"])
def test_where_the_exact_coefficient_stands_beside_both_are_said(sampler):
    """λ = 18 and, at this w0 and on these data, 14.8: right for its question, and never "Trust it"."""
    problem = DeepLinearNetwork.random(widths=[6, 6], ranks="full", n=1000, noise_std=0.7, seed=2)
    found = estimate(problem, sampler, steps=None if sampler is None else 3000, progress=False)
    above = found.diagnostics["above_minimum"]
    assert found.converged and abs(found.llc + above - 18) < 4 * found.llc_se + 0.1
    said = conclude(found)
    assert said.kind is Trust.AT_ODDS and not said.trusted and "w0 lies above the minimum" in said.opening
    assert dict(said.change) == {"polish": True} and not conclude(found, with_answers=False).trusted
    polished = estimate(problem, sampler, steps=found.steps, polish=True, progress=False)
    assert conclude(polished).trusted and abs(polished.llc - 18) < 4 * polished.llc_se + 0.1


@pytest.mark.slow
def test_a_saddle_has_no_slope_and_is_seen_from_a_chain():
    """Two units in a row at 0: the gradient is 0 there, and the loss is lower where both are not."""
    stream = torch.Generator().manual_seed(0)
    x = torch.randn(400, 1, generator=stream)
    y = 0.5 * x + 0.1 * torch.randn(400, 1, generator=stream)
    module = nn.Sequential(nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False))
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.zero_()
    problem = NetworkPotential(module, "squared_error", (x, y))
    found = estimate(problem, "UnderdampedLangevin", gradient="full", steps=2000, progress=False)
    assert found.diagnostics["above_minimum"] > 5 and not found.converged


@pytest.mark.slow
@pytest.mark.parametrize(("sampler", "more"), [("UnderdampedLangevin", {}), ("SGLD", {"gradient": "minibatch"})])
def test_a_saddle_is_seen_in_a_short_run_too(sampler, more):
    """Targets are noise alone and w0 is 0: the loss has no slope there, and falls beside it."""
    stream = torch.Generator().manual_seed(0)
    x, y = torch.randn(1000, 4, generator=stream), math.sqrt(0.5) * torch.randn(1000, 4, generator=stream)
    module = nn.Sequential(nn.Linear(4, 2, bias=False), nn.Linear(2, 4, bias=False))
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.zero_()
    problem = NetworkPotential(module, "squared_error", (x, y), batch_size=100 if more else None)
    found = estimate(problem, sampler, chains=8, steps=1000, seed=0, progress=False, **more)
    # What lies below is what polishing finds, less what γ and the end of the search leave.
    assert found.diagnostics["above_minimum"] > 0.9 * polish(problem).llc > 0.4 and not found.converged


@pytest.mark.slow
def test_settings_side_by_side_have_their_own_and_a_network_without_noise_has_none():
    problem, exact, _ = regression(5)
    results = estimate(problem, "SGLD", gradient="full", steps=800, grid={"n_beta": [50.0, 200.0]}, progress=False)
    small, large = (each.diagnostics["above_minimum"] for each in results)
    per_n_beta = exact / problem.n_beta
    assert large == pytest.approx(200 * per_n_beta, abs=0.06) and small == pytest.approx(50 * per_n_beta, rel=0.1)
    quiet = DeepLinearNetwork.random("1K", seed=1, noise_std=0.0)
    assert estimate(quiet, steps=60, progress=False).diagnostics["above_minimum"] == 0


def test_a_run_that_is_not_over_is_not_searched_and_an_answer_is_kept():
    problem, *_ = regression(6)
    run = Run(RunConfig(problem=problem.to_dict(), sampler={"name": "SGLD"}, chains=4, steps=1000), problem)
    run.advance(700)
    assert math.isnan(run.estimates()[0].diagnostics["above_minimum"])
    run.advance(300)
    first, kept = run.estimates()[0], run._record.above
    again = run.estimates()[0]
    assert again.diagnostics["above_minimum"] == first.diagnostics["above_minimum"] and run._record.above is kept


@pytest.mark.slow
def test_minibatches_too_few_to_look_leave_it_open():
    problem, *_ = regression(7, n=4000)
    found = estimate(
        problem, "SGLD", gradient="minibatch", batch_size=20, steps=600, chains=2, localization=1.0, progress=False
    )
    assert math.isnan(found.diagnostics["above_minimum"]) and not found.converged
