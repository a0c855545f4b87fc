"""The terms of a step are those of the sampler at hand: measured against one step of its own, and absent where not defined."""

from __future__ import annotations

import math

import pytest
import torch
from cases import few

from llc_core import HMC, SGHMC, SGLD, SGNHT, UnderdampedLangevin, estimate, health, planar_landscape
from llc_core.observables.term_sizes import kicks
from llc_core.samplers import hyperparameters, samplers
from llc_core.types import Energy

H = 2e-3
TERMS = ("gradient_term", "localization_term", "noise_term")
KICKS = ("gradient_kick", "localization_kick", "noise_kick", "momentum_move")


def energy(force: float) -> Energy:
    """At w0, with ∇U = nβ·∇L of this size."""
    column = torch.ones(1, 1, dtype=torch.float64)
    zero = torch.zeros(1, 1, dtype=torch.float64)
    return Energy(zero[:, 0], force * column, zero, column, column)


def moves(sampler, momentum: float, force: float, noise: float) -> float:
    """How far one direction has gone after two steps, the second of them without force and noise; friction left out."""
    hp = hyperparameters(sampler, 1, torch.zeros(1, 1, dtype=torch.float64))
    one = torch.ones(1, 1, dtype=torch.float64)
    state = sampler.init(0 * one, momentum * one, hp)
    state = sampler.update(state, energy(force), noise * one[None], hp)
    first = float(state["delta"])
    second = float(sampler.update(state, energy(0.0), 0 * one[None], hp)["delta"]) - first
    return first if isinstance(sampler, UnderdampedLangevin) and not noise else second


@pytest.mark.parametrize(
    "sampler",
    [
        SGHMC(step_size=H, friction=1e-5),
        SGHMC(step_size=H, friction=1e-5, dynamics="printed"),
        SGNHT(step_size=H, friction=1e-5, thermal_mass=1e3),
        UnderdampedLangevin(step_size=H, friction=1e-3, mass="unit"),
    ],
    ids=["SGHMC", "printed", "SGNHT", "BAOAB"],
)
def test_kicks_are_what_a_step_does(sampler):
    """Friction takes at most 2e-5 of a momentum in these steps."""
    force, noise, move = kicks(sampler, H)
    assert -moves(sampler, 0.0, 3.0, 0.0) == pytest.approx(3 * force, rel=1e-4)
    assert moves(sampler, 0.0, 0.0, 1.0) == pytest.approx(noise, rel=1e-4)
    assert moves(sampler, 1.0, 0.0, 0.0) == pytest.approx(move, rel=1e-4)


def test_one_leapfrog_step_of_hmc():
    """From rest a force F moves w by h²F/2, and leaves a momentum that moves it by as much in the next half: h²F for a whole kick."""
    force, noise, move = kicks(HMC(step_size=H), H)
    assert (force, noise, move) == (H * H, H, H)


@pytest.mark.parametrize(
    "sampler",
    few(
        [
            SGNHT(step_size=3e-4),
            SGHMC(step_size=3e-4),
            UnderdampedLangevin(step_size=0.01, mass="unit"),
            HMC(step_size=0.01, mass="unit"),
        ],
        1,
    ),
    ids=lambda s: s.name,
)
def test_a_momentum_has_kicks_and_no_terms(sampler):
    problem = planar_landscape("quadratic")
    found = estimate(problem, sampler, chains=4, steps=800)
    assert not set(TERMS) & set(found.diagnostics) and set(KICKS) <= set(found.diagnostics)
    force, noise, move = (
        kicks(sampler, sampler.step_size)
        if sampler.name != "UnderdampedLangevin"
        else kicks(UnderdampedLangevin(step_size=0.01, friction=20.0, mass="unit"), 0.01)
    )
    assert found.diagnostics["noise_kick"] == pytest.approx(noise * math.sqrt(2))
    assert found.diagnostics["momentum_move"] == pytest.approx(move * math.sqrt(2))
    assert found.diagnostics["localization_kick"] == pytest.approx(force * found.diagnostics["distance"])
    names = {signal.name for signal in health(found)}
    assert not names & {"gradient term", "noise term", "localisation term"} and "distance" in names


def test_each_setting_of_a_grid_has_its_own_friction():
    grid = {"friction": [0.05, 0.2]}
    found = estimate(planar_landscape("quadratic"), SGHMC(step_size=3e-4), chains=2, steps=300, grid=grid)
    one, other = (each.diagnostics["noise_kick"] for each in found)
    assert other / one == pytest.approx(2.0)


def test_terms_are_those_of_overdamped_samplers_without_a_metric():
    problem = planar_landscape("quadratic")
    found = {
        name: set(estimate(problem, kind(step_size=1e-4), chains=2, steps=60).diagnostics)
        for name, kind in samplers().items()
        if name
        in (
            "SGLD",
            "ProximalSGLD",
            "DriftAdamSGLD",
            "PSGLD",
            "RMSPropSGLD",
            "AdamSGLD",
            "MongeSGLD",
            "ShampooSGLD",
            "SGLRW",
        )
    }
    with_terms = {name for name, has in found.items() if set(TERMS) <= has}
    assert with_terms == {"SGLD", "ProximalSGLD", "DriftAdamSGLD"}
    assert all("distance" in has for has in found.values())
    assert estimate(problem, SGLD(step_size=1e-4), chains=2, steps=60).diagnostics["noise_term"] == pytest.approx(
        math.sqrt(2e-4)
    )
