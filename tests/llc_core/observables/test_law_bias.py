"""Stein's identity with each kind of matrix: mean zero on exact draws, whatever the matrix, and the bias where it is right."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from targets import Quadratic, SkewedTarget

from llc_core import DeepLinearNetwork
from llc_core.groups import Groups
from llc_core.observables.curvature_roots import DenseRoot, KroneckerRoot, LanczosRoot, Root
from llc_core.observables.law_bias import LawBias, Plan
from llc_core.observables.look import Group, Look, RunShape
from llc_core.potentials.base import Potential

torch.set_num_threads(1)
SHAPES = [0.7, 1.0, 2.0, 4.0] * 5
"""More parameters than there are exact traces for: five of each kind."""


def curvature(dim: int, groups: int = 2) -> torch.Tensor:
    random = torch.randn(groups, dim, dim, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    return random @ random.transpose(1, 2) + torch.eye(dim, dtype=torch.float64)


def product(root: Root, groups: int, dim: int) -> torch.Tensor:
    """R·Rᵀ [G, D, D], by what the root does to the unit vectors."""
    units = torch.eye(dim, dtype=torch.float64).expand(groups, -1, -1)
    assert torch.allclose(root.spread(units).transpose(1, 2), root.gather(units), atol=1e-10), "Rᵀ is not R's transpose"
    return root.gather(units) @ root.gather(units).transpose(1, 2)


def test_the_dense_root_is_that_of_the_inverse():
    whole, gamma = curvature(7), torch.tensor([0.5, 1.0], dtype=torch.float64)
    torch.testing.assert_close(product(DenseRoot(whole, gamma), 2, 7), torch.linalg.inv(whole), rtol=1e-8, atol=1e-10)


def test_curvatures_below_the_localisation_count_as_that():
    whole = torch.diag(torch.tensor([-3.0, 0.1, 5.0], dtype=torch.float64)).unsqueeze(0)
    found = product(DenseRoot(whole, torch.tensor([0.5])), 1, 3)
    torch.testing.assert_close(found[0].diagonal(), 1 / torch.tensor([0.5, 0.5, 5.0], dtype=torch.float64))
    flat = product(DenseRoot(whole.clamp_min(0), torch.tensor([0.0])), 1, 3)
    assert torch.isfinite(flat).all(), "γ may be 0"


def test_the_kronecker_root_is_exact_for_one_layer():
    network = DeepLinearNetwork([np.random.default_rng(0).standard_normal((3, 4))], n=1000)
    delta = torch.zeros(1, 12, dtype=torch.float64)
    units = torch.eye(12, dtype=torch.float64)
    hessian = network.hvp(delta.expand(12, -1).contiguous(), units)
    like, n_beta = delta, torch.tensor([50.0], dtype=torch.float64)
    root = KroneckerRoot(network.kronecker_factors(delta), n_beta, torch.ones(1), like)
    torch.testing.assert_close(product(root, 1, 12)[0], torch.linalg.inv(50 * hessian + units), rtol=1e-8, atol=1e-10)


def lanczos(whole: torch.Tensor, steps: int) -> torch.Tensor:
    groups, dim = whole.shape[:2]
    starts = torch.randn(2, groups, dim, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    gamma = torch.ones(groups, dtype=torch.float64)
    root = LanczosRoot(lambda v: torch.bmm(whole, v.unsqueeze(2)).squeeze(2), starts[0], starts[1], gamma, steps)
    return product(root, groups, dim)


def test_the_lanczos_root_of_the_whole_space_is_that_of_the_inverse():
    whole = curvature(12)
    torch.testing.assert_close(lanczos(whole, 12), torch.linalg.inv(whole), rtol=1e-6, atol=1e-8)


def test_the_lanczos_root_has_the_stiff_directions_and_the_mean_of_the_others():
    """The others' trace is from one random vector and 8 of its 36 Ritz values: within a third, by √(2/36) of chance."""
    values = torch.cat([torch.tensor([400.0, 900.0]), torch.linspace(1.0, 3.0, 36)]).double()
    found = lanczos(torch.diag(values).unsqueeze(0), 4)[0]
    torch.testing.assert_close(found.diagonal()[:2], 1 / values[:2], rtol=1e-3, atol=0)
    loss = values - 1
    trace, exact = (found.diagonal() * loss)[2:].sum(), (loss / values)[2:].sum()
    assert abs(trace / exact - 1) < 1 / 3


def test_lanczos_goes_on_where_the_space_ends():
    """Two distinct curvatures only: the Krylov space has two dimensions, and more are asked for."""
    values = torch.tensor([1.0, 1.0, 1.0, 9.0, 9.0, 9.0], dtype=torch.float64)
    starts = torch.randn(2, 1, 6, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    root = LanczosRoot(lambda v: v * values, starts[0], starts[1], torch.ones(1), 6)
    torch.testing.assert_close(product(root, 1, 6)[0], torch.diag(1 / values), rtol=1e-6, atol=1e-8)


def watched(problem: Potential, draws: torch.Tensor, plan: Plan, n_beta: float, gamma: float) -> np.ndarray:
    """b at `draws` [looks, C, D], a group of C chains; the matrix is made from the first look, which is left out."""
    looks, chains, dim = draws.shape
    column = torch.ones(chains, 1, dtype=torch.float64)
    law = LawBias(plan, Groups(1, chains, 1), n_beta * column, gamma * column, seed=0)
    law.begin(RunShape(problem, None, chains, 1, torch.float64, torch.device("cpu")))
    for step in range(looks):
        law.look(Look(step, 1.0, slice(None), draws[step], column.squeeze(1), problem))
    seen = law.seen(Group(slice(None), np.ones(chains, dtype=bool), n_beta))
    return seen.bias[1:]


PLANS = [Plan(1, "dense"), Plan(1, "lanczos", 10)]


@pytest.mark.slow
@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.root)
@pytest.mark.parametrize("dim", [4, 20])
def test_exact_draws_of_a_skewed_target_have_mean_zero(plan, dim):
    """The draws of one look make the matrix and are left out, so that the identity holds exactly for it."""
    if plan.vectors > dim:
        plan = plan._replace(vectors=2)
    shapes = np.array(SHAPES[:dim])
    draws = np.log(np.random.default_rng(0).gamma(shapes, size=(401, 20, dim)) / shapes)
    found = watched(SkewedTarget(shapes), torch.as_tensor(draws), plan, 1.0, 0.0)
    assert abs(found.mean()) < 4 * found.std() / math.sqrt(found.size)
    wider = watched(SkewedTarget(shapes), torch.as_tensor(1.1 * draws), plan, 1.0, 0.0)
    assert wider.mean() > 6 * wider.std() / math.sqrt(wider.size), "draws that are 10% too wide show"


@pytest.mark.parametrize("dim", [3, 30])
def test_of_a_quadratic_it_is_the_loss_less_its_mean_at_every_place(dim):
    problem = Quadratic(np.geomspace(0.01, 1, dim))
    draws = torch.randn(3, 4, dim, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    found = watched(problem, draws, Plan(1, "dense"), 100.0, 1.0)
    exact = 100 * problem.excess_loss_and_grad(draws[1:].view(-1, dim))[0].view(2, 4) - problem.llc(100.0, 1.0)
    assert found == pytest.approx(exact.numpy(), abs=1e-9)


def test_a_network_has_the_trace_of_all_its_rows():
    """Its own `hvp` takes the first thousand, of which the identity knows nothing."""
    from llc_core import NetworkPotential

    torch.manual_seed(0)
    data = torch.randn(3000, 2), torch.randn(3000, 1)
    data[0][1500:] *= 3
    problem = NetworkPotential(torch.nn.Linear(2, 1, bias=False), "mse", data, shuffle=False)
    units, zero = torch.eye(2, dtype=torch.float64), torch.zeros(2, 2, dtype=torch.float64)
    exact = 2 * data[0].double().T @ data[0].double() / 3000
    torch.testing.assert_close(problem.hvp_on(zero, None, units), exact, rtol=1e-6, atol=1e-8)
