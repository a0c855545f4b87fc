"""The adaptive samplers: their distributions, scalar forms and square roots, and what the correction term of PSGLD is worth."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from cases import few
from scipy.integrate import cumulative_trapezoid
from scipy.linalg import block_diag, fractional_matrix_power
from scipy.special import ndtr
from targets import Averages, Quadratic, check_mean, sample

import llc_core
from llc_core.potentials.line.build import landscape
from llc_core.potentials.line.landscape import Landscape
from llc_core.samplers import (
    PSGLD,
    SGHMC,
    SGLD,
    SGLRW,
    SGNHT,
    AdamSGLD,
    CorrectedPSGLD,
    DriftAdamSGLD,
    FrozenPSGLD,
    MongeSGLD,
    RMSPropSGLD,
    Sampler,
    ShampooSGLD,
    build,
    hyperparameters,
    samplers,
)
from llc_core.types import Energy, Hp, State

torch.set_num_threads(1)

LINED: list[Sampler] = [
    SGLD(),
    PSGLD(alpha=0.8),
    PSGLD(alpha=0.3, stability=0.5),
    PSGLD(alpha=0.8, stability_form="inside"),
    PSGLD(alpha=0.8, gamma_term="dropped"),
    PSGLD(alpha=0.8, gamma_term="dropped", stability_form="inside", stability=0.3),
    CorrectedPSGLD(alpha=0.8),
    MongeSGLD(alpha=0.8, beta=0.7),
    MongeSGLD(alpha=0.8, beta=0.7, gamma_term="published"),
    MongeSGLD(alpha=0.8, beta=0.7, gamma_term="corrected"),
    ShampooSGLD(alpha=0.8),
    ShampooSGLD(alpha=0.8, gamma_term="published"),
    ShampooSGLD(alpha=0.8, gamma_term="corrected"),
    DriftAdamSGLD(alpha=0.8, beta=0.6, a=1.5),
    FrozenPSGLD(alpha=0.8),
    RMSPropSGLD(beta=0.8),
    AdamSGLD(beta1=0.6, beta2=0.8),
    SGLRW(),
]
"""Every sampler that has a scalar form, with settings of its own."""


def test_every_scalar_form_is_tested_here():
    lined = {name for name, cls in samplers().items() if cls().line() is not None}
    assert lined == {sampler.name for sampler in LINED}


# -- law() against line() ---------------------------------------------------------------------------------------------


def log_densities(sampler: Sampler, target: Landscape) -> Iterator[np.ndarray]:
    """Logarithms, up to a constant, of the density of the diffusion that `line` describes and of what `law` states.

    The diffusion dx = ½·drift dt + √G dW has the density (1/G)·exp(∫drift/G). As ε → 0 its memory is at its fixed point
    for the slope where the chain stands; a memory that freezes is the same everywhere.
    """
    # The slope vanishes at midpoints of the grid, where the trapezoidal rule does not mind a drift that jumps.
    cell = 1.5 / 15_000
    low, high = (round((q - target.mode) / cell) for q in target.quantile(np.array([1e-4, 1 - 1e-4])))
    x = target.mode + (np.arange(low, high) + 0.5) * cell
    g, h = target.slope(x), target.curvature(x)
    line, law = sampler.line(), sampler.law()
    assert line is not None and law is not None
    a, b = (np.full_like(x, value) for value in line.start)
    for _ in range(200):
        a, b = line.memory(a, b, np.full_like(g, 0.8) if line.freezes else g, line.parameters)
    drift, metric = line.move(a, b, g, h, line.parameters)
    metric = metric * np.ones_like(x)
    diffusion = cumulative_trapezoid(drift / metric, x, initial=0.0) - np.log(metric)

    stated = np.ones_like(x) if law.metric is None else law.metric(g)
    extra = np.zeros_like(x) if law.extra_drift is None else law.extra_drift(g)
    closed = -target.energy(x) / law.temperature - (1 - law.gamma_share) * np.log(stated)
    closed = closed + cumulative_trapezoid(extra / stated, x, initial=0.0)
    sure = stated * cell < 1.2e-3  # Shampoo's G has no bound: within some cells of a mode that rule is no test of it
    return (each[sure] - each[sure].mean() for each in (diffusion, closed))


@pytest.mark.parametrize("target", ["skewed", "double_well"])
@pytest.mark.parametrize("sampler", LINED, ids=lambda s: s.name)
def test_the_stated_law_is_that_of_the_scalar_form(sampler, target):
    diffusion, closed = log_densities(sampler, landscape(target))
    np.testing.assert_allclose(diffusion, closed, atol=1e-5)


@pytest.mark.parametrize("factor", [0.0, 2.0, 10.0])
def test_a_wrong_share_of_the_correction_is_another_law(factor):
    """Γ missing, doubled, or published where 1 − α was forgotten (α = 0.9: times ten)."""
    sampler = PSGLD()
    line = sampler.line()
    alpha, stability, share = line.parameters

    class Wrong(PSGLD):
        def line(self):
            return dataclasses.replace(line, parameters=(alpha, stability, factor * share))

    diffusion, closed = log_densities(Wrong(), landscape("normal"))
    assert np.abs(diffusion - closed).max() > 0.05


def test_laws_of_the_printed_dynamics():
    assert SGHMC(dynamics="printed").law().temperature == 2 and SGHMC().law().temperature == 1
    assert SGNHT(dynamics="printed").law() is None and SGNHT().law() is not None


# -- line() against update() ------------------------------------------------------------------------------------------


def energy_at(target: Landscape, delta: torch.Tensor) -> Energy:
    loss, grad = target.excess_loss_and_grad(delta)
    column = torch.ones_like(delta[:, :1])
    diagonal = target.hessian_diagonal(delta, None, torch.Generator())
    hvp = partial(target.hvp, delta)
    return Energy(loss, grad, delta, column, 0 * column, hessian_diagonal=diagonal, hvp=hvp)


@pytest.mark.parametrize("sampler", LINED, ids=lambda s: s.name)
def test_the_scalar_form_makes_the_same_steps(sampler):
    step, target, line = 0.05, landscape("skewed"), sampler.line()
    noises = torch.randn(50, 1, 3, 1, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    hp = hyperparameters(sampler.replace(step_size=step), 3, noises)
    start = torch.tensor([[-1.0], [0.3], [0.0]], dtype=torch.float64)
    state = sampler.init(start, noises[0, 0], hp)
    if sampler.name in ("RMSPropSGLD", "AdamSGLD"):
        # The scalar form leaves the bias corrections out: as after many steps.
        state["count"] = torch.full_like(state["count"], 1e9)
    x, (a, b) = target.mode + start.numpy(), (np.full((3, 1), value) for value in line.start)
    for index, noise in enumerate(noises):
        frozen = index >= 30
        hp.adapting = torch.full_like(hp.adapting, 0.0 if frozen else 1.0)
        state = sampler.update(state, energy_at(target, state["delta"]), noise, hp)
        g, h = target.slope(x), target.curvature(x)
        if not (line.freezes and frozen):
            a, b = line.memory(a, b, g, line.parameters)
        drift, metric = line.move(a, b, g, h if line.uses_curvature else 7.0, line.parameters)
        root, kick = np.sqrt(step * metric), noise[0].numpy()
        if line.signs:
            x = x + root * np.where(ndtr(kick) > 0.5 - step / 4 * drift / root, 1, -1)
        else:
            x = x + step / 2 * drift + root * kick
        np.testing.assert_allclose(target.mode + state["delta"].numpy(), x, rtol=1e-12, atol=1e-12)


# -- first steps in the notation of the papers --------------------------------------------------------------------------


def by_hand(sampler: Any, w: float, noises: list[float]) -> list[float]:
    """One chain, one parameter: U = 10·L + w²/4, L = cosh w − 1. The last two steps are after burn-in."""
    e, al, name = 1e-3, sampler.alpha, sampler.name
    lam = getattr(sampler, "stability", 0.0)
    kept = {"published": 1 - al, "corrected": 1.0}.get(getattr(sampler, "gamma_term", ""), 0.0)
    v = lam if name == "ShampooSGLD" else 1.0 if getattr(sampler, "stability_form", "") == "inside" else 0.0
    m, path = 0.0, []
    for t, xi in enumerate(noises):
        g, h = math.sinh(w), math.cosh(w)
        force = 10 * g + 0.5 * w
        if name == "MongeSGLD":
            v = al * v + (1 - al) * g
        elif name != "FrozenPSGLD":
            v = al * v + (1 - al) * g**2
        elif t < 3:
            # 2/(t + 2) counts steps from 0: with α = ⅖ it is 1 − α = 0.6 first, then ⅔ → 0.6, then ½.
            v += [0.6, 0.6, 0.5][t] * (g**2 - v)
        if name == "PSGLD":
            big = 1 / (lam + math.sqrt(v)) if sampler.stability_form == "outside" else 1 / math.sqrt(lam**2 + v)
            if sampler.gamma_term == "dropped":
                gamma = 0.0
            elif sampler.stability_form == "outside":
                gamma = -(1 - al) * g * h / (math.sqrt(v) * (lam + math.sqrt(v)) ** 2)
            else:
                gamma = -(1 - al) * g * h * big**3
        elif name == "CorrectedPSGLD":
            big = 1 / math.sqrt(lam**2 + v)
            gamma = -(big**3) * g * h
        elif name == "MongeSGLD":
            s = sampler.beta**2 / (1 + sampler.beta**2 * v**2)
            big = 1 - s * v**2
            gamma = -kept * (2 * s * v * h - 2 * s**2 * v**3 * h)
        elif name == "ShampooSGLD":
            big, gamma = v**-0.5, -kept * v**-1.5 * g * h
        elif name == "FrozenPSGLD":
            big, gamma = 1 / (lam + math.sqrt(v)), 0.0
        else:
            m = sampler.beta * m + (1 - sampler.beta) * g
            big, gamma = 1.0, -sampler.a * m / (lam + math.sqrt(v))
        w += e / 2 * (-big * force + gamma) + math.sqrt(e * big) * xi
        path.append(w)
    return path


@pytest.mark.parametrize(
    "sampler",
    [
        PSGLD(),
        PSGLD(stability_form="inside"),
        PSGLD(gamma_term="dropped"),
        CorrectedPSGLD(alpha=0.7, stability=0.2),
        *(MongeSGLD(beta=1.7, gamma_term=term) for term in ("dropped", "published", "corrected")),
        *(ShampooSGLD(gamma_term=term) for term in ("dropped", "published", "corrected")),
        DriftAdamSGLD(a=3.0),
        FrozenPSGLD(alpha=0.4),
    ],
    ids=lambda s: s.name,
)
def test_first_steps_by_hand(sampler):
    column = torch.ones(1, 1, dtype=torch.float64)
    hp = hyperparameters(sampler.replace(step_size=1e-3), 1, column)
    noises = [0.3, -1.2, 0.8, 0.1, 2.0]
    state, path = sampler.init(0.7 * column, column, hp), []
    for t, xi in enumerate(noises):
        if t == 3:
            hp.adapting = 0 * column
        w = state["delta"]
        energy = Energy(w.cosh()[:, 0] - 1, w.sinh(), w, 10 * column, 0.5 * column, hessian_diagonal=w.cosh())
        energy = dataclasses.replace(energy, hvp=lambda vector, w=w: w.cosh() * vector)
        state = sampler.update(state, energy, xi * column.unsqueeze(0), hp)
        path.append(float(state["delta"]))
    assert path == pytest.approx(by_hand(sampler, 0.7, noises), rel=1e-12)


def test_statistics_come_from_the_metrics_own_gradient():
    """With energy.metric_grad = 0 every preconditioner stays where it is at rest, whatever the loss's gradient."""
    column = torch.ones(1, 1, dtype=torch.float64)
    quiet = torch.zeros(1, 1, 1, dtype=torch.float64)
    kept = {"square": 0.0, "mean": 0.0, "factor0_0": 0.9 * 1e-3}
    for name in ("PSGLD", "CorrectedPSGLD", "MongeSGLD", "ShampooSGLD", "FrozenPSGLD"):
        sampler = build(name)
        hp = hyperparameters(sampler.replace(step_size=1e-3), 1, column)
        energy = Energy(column[:, 0], column, column, column, column, metric_grad=0 * column, hessian_diagonal=column)
        state = sampler.update(sampler.init(column, column, hp), energy, quiet, hp)
        for key in set(kept) & set(state):
            assert float(state[key]) == pytest.approx(kept[key], rel=1e-12), (name, key)
    for sampler, key in ((RMSPropSGLD(), "square"), (AdamSGLD(), "square"), (DriftAdamSGLD(), "square")):
        hp = hyperparameters(sampler.replace(step_size=1e-3), 1, column)
        state = sampler.init(column, column, hp)
        energy = Energy(column[:, 0], column, column, column, column, metric_grad=0 * column)
        assert (sampler.update(state, energy, quiet, hp)[key] <= state[key]).all(), sampler.name


# -- square roots of full metrics -------------------------------------------------------------------------------------


def drift_and_noise(sampler: Sampler, state: State, energy: Energy, hp: Hp) -> tuple[np.ndarray, np.ndarray]:
    """What one step multiplies ∇U by, applied to it, [D], and the matrix that it multiplies the noise by, [D, D], in
    units of ε/2 and √ε. One chain per noise direction; all chains are in the same state."""
    step = float(hp.step_size[0])
    dim = state["delta"].shape[1]
    noise = torch.eye(dim, dtype=torch.float64).unsqueeze(0)
    still = sampler.update(state, energy, 0 * noise, hp)["delta"]
    moved = sampler.update(state, energy, noise, hp)["delta"]
    return ((still - state["delta"])[0] / (-step / 2)).numpy(), ((moved - still).T / math.sqrt(step)).numpy()


def several(sampler: Sampler, dim: int, layers: Any, steps: int) -> tuple[State, list[np.ndarray], Energy, Hp]:
    """dim equal chains after `steps` steps with given gradients; the gradients, and the energy of the step to come."""
    generator = torch.Generator().manual_seed(3)
    gradients = torch.randn(steps + 1, dim, generator=generator, dtype=torch.float64)
    column = torch.ones(dim, 1, dtype=torch.float64)
    hp = hyperparameters(sampler.replace(step_size=1e-2), dim, column, layers)
    zero = torch.zeros(dim, dim, dtype=torch.float64)
    state = sampler.init(zero, zero, hp)
    energies = [Energy(zero[:, 0], g.expand(dim, dim), zero, 3 * column, 0 * column) for g in gradients]
    for energy in energies[:-1]:
        state = sampler.update(state, energy, zero.unsqueeze(0), hp)
    return state, [g.numpy() for g in gradients], energies[-1], hp


@pytest.mark.parametrize("dim", [1, 5])
def test_monge_takes_the_square_root_of_its_metric(dim):
    sampler = MongeSGLD(alpha=0.6, beta=1.3)
    state, gradients, energy, hp = several(sampler, dim, None, 4)
    v = np.zeros(dim)
    for g in gradients:
        v = 0.6 * v + 0.4 * g
    metric = np.linalg.inv(np.eye(dim) + 1.3**2 * np.outer(v, v))
    drift, root = drift_and_noise(sampler, state, energy, hp)
    np.testing.assert_allclose(drift, metric @ (3 * gradients[-1]), rtol=1e-10)
    np.testing.assert_allclose(root @ root.T, metric, rtol=1e-10)
    at_rest = dataclasses.replace(energy, loss_grad=0 * energy.loss_grad)
    first = sampler.init(0 * state["delta"], state["delta"], hp)
    np.testing.assert_array_equal(drift_and_noise(sampler, first, at_rest, hp)[1], np.eye(dim))


LONG = 130
"""Longer than the modes that keep a full matrix."""


@pytest.mark.parametrize(
    "layers", [((3, 4), (5, 2), (6,)), ((2, 3, 2), (1, 1)), None, ((LONG, 2),), ((LONG,),)], ids=str
)
def test_shampoo_takes_the_square_root_of_its_metric(layers):
    blocks = layers or ((7,),)
    dim = sum(math.prod(shape) for shape in blocks)
    sampler = ShampooSGLD(alpha=0.8, stability=0.02)
    state, gradients, energy, hp = several(sampler, dim, layers, 6)
    parts, start = [], 0
    for shape in blocks:
        stop = start + math.prod(shape)
        rows = shape[0] if len(shape) > 1 else stop - start
        left, right = 0.02 * np.eye(rows), 0.02 * np.eye((stop - start) // rows)
        for gradient in gradients:
            g = gradient[start:stop].reshape(rows, -1)
            left, right = 0.8 * left + 0.2 * g @ g.T, 0.8 * right + 0.2 * g.T @ g
        if rows > 128:
            left = np.diag(np.diag(left))
        if len(shape) > 1:
            parts.append(np.kron(fractional_matrix_power(left, -0.25), fractional_matrix_power(right, -0.25)))
        else:
            parts.append(fractional_matrix_power(left, -0.5))
        start = stop
    metric = block_diag(*parts)
    drift, root = drift_and_noise(sampler, state, energy, hp)
    np.testing.assert_allclose(root @ root.T, metric, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(drift, metric @ (3 * gradients[-1]), rtol=1e-8, atol=1e-8)
    after = sampler.update(state, energy, torch.zeros(1, dim, dim, dtype=torch.float64), hp)
    bound = sampler.metric(after, hp)[0].numpy()
    assert (bound >= np.diag(metric) * (1 - 1e-9)).all()
    assert np.linalg.eigvalsh(np.diag(bound) - metric)[0] > -1e-6 * bound.max()


def test_a_chain_that_overflows_leaves_shampoos_others_alone():
    sampler = ShampooSGLD(step_size=1e-2)
    delta = torch.tensor([[1.0, 2.0], [math.nan, 1.0], [0.5, -1.0]], dtype=torch.float64)
    column, noise = torch.ones(3, 1, dtype=torch.float64), torch.ones(1, 3, 2, dtype=torch.float64)
    hp = hyperparameters(sampler, 3, column)
    energy = Energy(delta.square().sum(1) / 2, delta, delta, column, column)
    after = sampler.update(sampler.init(delta, delta, hp), energy, noise, hp)["delta"]
    assert torch.isfinite(after).all(dim=1).tolist() == [True, False, True]


def test_shampoo_refuses_layers_that_do_not_fit():
    column = torch.ones(1, 5, dtype=torch.float64)
    hp = hyperparameters(ShampooSGLD(), 1, column[:, :1], ((2, 3),))
    with pytest.raises(ValueError, match="5 parameters"):
        ShampooSGLD().init(column, column, hp)


# -- distributions in long simulations -----------------------------------------------------------------------------------------


def law_moments(sampler: Sampler) -> tuple[float, float]:
    """E x² and E x⁴ of the sampler's distribution on the standard normal, by quadrature."""
    law = sampler.law()
    x = (np.arange(-100_000, 100_000) + 0.5) * 1e-4
    log = -x * x / 2 / law.temperature
    if law.metric is not None:
        log = log - (1 - law.gamma_share) * np.log(law.metric(x))
    if law.extra_drift is not None:
        log = log + cumulative_trapezoid(law.extra_drift(x), x, initial=0.0)
    weight = np.exp(log - log.max())
    return tuple(float((x**k * weight).sum() / weight.sum()) for k in (2, 4))


@pytest.mark.parametrize(
    "sampler, second",
    [
        (PSGLD(), 1.795),
        (PSGLD(gamma_term="dropped"), 1.889),
        (CorrectedPSGLD(), 1.0),
        (FrozenPSGLD(), 1.0),
        (MongeSGLD(), 2.0),
        (MongeSGLD(gamma_term="corrected"), 1.0),
        (ShampooSGLD(), 2.0),
        (ShampooSGLD(gamma_term="corrected"), 1.0),
        (DriftAdamSGLD(), 0.5185),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_second_moments_of_the_laws_with_their_default_settings(sampler, second):
    assert law_moments(sampler)[0] == pytest.approx(second, abs=5e-4)


BIASED = [
    (PSGLD(alpha=0.5, step_size=1e-3), 1.43),
    (PSGLD(alpha=0.5, step_size=1e-3, gamma_term="dropped"), 1.89),
    (PSGLD(alpha=0.5, step_size=1e-3, stability_form="inside"), 1.470),
    (MongeSGLD(alpha=0.5, step_size=0.01), 2.0),
    (ShampooSGLD(alpha=0.5, step_size=2e-3), 2.0),
    (DriftAdamSGLD(alpha=0.5, step_size=0.01), 0.5185),
]


@pytest.mark.slow
@pytest.mark.parametrize("sampler, second", BIASED, ids=lambda value: getattr(value, "name", ""))
def test_simulations_follow_the_stated_law_and_not_the_target(sampler, second):
    exact, fourth = law_moments(sampler)
    assert exact == pytest.approx(second, abs=0.01)
    unit = round(1 / sampler.step_size)
    length = 6 * unit if sampler.step_size < 0.01 else 24 * unit  # Monge's tails take long, and large steps cost little
    settings = {"chains": 2500, "steps": length, "burn_in": 2 * length // 3, "every": unit // 50}
    result = sample(sampler, landscape("normal"), start=1.2, **settings)
    check_mean(result.powers[1][:, 0], exact, math.sqrt(fourth - exact**2), 0.04 * exact, 500)


# -- the correction term in ten dimensions ----------------------------------------------------------------------------

NORMAL = Quadratic(np.ones(10))


def pooled(sampler: Sampler, chains: int, steps: int) -> tuple[float, float]:
    """Second moment on the ten-dimensional standard normal, mean over time, coordinates and chains, and its error."""
    result: Averages = sample(sampler, NORMAL, chains=chains, steps=steps, burn_in=steps // 4, start=1.0, every=10)
    second = result.powers[1].mean(axis=1)
    return float(second.mean()), float(second.std(ddof=1) / math.sqrt(chains))


def check_ten(sampler: Sampler, chains: int = 1300, steps: int = 12_000, widest: float = 0.007) -> None:
    """Assert second moments within 3%, with a standard error of at most `widest`."""
    second, se = pooled(sampler, chains, steps)
    assert se <= widest, f"standard error {se:.4f}"
    assert abs(second - 1) <= 0.03, f"{second:.4f}: off by {second - 1:.4f}"


CORRECTED = CorrectedPSGLD(step_size=1e-3, alpha=0.5, stability=0.1)


@pytest.mark.slow
def test_corrected_psgld_has_the_right_second_moments_in_ten_dimensions():
    check_ten(CORRECTED)


@pytest.mark.slow
@pytest.mark.parametrize(
    "form, gamma, off",
    few(
        [("outside", "published", 0.40), ("outside", "dropped", 0.85), ("inside", "published", 0.43)],
        1,
        True,
        rare=False,
    ),
)
def test_psglds_are_far_off_there(form, gamma, off):
    sampler = PSGLD(step_size=1e-3, alpha=0.5, stability_form=form, gamma_term=gamma)
    second, _ = pooled(sampler, 200, 7500)
    assert second - 1 == pytest.approx(off, abs=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["published factor", "doubled", "without", "noise too large"])
def test_that_check_catches(bug):
    share = {"published factor": 0.5, "doubled": 2.0, "without": 0.0}.get(bug, 1.0)
    noisy = math.sqrt(2) if bug == "noise too large" else 1.0

    class Buggy(CorrectedPSGLD):
        def update(self, state, energy, noise, hp):
            spoilt = dataclasses.replace(energy, hessian_diagonal=share * energy.hessian_diagonal)
            return super().update(state, spoilt, noisy * noise, hp)

    with pytest.raises(AssertionError, match="off by"):
        check_ten(Buggy(step_size=1e-3, alpha=0.5, stability=0.1), chains=200, steps=4500, widest=0.1)


def test_the_rule_for_the_memory_has_the_scale_of_the_curvature():
    """On a loss of curvature h, x√h makes the very steps of curvature 1 with λ/√h and ε√h; the rule agrees on both."""
    h = 9.0
    steep = CorrectedPSGLD(step_size=1e-3, alpha=0.5, stability=0.3)
    plain = CorrectedPSGLD(step_size=1e-3 * math.sqrt(h), alpha=0.5, stability=0.3 / math.sqrt(h))
    results = [
        sample(sampler, Quadratic([c]), chains=3, steps=300, burn_in=150).powers[1] * c
        for sampler, c in ((steep, h), (plain, 1.0))
    ]
    np.testing.assert_allclose(*results, rtol=1e-9)
    assert steep.memory_limit(h) / 1e-3 == pytest.approx(plain.memory_limit() / (1e-3 * math.sqrt(h)))
    assert CorrectedPSGLD(alpha=0.9, stability=0.1).memory_limit() == pytest.approx(1e-4)
    assert steep.caveat() == ""


# -- the frozen metric ------------------------------------------------------------------------------------------------


def frozen_path(alpha: float, slopes: np.ndarray, adapting: int) -> list[float]:
    """V of FrozenPSGLD along given gradients, of which the first `adapting` belong to the burn-in."""
    sampler = FrozenPSGLD(step_size=1e-3, alpha=alpha)
    column = torch.ones(1, 1, dtype=torch.float64)
    hp = hyperparameters(sampler, 1, column)
    state, path = sampler.init(0 * column, column, hp), []
    for t, slope in enumerate(slopes):
        hp.adapting = column * (t < adapting)
        energy = Energy(column[:, 0], slope * column, state["delta"], column, column)
        state = sampler.update(state, energy, 0 * column.unsqueeze(0), hp)
        path.append(float(state["square"]))
    return path


def test_the_frozen_metric_is_a_mean_over_the_burn_in_and_then_stands_still():
    slopes = np.random.default_rng(5).standard_normal(500)
    path = frozen_path(0.0, slopes, 400)
    times = np.arange(1, 401)
    assert path[399] == pytest.approx((times * slopes[:400] ** 2).sum() / times.sum(), rel=1e-12)
    assert set(path[399:]) == {path[399]}
    late = frozen_path(0.9, slopes, 400)[399]
    assert late == pytest.approx(path[399], rel=0.02)


@pytest.mark.slow
def test_a_frozen_metric_samples_the_target_where_a_moving_one_does_not():
    found = {}
    for sampler in (FrozenPSGLD(step_size=0.02), PSGLD(step_size=0.02, alpha=0.5)):
        result = sample(sampler, NORMAL, chains=60, steps=4000, burn_in=2000)
        found[sampler.name] = result.powers[1].mean(axis=1)
    check_mean(found["FrozenPSGLD"], 1.0, math.sqrt(2), 0.01)
    assert found["PSGLD"].mean() > 1.25
    # Never frozen, with PSGLD's own rate: the check sees it.
    with pytest.raises(AssertionError, match="off by"):
        check_mean(found["PSGLD"], 1.0, math.sqrt(2), 0.01)


@pytest.mark.slow
def test_corrected_and_frozen_psgld_estimate_a_quadratic_where_psgld_does_not():
    """λ̂ through the engine, gradients of the size of λ."""
    target = Quadratic(np.ones(12))
    exact, found = target.llc(1000.0, 1.0), {}
    for sampler in (PSGLD(stability=0.04), CorrectedPSGLD(alpha=0.5, stability=0.04), FrozenPSGLD(stability=0.04)):
        settings = {"chains": 48, "steps": 3500, "burn_in": 2500, "n_beta": 1000.0, "progress": False}
        found[sampler.name] = llc_core.estimate(target, sampler.replace(step_size=3e-6), **settings)
    for name in ("CorrectedPSGLD", "FrozenPSGLD"):
        assert abs(found[name].llc - exact) < 0.05 * exact + 4 * found[name].llc_se, name
    assert found["PSGLD"].llc > 1.1 * exact
