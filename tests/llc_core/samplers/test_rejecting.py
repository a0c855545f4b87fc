"""Samplers that accept or reject: MALA is one leapfrog step, its reverse density matters, and pCN is one rotation."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from cases import few
from targets import Quadratic, check_mean, sample

from llc_core import HMC, MALA, PCN, RunConfig, SplitHMC, estimate, landscape, planar_landscape
from llc_core.engine.resolve import resolve
from llc_core.engine.run import Run
from llc_core.engine.target import Target
from llc_core.potentials import BayesianNetwork
from llc_core.samplers import hyperparameters
from llc_core.samplers.rejecting import decide

PROBLEM = BayesianNetwork((1, 6, 6, 1))


def one_step(sampler, prior: bool, uniform: float = 0.5, seed: int = 3):
    """The state and acceptance after a step from a draw of the prior, with the noise of `seed`."""
    random = torch.Generator().manual_seed(seed)
    column = torch.ones(16, 1, dtype=torch.float64)
    target = Target(PROBLEM, column * PROBLEM.n, column * 0)
    if prior:
        target.use_prior_coordinates()
    z = torch.randn(16, PROBLEM.dim, generator=random, dtype=torch.float64) * 0.5
    z = z if prior else z * PROBLEM.variances.sqrt()
    noise = torch.randn(1, *z.shape, generator=random, dtype=torch.float64)
    hp = hyperparameters(sampler, 16, column)
    state = sampler.init(z, noise[0], hp)
    evaluate = lambda at: target.evaluate(at, None)  # noqa: E731
    moved, _ = sampler.step(state, evaluate(z), evaluate, noise, column * uniform, hp)
    return moved


@pytest.mark.parametrize("prior", [False, True])
def test_mala_is_one_leapfrog_step(prior):
    """ε = h², where h is the leapfrog step without its jitter. The step that HMC takes is known from its uniform number."""
    step = 1e-4
    part, levels = 129, 256  # the part of [0, 1] in the middle: its jitter is 0.2/256
    jitter = 1 + 0.2 * ((2 * part - 1) / levels - 1)
    mala = MALA(step_size=(math.sqrt(step) * jitter) ** 2, coordinates="prior" if prior else "plain")
    leap = HMC(step_size=math.sqrt(step), leapfrog_steps=1, mass="unit")
    # Both tests use the same place within the part.
    first = one_step(mala, prior, uniform=0.25)
    second = one_step(leap, prior, uniform=(part - 1 + 0.25) / levels)
    assert 0.05 < float(first["accepted"].mean()) < 0.999
    torch.testing.assert_close(first["accepted"], second["accepted"], rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(first["delta"], second["delta"], rtol=1e-12, atol=1e-12)


def test_pcn_with_gradient_is_one_rotation_of_the_split_sampler_up_to_the_size_of_its_kick():
    """∞-MALA kicks by tan(θ/2), the split sampler by θ/2: at θ = 10⁻⁴ these are the same to 10⁻⁹."""
    angle = 1e-4
    part, levels = 129, 256
    jitter = 1 + 0.2 * ((2 * part - 1) / levels - 1)
    first = one_step(PCN(step_size=math.sin(angle * jitter)), True, uniform=0.25)
    second = one_step(SplitHMC(step_size=angle, leapfrog_steps=1), True, uniform=(part - 1 + 0.25) / levels)
    torch.testing.assert_close(first["delta"], second["delta"], rtol=1e-7, atol=1e-9)


@dataclass(frozen=True)
class OneWay(MALA):
    """MALA that forgets the density of the way back: the bug that the test below must find."""

    def log_ratio(self, z, energy, position, end, noise, step):
        return torch.zeros_like(step)


def moment_errors(sampler):
    """Second moments on a quadratic must be 1/curvature within 4.5 standard errors."""
    curvatures = torch.tensor([1.0, 4.0], dtype=torch.float64)
    result = sample(sampler, Quadratic(curvatures), chains=400, steps=1500, burn_in=300)
    for index, curvature in enumerate(curvatures.tolist()):
        check_mean(result.powers[1][:, index], 1 / curvature, math.sqrt(2) / curvature, 0.0, 1000)


def test_moments_of_mala_are_exact_and_wrong_without_the_reverse_density():
    moment_errors(MALA(step_size=0.6))
    with pytest.raises(AssertionError, match="off by"):
        moment_errors(OneWay(step_size=0.6))


@pytest.mark.long
@pytest.mark.parametrize(
    "sampler",
    few([MALA(coordinates="prior"), PCN(), PCN(drift="none"), SplitHMC(leapfrog_steps=5)], 1),
    ids=lambda s: str(s)[:24],
)
def test_any_potential_with_a_localisation_will_do(sampler):
    """On the plane, where quadrature knows λ̂ at this nβ and γ."""
    problem = planar_landscape("quadratic", scales=(1.0, 0.3), n=2000)
    found = estimate(problem, sampler, chains=96, steps=800, n_beta=20.0, localization=2.0, progress=False)
    exact = problem.expected_llc_at(20.0, 2.0)
    assert abs(found.llc - exact) < 4.5 * found.llc_se
    assert found.ess > 400


SKEWED = landscape("skewed")


def skewed_mean() -> float:
    """Mean of nβ·ΔL on an asymmetric line at nβ = 3, γ = 1, by the trapezoidal rule, which is exact to rounding here."""
    places = torch.linspace(-12, 12, 40_001, dtype=torch.float64).unsqueeze(1)
    energy = 3.0 * SKEWED.excess_loss_and_grad(places)[0]
    weights = (-energy - places[:, 0].square() / 2).exp()
    return float((weights * energy).sum() / weights.sum())


def off_on_the_skewed_line(sampler) -> float:
    """In standard errors."""
    found = estimate(SKEWED, sampler, chains=128, steps=800, n_beta=3.0, localization=1.0, progress=False)
    return abs(found.llc - skewed_mean()) / found.llc_se


@pytest.mark.long
@pytest.mark.parametrize(
    ("sampler", "module"),
    few(
        [
            (MALA(step_size=0.8), "mala"),
            (MALA(step_size=0.8, coordinates="prior"), "mala"),
            (PCN(step_size=0.8), "pcn"),
            (PCN(step_size=0.8, drift="none"), "pcn"),
            (SplitHMC(step_size=0.9, leapfrog_steps=2), "split_hmc"),
        ],
        2,
        unpack=True,
    ),
    ids=lambda s: str(s)[:40],
)
def test_an_asymmetric_law_is_met_and_missed_where_all_is_accepted(sampler, module, monkeypatch):
    assert off_on_the_skewed_line(sampler) < 4.5

    def accept_all(state, energy, position, end, gain, test):
        return decide(state, energy, position, end, torch.zeros_like(gain), test)

    monkeypatch.setattr(f"llc_core.samplers.{module}.decide", accept_all)
    # Proposals that are never refused have another distribution, or run away: then there is no number.
    assert not off_on_the_skewed_line(sampler) <= 6


def test_without_a_prior_the_sentence_says_what_to_do():
    problem = planar_landscape("quadratic", scales=(1.0, 0.3))
    with pytest.raises(ValueError, match="give localization > 0"):
        estimate(problem, "SplitHMC", steps=10, localization=0.0)
    with pytest.raises(ValueError, match="exact conditional distributions"):
        estimate(problem, "CollapsedPCN", steps=10)


@pytest.mark.parametrize(
    ("problem", "settings", "said"),
    [
        (BayesianNetwork(likelihood="laplace"), {}, "gaussian"),
        (BayesianNetwork(), {"localization": 1.0}, "localization is 1"),
        (BayesianNetwork(), {"grid": {"localization": [0.0, 2.0]}}, "localization is 2"),
    ],
)
def test_what_collapsed_chains_cannot_do_is_said_before_a_run_is_built(problem, settings, said):
    with pytest.raises(ValueError, match=said):
        resolve(RunConfig(problem=problem.to_dict(), sampler={"name": "CollapsedPCN"}, **settings))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sampler", "target"),
    [({"name": "MALA"}, 0.574), ({"name": "SplitHMC", "leapfrog_steps": 5}, 0.8), ({"name": "PCN"}, 0.574)],
)
def test_automatic_steps_hold_the_acceptance_and_are_then_frozen(sampler, target):
    easy = BayesianNetwork((1, 6, 6, 1), noise_variance=2.0)  # chains see the whole posterior within the burn-in
    run = Run(RunConfig(sampler=sampler, chains=32, steps=600, burn_in=300, seed=2), easy)
    run.advance(301)
    settled, before = float(run._step_size.current[0]), run.state
    run.advance(299)
    assert float(run._step_size.current[0]) == settled
    kept = (run.state["accepted"] * 600 - before["accepted"] * 301) / 299
    # The mean of log ε over 150 steps, each off by chance: |slope of the acceptance in log ε| < 0.5, its error below 0.1.
    assert abs(float(kept.mean()) - target) < 0.05


def test_a_short_burn_in_finds_the_step_of_trajectories():
    """Their acceptance is at most .2 above its target, so that a step that follows it alone is still far too short after 25 iterations
    (acceptance .95 there). 16 chains for 25 iterations: a standard error of .01 by the spread over chains."""
    config = RunConfig(sampler={"name": "SplitHMC", "leapfrog_steps": 5}, chains=16, steps=50, burn_in=25, seed=2)
    run = Run(config, BayesianNetwork((1, 20, 20, 1)))
    run.advance(26)
    before = run.state
    run.advance(24)
    kept = ((run.state["accepted"] * 50 - before["accepted"] * 26) / 24).numpy()
    assert abs(kept.mean() - 0.8) < 0.05 + 3 * kept.std() / 4


def test_automatic_steps_do_not_depend_on_how_the_run_is_cut():
    config = RunConfig(sampler={"name": "MALA"}, chains=3, steps=60)
    first, second = Run(config, PROBLEM), Run(config, PROBLEM)
    first.advance(60)
    for _ in range(20):
        second.advance(3)
    np.testing.assert_array_equal(first.displacements, second.displacements)
