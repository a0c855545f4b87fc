"""Landscapes of two parameters: derivatives, exact λ, quadrature, data sets side by side, priors, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy import integrate

from llc_core import HMC, SGLD, ProximalSGLD, RunConfig, estimate, planar_landscape
from llc_core.engine.run import Run
from llc_core.engine.target import Target
from llc_core.potentials import build
from llc_core.references.volume import local_radius, volume_scaling
from llc_core.samplers import MetropolisSampler, hyperparameters, samplers
from llc_core.samplers import build as build_sampler
from llc_core.theory.quadrature import density, one_sided_posterior, posterior
from llc_core.types import Energy

torch.set_num_threads(1)

KINDS = {
    "crossing": {"name": "normal_crossing", "k": [1, 3]},
    "prior": {"name": "normal_crossing", "k": [2, 1], "h": [0, 3]},
    "flat": {"name": "normal_crossing", "k": [0, 2]},
    "line": {"name": "normal_crossing", "k": [3]},
    "beside": {"name": "normal_crossing", "k": [1, 3], "h": [2, 1], "at": [0.0, -1.5]},
    "U": {"name": "line_and_point", "at": "U"},
    "on the line": {"name": "line_and_point", "at": [1.0, -0.8]},
    "V": {"name": "line_and_point", "at": "V"},
    "regular": {"name": "quadratic", "scales": [1.0, 0.3]},
}
EVERY = pytest.mark.parametrize("values", KINDS.values(), ids=KINDS)


def points(problem, count=60, seed=0):
    return torch.randn(count, problem.dim, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@EVERY
def test_losses_and_slopes_are_those_of_the_data(values):
    problem = planar_landscape(**values, n=50, data_sets=3)
    delta = points(problem).requires_grad_()
    loss, grad = problem.excess_loss_and_grad(delta)
    single = problem.per_sample_loss(delta, 0, 50)
    at_w0 = problem.per_sample_loss(torch.zeros_like(delta), 0, 50)
    assert torch.allclose(single.mean(dim=1) - at_w0.mean(dim=1), loss)
    assert torch.allclose(torch.autograd.grad(loss.sum(), delta)[0], grad)
    assert torch.allclose(problem.per_sample_loss(delta, 10, 13), single[:, 10:13])
    x, y = problem.data.xy
    rho = torch.stack(problem.model.rho(delta.unbind(1)), 1)[40:]  # rows 40 … 59 are of data set 2
    nll = (((y[2] - rho[:, :, None] * x[2]) ** 2) / 0.5 + math.log(math.sqrt(2 * math.pi) * 0.5)).sum(dim=1)
    assert torch.allclose(nll, single[40:])


@pytest.mark.parametrize(
    "k, h, value, multiplicity",
    [
        ([1, 3], None, 1 / 6, 1),
        ([2, 3], [0, 4], 1 / 4, 1),
        ([1, 1], None, 1 / 2, 2),
        ([1, 1], [1, 1], 1, 2),
        ([4, 1], [6, 3], 7 / 8, 1),
        ([1, 2], [0, 1], 1 / 2, 2),
        ([0, 1], None, 1 / 2, 1),
        ([3], [2], 1 / 2, 1),
    ],
)
def test_the_volume_law_finds_the_known_coefficient_and_multiplicity(k, h, value, multiplicity):
    problem = planar_landscape("normal_crossing", k=k, h=h)
    assert float(problem.learning_coefficient) == pytest.approx(value)
    assert problem.learning_coefficient.multiplicity == multiplicity
    curve = volume_scaling(problem)
    assert curve.learning_coefficient == pytest.approx(value, abs=2e-3)
    assert curve.multiplicity == multiplicity
    assert np.all(np.diff(curve.volume) >= 0) and curve.fitted[:60] == pytest.approx(curve.volume[:60], rel=0.05)


@pytest.mark.slow
def test_the_volume_is_local():
    for at, value in (("U", 0.5), ("V", 0.25)):
        for shape in ("ball", "box"):
            curve = volume_scaling(planar_landscape("line_and_point", at=at), radius=0.5, shape=shape)
            assert curve.learning_coefficient == pytest.approx(value, abs=2e-3) and curve.multiplicity == 1


def test_the_volume_around_w0_reaches_no_deeper_point():
    for values, radius in (
        ({"name": "normal_crossing"}, 1.0),
        ({"name": "normal_crossing", "at": [0, 0.5]}, 0.4),
        ({"name": "normal_crossing", "k": [1, 0], "at": [0, 0.5]}, 1.0),
        ({"name": "line_and_point", "at": [1, 2]}, 0.25),
    ):
        assert local_radius(planar_landscape(**values)) == pytest.approx(radius)


@pytest.mark.parametrize("k, w2", [([1, 3], 0.05), ([1, 6], 0.02), ([2, 1], -1.5)])
def test_the_volume_law_is_fitted_beside_a_crossing_too(k, w2):
    problem = planar_landscape("normal_crossing", k=k, at=[0, w2])
    found = volume_scaling(problem)
    assert found.learning_coefficient == pytest.approx(float(problem.local_learning_coefficient), abs=5e-3)


@pytest.mark.parametrize(
    "values, radius",
    [
        ({"name": "normal_crossing", "k": [1, 3], "at": [0, 1.5]}, 1.0),
        ({"name": "normal_crossing", "k": [1, 3], "at": [-2.0, 0]}, 1.0),
        ({"name": "normal_crossing", "k": [2, 1], "h": [3, 1], "at": [0, 1.0]}, 0.5),
        ({"name": "line_and_point", "at": [1.0, -1.2]}, 0.5),
    ],
)
def test_lambda_belongs_to_the_point(values, radius):
    """Away from the crossing only the axis that w0 lies on counts: 1/2, 1/6 and 1 where the crossing has 1/6 and 1/2."""
    problem = planar_landscape(**values)
    local, whole = problem.local_learning_coefficient, problem.learning_coefficient
    assert float(local) >= float(whole) and local.multiplicity == 1
    curve = volume_scaling(problem, radius=radius)
    assert curve.learning_coefficient == pytest.approx(float(local), abs=3e-3) and curve.multiplicity == 1
    named = {"U": [1.0, 0.3], "V": [0.0, 0.0]}
    for name, at in named.items():
        assert planar_landscape("line_and_point", at=at).to_dict()["at"] == name


@pytest.mark.slow
@pytest.mark.parametrize("walls", [False, True])
@pytest.mark.parametrize("localization", [1.0, 30.0])
def test_quadrature_around_another_point_agrees_with_brute_force(walls, localization):
    """The crossing then lies inside the Gaussian's reach (γ = 1) or outside of it (γ = 30)."""
    problem = planar_landscape("normal_crossing", k=[1, 1], h=[1, 2], at=[0.0, 2.0], start=[-0.3, 1.5])
    exact = (one_sided_posterior if walls else posterior)(problem, localization=localization)
    # Finer across the axis that w0 lies on, and with no point on either.
    mesh = np.meshgrid(np.linspace(-7, 7, 7000), np.linspace(-5, 8, 1000), indexing="ij")
    rho = mesh[0] * mesh[1]
    prior = -localization / 2 * (mesh[0] ** 2 + (mesh[1] - 2) ** 2) + np.log(np.abs(mesh[0] * mesh[1] ** 2))
    if walls:
        prior = np.where((mesh[0] < 0) & (mesh[1] > 0), prior, -np.inf)
    c1, c2 = problem.data.mean[0]
    loss = -(c1 * rho + c2 * rho**2)
    weight = np.exp(prior - problem.n_beta * loss)
    assert exact.llc[0] == pytest.approx(problem.n_beta * (weight * loss).sum() / weight.sum(), abs=3e-3)


@pytest.mark.slow
@pytest.mark.parametrize("localization", [1.0, 10.0, 30.0])
def test_quadrature_behind_a_wall_that_hides_w0(localization):
    """Chains begin across the wall from w0: their side's density is highest at the wall, wherever w0 lies."""
    problem = planar_landscape("normal_crossing", k=[1, 1], h=[0, 1], at=[0, 3], start=[0.1, -1.0], n=200)
    exact = one_sided_posterior(problem, localization=localization)
    mesh = np.meshgrid(np.linspace(-9, 9, 6000), np.linspace(-9, 0, 3001)[:-1], indexing="ij")
    c1, c2 = problem.data.mean[0]
    loss = -(c1 * mesh[0] * mesh[1] + c2 * (mesh[0] * mesh[1]) ** 2)
    log = -problem.n_beta * loss - localization / 2 * (mesh[0] ** 2 + (mesh[1] - 3) ** 2) + np.log(-mesh[1])
    weight = np.exp(log - log.max())
    assert exact.llc[0] == pytest.approx(problem.n_beta * (weight * loss).sum() / weight.sum(), rel=0.02, abs=2e-3)


def test_a_thrown_chain_is_not_rounded_onto_a_wall():
    problem = planar_landscape("normal_crossing", k=[1, 1], h=[0, 1], at=[0, 3])
    moved = torch.tensor([[0.0, -1e4], [0.0, 1e4]])
    after = problem.prior_prox(torch.zeros(2, 2), moved, torch.full((2, 1), 1e-4))
    assert bool((after[:, 1] + 3 > 0).all()) and bool(torch.isfinite(problem.prior_energy_and_grad(after)[1]).all())


def test_walls_stay_where_they_are_when_w0_moves():
    problem = planar_landscape("normal_crossing", k=[1, 1], h=[1, 2], at=[0.0, 1.0])
    delta, size = points(problem), torch.full((60, 1), 0.01, dtype=torch.float64)
    _, grad = problem.prior_energy_and_grad(delta)
    w = delta + torch.tensor([0.0, 1.0])
    assert torch.allclose(grad, -torch.tensor([1.0, 2.0]) / w)
    after = problem.prior_prox(delta, points(problem, seed=1), size)
    assert torch.equal((after + torch.tensor([0.0, 1.0])).sign(), w.sign())
    assert torch.allclose(after + size * problem.prior_energy_and_grad(after)[1], points(problem, seed=1))


def test_one_regular_direction_is_exact():
    """y = w·x is linear regression: the posterior is normal, in closed form for every data set."""
    problem = planar_landscape("quadratic", scales=[0.7], n=1000, data_sets=50)
    exact = posterior(problem, localization=1.0)
    x, y = (v[:, 0] for v in problem.data.xy)
    a, b = (x * x).mean(1) * 0.49 / 0.25, (x * y).mean(1) * 0.7 / 0.25
    precision = problem.n_beta * a + 1
    mean, variance = problem.n_beta * b / precision, 1 / precision
    llc = problem.n_beta * (a / 2 * (mean**2 + variance) - b * mean)
    assert exact.llc == pytest.approx(llc.numpy(), abs=1e-6)
    c1, c2 = (x * y * 0.7 / 0.25), (x * x * 0.49 / 0.25 / 2)
    fourth = (variance * (c1 - 2 * c2 * mean[:, None]).T ** 2 + 2 * variance**2 * c2.T**2).sum(0)
    assert exact.singular_fluctuation == pytest.approx((problem.n_beta / problem.n / 2 * fourth).numpy(), abs=1e-6)
    assert exact.error < 1e-4


@pytest.mark.parametrize("box, words", [(1.0, "around w0 = .0, 5."), (-1.0, "greater than 0")])
def test_a_box_without_a_posterior_is_said_to_be_one(box, words):
    problem = planar_landscape("normal_crossing", k=[1, 1], at=[0, 5.0], start=[0.1, 5.0])
    with pytest.raises(ValueError, match=words):
        posterior(problem, localization=10.0, box=box)
    assert posterior(problem, localization=10.0, box=5.5).error < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("values, box", [(KINDS["crossing"], None), (KINDS["prior"], 5.0), (KINDS["V"], None)])
def test_quadrature_agrees_with_brute_force(values, box):
    problem = planar_landscape(**values, n=1000, data_sets=2)
    exact = posterior(problem, localization=1.0, box=box)
    # even grid in place of the graded one; the ridge is thin only where the Gaussian has no mass
    side = np.linspace(-5, 5, 2401) if box else np.linspace(-6, 6, 2401)
    mesh = np.meshgrid(*[side] * 2, indexing="ij")
    rho = problem.model.rho(mesh)[0]
    prior = -(mesh[0] ** 2 + mesh[1] ** 2) / 2
    with np.errstate(divide="ignore"):
        prior = prior + sum(h * np.log(np.abs(m)) for h, m in zip(problem.model.powers, mesh, strict=True) if h)
    for r, (c1, c2) in enumerate(problem.data.mean):
        loss = -(c1 * rho + c2 * rho**2)
        weight = np.exp(prior - problem.n_beta * loss)
        assert exact.llc[r] == pytest.approx(problem.n_beta * (weight * loss).sum() / weight.sum(), abs=3e-3)
    assert exact.error < 1e-4


def test_density_integrates_to_one_with_its_marginals():
    problem = planar_landscape("normal_crossing", k=[1, 2], data_sets=2)
    x = np.linspace(-7, 7, 1401)
    shown = density(problem, x, x, data_set=1)
    assert shown.density.sum() * 0.01**2 == pytest.approx(1, abs=2e-3)
    assert shown.marginal_x.sum() * 0.01 == pytest.approx(1, abs=1e-3)
    assert shown.density.sum(axis=1) * 0.01 == pytest.approx(shown.marginal_x, abs=5e-3)
    assert shown.density.sum(axis=0) * 0.01 == pytest.approx(shown.marginal_y, abs=5e-3)


@pytest.mark.slow
def test_means_over_many_data_sets_are_those_the_specification_knows():
    """Independent quadrature over 60 other data sets; a regular direction is below 1/2 by exactly β/2."""
    for k, h, mean, sd in [
        ([1, 3], [0, 0], 0.124, 0.036),
        ([3, 1], [3, 3], 0.570, 0.125),
        ([1, 1], [0, 0], 0.322, 0.083),
    ]:
        exact = posterior(planar_landscape("normal_crossing", k=k, h=h, data_sets=200)).llc
        assert exact.mean() == pytest.approx(mean, abs=4 * math.hypot(sd / math.sqrt(60), exact.std() / math.sqrt(200)))
        assert exact.std() == pytest.approx(sd, rel=0.3)
    exact = posterior(planar_landscape("normal_crossing", k=[0, 1], data_sets=2000)).llc
    assert exact.mean() == pytest.approx(0.5 - 1 / math.log(1000) / 2, abs=4 * exact.std() / math.sqrt(2000))


def test_data_sets_side_by_side_are_those_one_by_one():
    alone = planar_landscape("normal_crossing", k=[1, 2], data_sets=1)
    many = planar_landscape("normal_crossing", k=[1, 2], data_sets=3)
    delta = points(many, 6)
    assert torch.equal(alone.excess_loss_and_grad(delta[:2])[0], many.excess_loss_and_grad(delta)[0][:2])
    assert not torch.allclose(alone.excess_loss_and_grad(delta)[0][2:], many.excess_loss_and_grad(delta)[0][2:])
    with pytest.raises(ValueError, match="4 chains cannot be shared out over 3 data sets"):
        estimate(many, steps=10)
    results = estimate(many, SGLD(step_size=1e-4), chains=6, steps=50, grid={"n_beta": [10.0, 100.0]})
    assert all(len(r.per_chain) == 6 for r in results)


def check_sgld(problem, bias=0.0, steps=4000, **changes):
    """Mean λ̂ over R data sets against quadrature on the same data."""
    run = Run(
        RunConfig(
            sampler={"name": "SGLD", "step_size": 3e-4},
            chains=problem.data_sets,
            steps=steps,
            burn_in=300,
            dtype="float64",
            **changes,
        ),
        problem,
    )
    run.advance(steps)
    per_chain = run.llc_per_chain() + bias
    alive = np.isfinite(per_chain)
    difference = per_chain[alive] - posterior(problem, localization=1.0).llc[alive]
    allowed = 3 * difference.std() / math.sqrt(alive.sum()) + 0.04
    assert abs(difference.mean()) < allowed and allowed < 0.08, (difference.mean(), allowed)
    return run


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", ["crossing", "flat", "regular", "line"])
def test_sgld_reads_the_exact_finite_n_value(name):
    problem = planar_landscape(**KINDS[name], data_sets=200)
    run = check_sgld(problem)
    result = run.estimates()[0]
    assert result.diverged == 0 and result.expected == pytest.approx(posterior(problem).llc.mean())


@pytest.mark.slow
def test_a_planted_bug_fails_that_check():
    problem = planar_landscape(**KINDS["flat"], data_sets=200)
    with pytest.raises(AssertionError):
        check_sgld(problem, localization=30.0)  # a force of another γ
    with pytest.raises(AssertionError):
        check_sgld(problem, bias=0.1)


def test_chains_begin_at_start_and_the_baseline_stays_at_w0():
    problem = planar_landscape("normal_crossing", k=[1, 1], start=[0.5, -0.4])
    run = Run(RunConfig(sampler={"name": "SGLD", "step_size": 1e-9}, steps=2, burn_in=0, dtype="float64"), problem)
    first = run.advance(1).excess_loss[0]
    exact = problem.excess_loss_and_grad(torch.tensor([[0.5, -0.4]], dtype=torch.float64))[0]
    assert first == pytest.approx(float(exact)) and float(exact) > 0.01
    u = planar_landscape("line_and_point", at="U", start=[1.1, 0.0])
    assert u.start == pytest.approx([0.1, -0.3])


@pytest.mark.slow
def test_a_prior_moves_the_law_as_quadrature_says():
    problem = planar_landscape("normal_crossing", k=[0, 1], h=[0, 3], start=[0.5, 0.5])
    result = estimate(problem, HMC(step_size=0.02), steps=800, chains=64)
    exact = float(posterior(problem).llc[0])
    without = float(posterior(planar_landscape("normal_crossing", k=[0, 1])).llc[0])
    assert result.diverged == 0
    assert abs(result.llc - exact) < 4 * result.llc_se < abs(without - exact) / 4, (result.llc, exact)


@pytest.mark.parametrize("name", [n for n, cls in samplers().items() if not issubclass(cls, MetropolisSampler)])
def test_priors_reach_every_sampler(name):
    """A prior with slope γ·δ does what γ does: no sampler may take its drift from anywhere but the energy's force."""
    sampler = build_sampler({"name": name, "step_size": 1e-3})
    delta, grad, noise = (
        points(planar_landscape("quadratic"), 5),
        torch.ones(5, 2).double(),
        torch.zeros(3, 5, 2).double(),
    )
    one = torch.ones(5, 1, dtype=torch.float64)
    hp = hyperparameters(sampler, 5, delta, ((2,),))
    loss, after = torch.ones(5).double(), []
    for localization, prior in ((3 * one, None), (one, 2 * delta), (one, None)):
        energy = Energy(loss, grad, delta, one, localization, hessian_diagonal=grad, prior_grad=prior)
        after.append(sampler.update(sampler.init(delta, noise[0], hp), energy, noise[: sampler.noises], hp))
    assert all(torch.allclose(after[0][key], after[1][key]) for key in after[0])
    assert not all(torch.allclose(after[0][key], after[2][key]) for key in after[0])


def test_the_priors_gradient_is_that_of_its_energy():
    problem = planar_landscape("normal_crossing", k=[1, 1], h=[2, 5])
    delta = points(problem).requires_grad_()
    energy, grad = problem.prior_energy_and_grad(delta)
    assert torch.allclose(torch.autograd.grad(energy.sum(), delta)[0], grad)
    one = torch.ones(60, 1, dtype=torch.float64)
    with torch.no_grad():
        whole = Target(problem, 50 * one, 2 * one).evaluate(delta, None)
        loss, loss_grad = problem.excess_loss_and_grad(delta)
    assert torch.allclose(whole.potential[:, 0], 50 * loss + delta.square().sum(1) + energy)
    assert torch.allclose(whole.force, 50 * loss_grad + 2 * delta + grad)


def test_the_implicit_step_of_a_prior_solves_its_equation_on_the_side_of_the_chain():
    problem = planar_landscape("normal_crossing", k=[1, 1], h=[2, 0])
    before, moved = points(problem), 3 * points(problem, seed=1)
    moved[0] = torch.tensor([-1e9, 0.0])  # thrown far past the wall: no digits may be lost
    before[0] = 1.0
    size = torch.logspace(-6, 0, 60, dtype=torch.float64).unsqueeze(1)
    after = problem.prior_prox(before, moved, size)
    _, grad = problem.prior_energy_and_grad(after)
    assert torch.allclose(after + size * grad, moved, rtol=1e-9, atol=1e-9)
    assert torch.equal(after[:, 0].sign(), before[:, 0].sign())
    assert torch.equal(after[:, 1], moved[:, 1])


WALL_STEPS = (5e-4, 1e-4)


@pytest.fixture(scope="module")
def at_walls():
    """λ̂ on one side of both walls by quadrature; runs with implicit steps of the prior and with explicit ones, both sizes in one."""
    problem = planar_landscape("normal_crossing", k=[1, 1], h=[1, 1], data_sets=100)
    settings = {"chains": 100, "steps": 6000, "burn_in": 0, "localization": 1.0, "dtype": "float64"}
    runs = [
        estimate(problem, sampler, grid={"step_size": WALL_STEPS}, **settings) for sampler in (ProximalSGLD(), SGLD())
    ]
    return one_sided_posterior(problem).llc.mean(), *runs


@pytest.mark.slow
@pytest.mark.parametrize("index", range(2), ids=map(str, WALL_STEPS))
def test_walls_throw_no_chain_whose_prior_step_is_implicit(at_walls, index):
    """The row of Lau, Murfet & Wei's table that explicit steps cannot do, and that they must fail."""
    side, result, explicit = at_walls[0], at_walls[1][index], at_walls[2][index]
    assert result.setting == explicit.setting == {"step_size": WALL_STEPS[index]}
    allowed = 3 * result.per_chain.std(ddof=1) / 10 + 0.04
    assert result.diverged == 0 and allowed < 0.15
    assert abs(result.per_chain.mean() - side) < allowed
    assert explicit.diverged > 0 and abs(np.nanmean(explicit.per_chain) - side) > allowed


def test_divergences_are_counted():
    """The prior 1/w at both axes throws some chains out; they are counted, and the estimate says so."""
    problem = planar_landscape("normal_crossing", k=[2, 3], h=[0, 4], data_sets=50)
    result = estimate(
        problem, SGLD(step_size=5e-3), chains=50, steps=3000, burn_in=0, localization=1.0, dtype="float64"
    )
    assert 0 < result.diverged == int(np.isnan(result.per_chain).sum())
    assert not result.converged and f"{result.diverged} of 50 chains diverged" in str(result.converged)


@pytest.mark.slow
def test_the_deeper_point_has_the_smaller_estimate():
    """Lau, Murfet & Wei, figure 1, as their code runs it: short chains; long ones cross from U to V."""
    found = []
    for at in ("U", "V"):
        problem = planar_landscape("line_and_point", at=at, data_sets=200)
        result = estimate(
            problem, SGLD(step_size=1e-4), chains=200, steps=5000, burn_in=0, localization=1.0, dtype="float64"
        )
        found.append(result.per_chain)
    u, v = found
    assert 0.45 < u.mean() < 0.60 and 0.15 < v.mean() < 0.27
    assert (u - v).mean() > 0.25 + 2 * (u - v).std() / math.sqrt(200)


@pytest.mark.parametrize(
    "values, words",
    [
        ({"name": "crossing"}, ["normal_crossing", "'crossing'"]),
        ({}, ["name"]),
        ({"name": "quadratic", "k": [1]}, ["'k'", "scales"]),
        ({"name": "normal_crossing", "k": [0, 0]}, ["k", "positive"]),
        ({"name": "normal_crossing", "k": [1, 1, 1]}, ["one or two"]),
        ({"name": "normal_crossing", "k": [1.5, 1]}, ["k[0]", "1.5"]),
        ({"name": "normal_crossing", "k": [1, 1], "h": [1]}, ["h", "prior exponent"]),
        ({"name": "normal_crossing", "k": [1, 1], "h": [1, 0], "start": [0, 1]}, ["start[0]", "0.1"]),
        ({"name": "line_and_point", "at": "W"}, ["at", "U, V"]),
        ({"name": "line_and_point", "at": [0.5, 0.0]}, ["at", "0.5", "line"]),
        ({"name": "normal_crossing", "k": [1, 0], "at": [0.5, 0.0]}, ["at", "0.5", "axis"]),
        ({"name": "normal_crossing", "k": [1, 1], "at": [0.0, 7.0]}, ["at[1]", "7", "5"]),
        ({"name": "normal_crossing", "k": [1, 1], "at": [0.0]}, ["at", "2 coordinate"]),
        ({"name": "quadratic", "scales": [0.0]}, ["scales[0]", "0.001"]),
        ({"name": "quadratic", "n": 1}, ["n", "1", "3"]),
        ({"name": "quadratic", "data_sets": 10_000, "n": 10**6}, ["data_sets", "10,000,000,000"]),
        ({"name": "quadratic", "noise_std": 0}, ["noise_std", "0"]),
    ],
)
def test_refusals_name_field_value_and_remedy(values, words):
    with pytest.raises(ValueError) as error:
        build({"kind": "planar", **values})
    assert all(word in str(error.value) for word in words), error.value


def test_walls_leave_one_side():
    problem = planar_landscape("normal_crossing", k=[1, 1], h=[2, 2])
    whole, side = posterior(problem), one_sided_posterior(problem)
    flat = planar_landscape("normal_crossing", k=[1, 1])
    assert side.llc != pytest.approx(whole.llc, rel=1e-3)
    assert one_sided_posterior(flat).llc == pytest.approx(posterior(flat).llc)
    one = planar_landscape("normal_crossing", k=[1, 1], h=[0, 2])
    assert one_sided_posterior(one).llc == pytest.approx(posterior(one).llc), "the other axis has no wall"
    even = planar_landscape("normal_crossing", k=[0, 2], h=[0, 2])
    assert one_sided_posterior(even).llc == pytest.approx(posterior(even).llc), "w² does not tell the sides apart"


def test_a_posterior_without_localisation_needs_a_box():
    problem = planar_landscape("normal_crossing")
    with pytest.raises(ValueError, match="box"):
        posterior(problem, localization=0.0)
    assert problem.expected_llc_at(100.0, 0.0) is None


def test_the_line_is_its_own_quadrature():
    problem = planar_landscape("normal_crossing", k=[2])
    (c1, c2), n_beta = problem.data.mean[0], problem.n_beta

    def weight(w):
        return math.exp(n_beta * (c1 * w**2 + c2 * w**4) - w * w / 2)

    total = integrate.quad(weight, -6, 6, points=[0])[0]
    mean = integrate.quad(lambda w: -(c1 * w**2 + c2 * w**4) * weight(w), -6, 6, points=[0])[0]
    assert posterior(problem).llc[0] == pytest.approx(n_beta * mean / total, abs=1e-6)
