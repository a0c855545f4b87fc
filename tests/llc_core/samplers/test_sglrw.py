"""The lattice random walk: its exact distribution at every step size, and heavy-tailed errors of the gradient, under which SGLD fails."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
import torch
from cases import few
from scipy import stats
from targets import Quadratic, check_mean, sample
from torch import Tensor

import llc_core
from llc_core.line import simulate
from llc_core.potentials.base import Batch
from llc_core.samplers import SGLD, SGLRW, hyperparameters
from llc_core.samplers.forms import Line
from llc_core.stationary import bias_curve, exact_law, total_variation
from llc_core.stationary.walk import balanced
from llc_core.types import Energy, Hp, State

torch.set_num_threads(1)


def step(sampler: SGLRW, force: Tensor, noise: Tensor) -> Tensor:
    """Moves of chains [C, D] at 0 whose ∇U is `force`."""
    column = torch.ones(len(force), 1, dtype=torch.float64)
    energy = Energy(column[:, 0], force, torch.zeros_like(force), column, 0 * column)
    return sampler.update({"delta": torch.zeros_like(force)}, energy, noise[None], hyperparameters(sampler, 1, column))[
        "delta"
    ]


# -- one step ---------------------------------------------------------------------------------------------------------


def test_a_step_goes_up_as_often_as_the_paper_says():
    """P(up) = ½(1 + E/√V), E = −(ε/2)∇U and V = ε, kept between 0 and 1: Mensch et al. 2026 with their δt = ε/2, T = 1."""
    force = torch.linspace(-3, 3, 121, dtype=torch.float64)[:, None] * torch.ones(1, 4001, dtype=torch.float64)
    noise = torch.special.ndtri((torch.arange(4001, dtype=torch.float64) + 0.5) / 4001).expand_as(force)
    moved = step(SGLRW(step_size=1.44), force, noise)
    assert set(moved.unique().tolist()) == {-1.2, 1.2}
    wanted = np.clip(0.5 * (1 - 0.72 * force[:, 0].numpy() / 1.2), 0, 1)
    np.testing.assert_allclose((moved > 0).double().mean(1), wanted, atol=1 / 4001)
    assert wanted[0] == 1 and wanted[-1] == 0, "the limits are reached"


# -- the distribution at a finite step -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("balls", [2, 3, 8])
def test_on_a_quadratic_it_is_the_urn_of_ehrenfest(balls):
    """Steps of ε = 2/(c·K): the chain from 0 has the binomial distribution of 2K balls, whose variance is 1/c at every such step."""
    x = np.arange(-balls, balls + 1)
    up = 0.5 * (1 - x / balls)
    np.testing.assert_allclose(balanced(up, 1 - up), stats.binom(2 * balls, 0.5).pmf(x + balls), rtol=1e-12)
    target, size = Quadratic([0.5, 2.0]), 2 / 5 / balls  # c = 5 and 20, where a quarter of the balls are left
    found = sample(SGLRW(step_size=size), target, chains=400, steps=600, burn_in=60, n_beta=10.0)
    check_mean(found.powers[1][:, 0], 1 / 5, math.sqrt(2) / 5, 0.0)


@pytest.mark.parametrize("size", [0.3, 0.1, 1e-2, 1e-4])
def test_the_variance_on_a_normal_has_no_bias_where_that_of_sgld_has(size):
    law = exact_law(SGLRW(), "normal", size)
    assert law.converged and law.residual < 1e-14
    assert law.moments()["second"] == pytest.approx(1, abs=1e-4)
    assert exact_law(SGLD(), "normal", size).moments()["second"] > 1 + size / 5


def test_a_pull_that_is_cut_off_widens_the_law():
    """Honest limits: at ε = 1 a twentieth of the normal distribution lies where the probability is at its limit."""
    assert exact_law(SGLRW(), "normal", 1.0).moments()["second"] == pytest.approx(1.030, abs=1e-3)
    assert exact_law(SGLRW(), "normal", 3.0).moments()["second"] > 1.3


@pytest.mark.parametrize("target, most", [("normal", 0.5), ("skewed", 0.45), ("quartic", 0.7), ("student_t", 1.2)])
def test_its_bias_is_of_first_order(target, most):
    """Total variation to the target falls with ε, and is below `most` times that of SGLD."""
    (_, large, to_limit), (_, small, _) = bias_curve(SGLRW(), target, [0.04, 0.01])
    assert large == to_limit and 3.5 < large / small < 4.5
    assert large < most * next(bias_curve(SGLD(), target, [0.04]))[1]


class Weaker(SGLRW):
    """With nine tenths of the pull."""

    def line(self) -> Line:
        line = super().line()
        return dataclasses.replace(line, move=lambda a, b, g, h, p: (-0.9 * g, 1.0))


@pytest.mark.parametrize("target", few(["skewed", "normal", "double_well"], 1))
def test_exact_law_agrees_with_simulation(target):
    law, wrong = exact_law(SGLRW(), target, 0.1), exact_law(Weaker(), target, 0.1)
    run = simulate(SGLRW(step_size=0.1), target, chains=10_000, steps=700, burn_in=100, seed=3, record_every=1)
    assert run.diverged == 0 and law.converged
    assert total_variation(run.masses(), law.masses()) < 0.01
    assert total_variation(run.masses(), wrong.masses()) > 0.02


@pytest.mark.parametrize("size", [0.01, 1e-3])
def test_the_force_times_the_place_is_exact_for_every_landscape(size):
    """From E[w′²] = E[w²]: E[w·∇U] = 1 at every step size, so that for U = x⁴/4 E x⁴ = 1."""
    law = exact_law(SGLRW(), {"kind": "landscape", "expression": "x^4/4", "of": "energy"}, size)
    weight = law.density * law.axis.spacing(law.x)
    assert weight @ law.x**4 / weight.sum() == pytest.approx(1, abs=1e-6)


def test_a_chain_that_cannot_cross_is_refused_in_a_sentence():
    wells = {"kind": "landscape", "expression": "20*(x^2-1)^2", "of": "energy"}
    with pytest.raises(ValueError, match="cannot cross between parts .* smaller step_size"):
        exact_law(SGLRW(), wells, 0.1)
    ((_, to_target, to_limit),) = bias_curve(SGLRW(), wells, [0.1])
    assert np.isnan(to_target) and np.isnan(to_limit)
    assert exact_law(SGLRW(), wells, 1e-3).converged
    with pytest.raises(ValueError, match="takes more than .* MB"):
        exact_law(SGLRW(), "normal", 1e-12, most_bytes=1e6)


def test_it_never_runs_away_and_places_it_leaves_for_good_have_no_mass():
    law = exact_law(SGLRW(), "quartic", 1.0)
    assert law.converged and law.at_ends == 0 and (law.density == 0).any()
    with pytest.raises(ValueError, match="runs away"):
        exact_law(SGLD(), "quartic", 1.0)


# -- heavy-tailed errors of the gradient ------------------------------------------------------------------------------

DIM, N_BETA, TAIL = 12, 1000.0, 1.5
"""Degrees of freedom of Student's t: below 2 the variance is infinite."""
EXACT = Quadratic(np.ones(DIM)).llc(N_BETA, 1.0)


class HeavyTailed(Quadratic):
    """A quadratic whose minibatches add Student's t noise with TAIL degrees of freedom to every entry of the gradient."""

    kind = "heavy-tailed"

    def draw(
        self, generator: torch.Generator, chains: int, batch_size: int, gradient: str, dtype: torch.dtype
    ) -> Batch:
        uniform = torch.rand(chains, self.dim, generator=generator, dtype=torch.float64)
        return Batch({"noise": (self.gradient_noise * student(uniform)).to(dtype)}, torch.zeros(chains, dtype=dtype))


def student(uniform: Tensor) -> Tensor:
    """Its quantiles, by a table in the logarithm of the tail's probability."""
    tail = torch.minimum(uniform, 1 - uniform).clamp_min(1e-16)
    found = np.interp(tail.log().numpy(), _LOG_TAIL, _QUANTILE)
    return torch.sign(uniform - 0.5) * torch.from_numpy(np.exp(found))


_LOG_TAIL = np.linspace(math.log(1e-16), math.log(0.5) - 1e-9, 4000)
_QUANTILE = np.log(stats.t.isf(np.exp(_LOG_TAIL), TAIL))


def heavy(sampler: str, noise: float, step_size: float, steps: int, seed: int = 1):
    problem = HeavyTailed(np.ones(DIM), gradient_noise=noise)
    return llc_core.estimate(
        problem,
        {"name": sampler, "step_size": step_size},
        gradient="minibatch",
        chains=32,
        steps=steps,
        n_beta=N_BETA,
        progress=False,
        seed=seed,
    )


def expected(noise: float, step_size: float) -> float:
    """λ̂ of the walk under this noise, exactly: on its lattice, with the probability to go up averaged over the noise."""
    h = math.sqrt(step_size)
    quantiles = student((torch.arange(20_000, dtype=torch.float64) + 0.5) / 20_000).numpy() * noise
    x = h * np.arange(-160, 161)
    pull = np.clip(h / 2 * ((N_BETA + 1) * x[:, None] + N_BETA * quantiles), -1, 1).mean(1)
    law = balanced((1 - pull) / 2, (1 + pull) / 2)
    return float(DIM / 2 * N_BETA * (law @ x**2))


def check_heavy(noise: float, step_size: float, steps: int) -> None:
    """Assert that SGLRW has the λ̂ of its own exact distribution, and so nearly that of the target."""
    found, walk = heavy("SGLRW", noise, step_size, steps), expected(noise, step_size)
    print(
        f"noise {noise:g}, step {step_size:g}: {found.llc:.2f} ± {found.llc_se:.2f}, its law {walk:.3f}, target {EXACT:.3f}"
    )
    assert found.diverged == 0 and found.llc_se < 0.06 * walk
    assert abs(found.llc - walk) < 4.5 * found.llc_se, f"off by {found.llc - walk:.2g}"


SETTINGS = [(0.01, 1.2e-4, 3_000), pytest.param(0.03, 1.2e-5, 6_000, marks=pytest.mark.slow)]
"""Noise, step size and steps. The first step is the automatic one."""


@pytest.mark.slow
@pytest.mark.parametrize("noise, step_size, steps", SETTINGS)
def test_noise_of_infinite_variance_leaves_it_near_the_target_where_sgld_fails(noise, step_size, steps):
    check_heavy(noise, step_size, steps)
    assert expected(noise, step_size) < 1.011 * EXACT
    lost = heavy("SGLD", noise, step_size, steps)
    print(f"SGLD {lost.llc:.2f} ± {lost.llc_se:.2f}")
    assert lost.llc > 1.4 * EXACT and not lost.converged


@pytest.mark.parametrize("bug", few(["half the pull", "noise outside the sign"], 1))
def test_the_check_catches(bug, monkeypatch):
    right = SGLRW.update

    def wrong(self, state: State, energy: Energy, noise: Tensor, hp: Hp) -> State:
        if bug == "half the pull":
            return right(self, state, dataclasses.replace(energy, loss_grad=energy.loss_grad / 2), noise, hp)
        exact = energy.delta  # of the quadratic, whose curvatures are 1
        moved = right(self, state, dataclasses.replace(energy, loss_grad=exact), noise, hp)["delta"]
        return {"delta": moved - hp.step_size / 2 * energy.n_beta * (energy.loss_grad - exact)}

    monkeypatch.setattr(SGLRW, "update", wrong)
    with pytest.raises(AssertionError):
        check_heavy(*SETTINGS[0])


def test_steps_or_noise_that_cut_the_pull_off_are_its_limits():
    """λ̂ of its own exact law: +0.2% to +6% at noise 0.03 as the step grows a hundredfold, and +35% at noise 0.1."""
    found = [expected(*setting) / EXACT for setting in ((0.03, 1.2e-6), (0.03, 1.2e-5), (0.03, 1.2e-4), (0.1, 1.2e-4))]
    assert found == pytest.approx([1.0016, 1.0090, 1.0551, 1.3514], abs=2e-3)


def test_noise_of_finite_variance_adds_nothing_where_sgld_counts_it():
    """While it is not cut off: the same run at noise 0.1 gives SGLRW 6.55, and SGLD more."""
    problem = Quadratic(np.ones(DIM), gradient_noise=0.05)
    found = {
        name: llc_core.estimate(
            problem, name, gradient="minibatch", chains=64, steps=1500, n_beta=N_BETA, progress=False
        )
        for name in ("SGLD", "SGLRW")
    }
    assert (
        found["SGLRW"].diagnostics["noise_inflation"] < 0.01 * found["SGLRW"].llc
    )  # a gradient in thousands is cut off
    assert abs(found["SGLRW"].llc - EXACT) < 4.5 * found["SGLRW"].llc_se
    assert found["SGLD"].llc > EXACT + 0.3


def test_the_verdict_sees_what_is_cut_off():
    """At noise 0.1 a quarter of all gradients is: λ̂ is a third too high, and nobody is told to trust it."""
    found, walk = heavy("SGLRW", 0.1, 1.2e-4, 2000), expected(0.1, 1.2e-4)
    assert walk > 1.3 * EXACT and not llc_core.conclude(found).trusted
    h, draws = math.sqrt(1.2e-4), 32 * DIM
    share = float(2 * stats.t.sf(2 / h / (0.1 * N_BETA), TAIL))  # of gradients beyond 2/√ε, near the minimum
    least, most = (share + sign * 5 * math.sqrt(share * (1 - share) / draws) for sign in (-1, 1))
    predicted = found.evidence.noise_inflation
    # The mean of s/(1 − s) over chains lies above that of their mean share, by no more than half of it at this number of directions.
    assert DIM / 2 * least / (1 - least) < predicted < 1.5 * DIM / 2 * most / (1 - most)
