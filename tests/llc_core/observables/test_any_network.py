"""What is watched along a run of any network: the singular fluctuation, and the sizes of a step's terms."""

from __future__ import annotations

import pytest
import torch

from llc_core import NetworkPotential, estimate

N, D = 2000, 6


def regression(by_chain: bool, monkeypatch) -> NetworkPotential:
    """A regular model with unit noise, at its minimum: λ = ν = d/2 as n grows."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(N, D, generator=generator, dtype=torch.float64)
    y = torch.randn(N, 1, generator=generator, dtype=torch.float64)
    module = torch.nn.Linear(D, 1, bias=False).double()
    with torch.no_grad():
        module.weight.copy_(torch.linalg.lstsq(x, y).solution.T)
    problem = NetworkPotential(module, lambda out, y: (out - y).square().sum(dim=1) / 2, (x, y))
    monkeypatch.setattr(NetworkPotential, "by_chain", by_chain)
    return problem


def exact(n_beta: float) -> float:
    """(β/2)·Σ Var(loss_i) under the Gaussian posterior at γ = 1: loss_i = (x_iᵀδ − r_i)²/2, δ ~ N(0, C)."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(N, D, generator=generator, dtype=torch.float64)
    y = torch.randn(N, 1, generator=generator, dtype=torch.float64)
    residual = (y - x @ torch.linalg.lstsq(x, y).solution).squeeze(1)
    covariance = torch.linalg.inv(n_beta / N * x.T @ x + torch.eye(D, dtype=torch.float64))
    spread = torch.einsum("ni,ij,nj->n", x, covariance, x)
    return float(n_beta / N / 2 * (residual.square() * spread + spread.square() / 2).sum())


def exact_llc(n_beta: float, localization: float, step_size: float) -> float:
    """What SGLD's own discrete distribution gives: a direction of curvature a has the variance 1/(a(1 − εa/4))."""
    x = torch.randn(N, D, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    loss = n_beta * torch.linalg.eigvalsh(x.T @ x / N)
    curvature = loss + localization
    return float((loss / 2 / (curvature * (1 - step_size * curvature / 4))).sum())


@pytest.mark.slow
@pytest.mark.parametrize("by_chain, steps", [(False, 1150), (True, 650)])
def test_the_singular_fluctuation_of_a_regular_network_is_the_exact_one(by_chain, steps, monkeypatch):
    """Chain by chain a step takes ten times as long, and twenty times in double precision, whose normals no compiled loop makes. With
    half of the kept steps the standard error is 5% there: a variance that is taken twice would still be 20 of them off. A burn-in
    of 150 steps is seven times what the chains remember, 20."""
    truth = exact(N / 2)
    assert abs(truth - D / 2) < 0.2, "half the parameters, as theory says"
    sampler = {"name": "SGLD", "step_size": 1e-4}
    settings = {"chains": 8, "steps": steps, "burn_in": 150, "n_beta": N / 2}
    found = estimate(regression(by_chain, monkeypatch), sampler=sampler, functional_variance=4, **settings)
    nu, se = found.singular_fluctuation, found.singular_fluctuation_se
    assert 0 < se < 0.2
    assert abs(nu / truth - 1) < 4 * se / truth + 0.03, (nu, se, truth)  # the step's own share is 2.5%


@pytest.mark.slow
def test_both_ways_see_terms_of_the_same_size(monkeypatch):
    """The planted fault of a chain counted twice would double them."""
    settings = {
        "sampler": {"name": "SGLD", "step_size": 2e-4},
        "chains": 8,
        "steps": 350,
        "burn_in": 100,
    }
    one, other = (estimate(regression(by_chain, monkeypatch), **settings).diagnostics for by_chain in (False, True))
    for name in ("distance", "gradient_term", "localization_term", "noise_term"):
        assert other[name] == pytest.approx(one[name], rel=0.15), name


@pytest.mark.slow
@pytest.mark.parametrize("by_chain, steps", [(False, 1600), (True, 650)])
def test_a_strong_localisation_is_not_counted_as_bias_of_the_step(by_chain, steps, monkeypatch):
    """With γ as large as nβ·h the loss has half of the curvature: about εnβh/8 per direction is added, not ε(nβh + γ)/8.
    Chains remember three steps here."""
    step = 4e-4
    settings = {"chains": 8, "steps": steps, "burn_in": 100, "n_beta": N / 2, "localization": N / 2}
    found = estimate(regression(by_chain, monkeypatch), sampler={"name": "SGLD", "step_size": step}, **settings)
    limit, law = (exact_llc(N / 2, N / 2, each) for each in (0.0, step))
    # From seed to seed it scatters by a fifth of this; with γ counted it would double.
    assert found.diagnostics["step_bias"] == pytest.approx(law - limit, rel=0.6)
    assert found.llc == pytest.approx(law, abs=4 * found.llc_se)
