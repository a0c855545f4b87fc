"""The correction term Γ of Monge and Shampoo: against finite differences of G, and by the distributions that it leads to."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
import torch
from cases import few
from scipy.linalg import block_diag
from targets import Quadratic, check_mean, sample

import llc_core
from llc_core.bins import Bins
from llc_core.samplers import MongeSGLD, Sampler, ShampooSGLD, hyperparameters
from llc_core.samplers.correction import kept
from llc_core.samplers.shampoo_sgld import MOST_CORRECTED
from llc_core.samplers.spectrum import CONDITION, Spectrum
from llc_core.stationary import exact_law, limit_law, target_law, total_variation
from llc_core.types import Energy, State

torch.set_num_threads(1)

STEP, ALPHA = 1e-2, 0.6
ABOVE_AND_BELOW = 1e-5
"""Of the finite differences. Their error is of order 10⁻¹⁰ of G's third derivative, and 10⁻¹¹ of G from rounding."""

# -- finite differences of G ------------------------------------------------------------------------------------------


class Bent:
    """L(w) = ½wᵀAw + Σ w_i⁴/12, whose Hessian A + diag(w²) is dense and moves."""

    def __init__(self, dim: int):
        random = np.random.default_rng(dim)
        root = random.standard_normal((dim, dim))
        self.matrix = root @ root.T / dim + np.eye(dim)

    def grad(self, w: np.ndarray) -> np.ndarray:
        return self.matrix @ w + w**3 / 3

    def hessian(self, w: np.ndarray) -> np.ndarray:
        return self.matrix + np.diag(w**2)

    def energy(self, w: np.ndarray) -> Energy:
        hessian = torch.tensor(self.hessian(w))
        one, place = torch.ones(1, 1, dtype=torch.float64), torch.tensor(w)[None]
        return Energy(
            one[0], torch.tensor(self.grad(w))[None], place, 3 * one, one,
            hessian_diagonal=hessian.diagonal()[None], hvp=lambda vector: vector @ hessian,
        )  # fmt: skip


def power(matrix: np.ndarray, exponent: float) -> np.ndarray:
    values, vectors = np.linalg.eigh(matrix)
    return vectors @ np.diag(np.maximum(values, CONDITION * values[-1]) ** exponent) @ vectors.T


def metric(sampler: Any, old: State, grad: np.ndarray, layers: Any, rate: float) -> np.ndarray:
    """G [D, D] by its definition, after the memories `old` took in `grad` with weight `rate`."""
    if isinstance(sampler, MongeSGLD):
        v = (1 - rate) * old["mean"][0].numpy() + rate * grad
        return np.linalg.inv(np.eye(len(v)) + sampler.beta**2 * np.outer(v, v))
    parts, start = [], 0
    for index, shape in enumerate(layers or ((len(grad),),)):
        block = grad[start : start + math.prod(shape)].reshape(shape[0], -1)
        start += block.size
        factors = [block @ block.T, block.T @ block][: len(shape)]
        factors = [(1 - rate) * old[f"factor{index}_{m}"][0].numpy() + rate * f for m, f in enumerate(factors)]
        roots = [power(factor, -1 / (2 * len(factors))) for factor in factors]
        parts.append(roots[0] if len(roots) == 1 else np.kron(*roots))
    return block_diag(*parts)


def gamma_of_a_step(sampler: Any, old: State, energy: Energy, layers: Any) -> np.ndarray:
    """Γ [D]: by what a step differs from the one without it, in units of ε/2."""
    moved = []
    for each in (sampler, sampler.replace(gamma_term="dropped")):
        hp = hyperparameters(each, 1, energy.delta, layers)
        state = {**old, "delta": energy.delta}
        moved.append(each.update(state, energy, torch.ones(1, *energy.delta.shape, dtype=torch.float64), hp)["delta"])
    return ((moved[0] - moved[1])[0] / (STEP / 2)).numpy()


def divergence(g_of: Any, w: np.ndarray) -> np.ndarray:
    """Σ_j ∂G_ij/∂w_j by central differences."""
    total = np.zeros_like(w)
    for j, unit in enumerate(np.eye(len(w)) * ABOVE_AND_BELOW):
        total += (g_of(w + unit) - g_of(w - unit))[:, j] / (2 * ABOVE_AND_BELOW)
    return total


CASES = [
    (MongeSGLD(beta=0.7), 1, None),
    (MongeSGLD(beta=1.3), 5, None),
    (ShampooSGLD(stability=0.5), 1, None),
    (ShampooSGLD(stability=0.5), 4, None),
    (ShampooSGLD(stability=0.5), 6, ((2, 3),)),
    (ShampooSGLD(stability=0.5), 11, ((3, 2), (4,), (1, 1))),
    (ShampooSGLD(stability=0.5), 12, ((2, 3, 2),)),
]


def memories(sampler: Any, loss: Bent, dim: int, layers: Any, last: np.ndarray | None) -> State:
    """What is remembered after five steps at several places, or after so many at `last` alone that the start is forgotten."""
    plain = sampler.replace(gamma_term="dropped")
    places = np.random.default_rng(7).standard_normal((5, dim)) if last is None else [last] * 200
    state: State | None = None
    for place in places:
        energy = loss.energy(place)
        hp = hyperparameters(plain, 1, energy.delta, layers)
        state = plain.init(energy.delta, energy.delta, hp) if state is None else state
        state = plain.update(state, energy, torch.zeros(1, 1, dim, dtype=torch.float64), hp)
    assert state is not None
    return state


@pytest.mark.parametrize("sampler, dim, layers", CASES, ids=lambda v: getattr(v, "name", str(v)))
def test_the_published_term_is_the_derivative_of_g_with_the_old_memory_held_fixed(sampler, dim, layers):
    sampler, loss = sampler.replace(alpha=ALPHA, step_size=STEP), Bent(dim)
    old, w = memories(sampler, loss, dim, layers, None), np.linspace(-0.8, 1.1, dim + 1)[1:]
    expected = divergence(lambda at: metric(sampler, old, loss.grad(at), layers, 1 - ALPHA), w)
    published = gamma_of_a_step(sampler.replace(gamma_term="published"), old, loss.energy(w), layers)
    np.testing.assert_allclose(published, expected, rtol=1e-6, atol=1e-7 * np.abs(expected).max())
    whole = gamma_of_a_step(sampler.replace(gamma_term="corrected"), old, loss.energy(w), layers)
    np.testing.assert_allclose(whole, published / (1 - ALPHA), rtol=1e-9)


@pytest.mark.parametrize("sampler, dim, layers", CASES, ids=lambda v: getattr(v, "name", str(v)))
def test_the_whole_term_is_the_derivative_of_the_g_that_follows_the_chain(sampler, dim, layers):
    """Then Shampoo's matrices are of rank one: all their other eigenvalues are cut off, and move with the largest."""
    sampler, loss = sampler.replace(alpha=ALPHA, step_size=STEP), Bent(dim)
    w = np.linspace(-0.8, 1.1, dim + 1)[1:]
    old = memories(sampler, loss, dim, layers, w)
    expected = divergence(lambda at: metric(sampler, old, loss.grad(at), layers, 1.0), w)
    whole = gamma_of_a_step(sampler.replace(gamma_term="corrected"), old, loss.energy(w), layers)
    np.testing.assert_allclose(whole, expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("bug", ["sign of a term", "factor of a term", "trace left out", "product left out"])
def test_the_check_of_monge_catches(bug, monkeypatch):
    def wrong(v: torch.Tensor, s: torch.Tensor, energy: Energy) -> torch.Tensor:
        image, trace = energy.hvp(v), energy.hessian_diagonal.sum(dim=1, keepdim=True)
        across = (v * image).sum(dim=1, keepdim=True)
        second = {"sign of a term": -2, "factor of a term": 1}.get(bug, 2)
        return -s * (
            (bug != "product left out") * image + ((bug != "trace left out") * trace - second * s * across) * v
        )

    monkeypatch.setattr("llc_core.samplers.monge_sgld._divergence", wrong)
    with pytest.raises(AssertionError, match="Not equal"):
        test_the_published_term_is_the_derivative_of_g_with_the_old_memory_held_fixed(*CASES[1])


@pytest.mark.parametrize("bug", ["doubled", "only the diagonal", "cut eigenvalues that stand still"])
def test_the_check_of_shampoo_catches(bug, monkeypatch):
    right = Spectrum.change_of_inverse_root

    def wrong(self: Spectrum, degree: int, change: torch.Tensor) -> torch.Tensor:
        if bug == "only the diagonal":
            change = torch.diag_embed(change.diagonal(dim1=2, dim2=3))
        if bug == "cut eigenvalues that stand still":
            self = dataclasses.replace(self, uncut=self.values)
        return (2 if bug == "doubled" else 1) * right(self, degree, change)

    monkeypatch.setattr(Spectrum, "change_of_inverse_root", wrong)
    with pytest.raises(AssertionError, match="Not equal"):
        test_the_whole_term_is_the_derivative_of_the_g_that_follows_the_chain(*CASES[4])


def test_shampoo_says_for_how_many_parameters_it_has_the_term():
    column = torch.ones(1, MOST_CORRECTED + 1, dtype=torch.float64)
    sampler = ShampooSGLD(gamma_term="published")
    hp = hyperparameters(sampler, 1, column[:, :1])
    with pytest.raises(ValueError, match="gamma_term is 'published'.* up to 64 .* here are 65; use 'dropped'"):
        sampler.init(column, column, hp)
    assert sampler.init(column[:, 1:], column[:, 1:], hp)


# -- on the line: exact distributions of the discrete chain -----------------------------------------------------------

TERMS = ("dropped", "published", "corrected")


def distances(sampler: Sampler, target: str, step: float) -> tuple[float, float]:
    """Total variation of the exact distribution at this ε to the predicted one and to the target."""
    bins = Bins(-3, 3, 80)
    found = exact_law(sampler, target, step, resolution=0.6).masses(bins)
    return total_variation(found, limit_law(sampler, target).masses(bins)), total_variation(
        found, target_law(target).masses(bins)
    )


@pytest.mark.parametrize("target", ["normal", "skewed"])
@pytest.mark.parametrize("term", TERMS)
def test_monge_tends_to_the_stated_law_like_the_step_size(term, target):
    """Error of first order in ε, and of less than 10⁻³ from the grid."""
    sampler = MongeSGLD(alpha=0.5, gamma_term=term)
    large, _ = distances(sampler, target, 1e-2)
    small, to_target = distances(sampler, target, 1e-3)
    assert large < 0.01 and small < large / 10 + 1e-3
    assert to_target < small + 1e-3 if term == "corrected" else to_target > 0.1


@pytest.mark.parametrize("target", few(["skewed", "normal"], 1))
@pytest.mark.parametrize("term", TERMS)
def test_shampoo_tends_to_the_stated_law(term, target):
    """Near a mode V cannot follow. The layer's width is of order ε^⅓, so that a thousandth of ε leaves a tenth of the distance,
    and less where the density vanishes there."""
    sampler = ShampooSGLD(alpha=0.5, gamma_term=term)
    large, _ = distances(sampler, target, 1e-3)
    small, to_target = distances(sampler, target, 1e-6)
    assert large < 0.025 and small < 0.15 * large + 1e-3
    assert to_target < small + 1e-3 if term == "corrected" else to_target > 0.1


@pytest.mark.parametrize("factor", [-1.0, 0.0, 0.5, 2.0], ids=["sign", "left out", "published", "doubled"])
@pytest.mark.parametrize("sampler, step", [(MongeSGLD(alpha=0.5), 1e-3), (ShampooSGLD(alpha=0.5), 1e-6)])
def test_those_checks_catch_a_wrong_share(sampler, step, factor):
    whole = sampler.replace(gamma_term="corrected")

    class Wrong(type(whole)):  # type: ignore[misc]
        def line(self):
            line = whole.line()
            return dataclasses.replace(line, parameters=(*line.parameters[:-1], factor))

    wrong = Wrong(**{field.name: getattr(whole, field.name) for field in dataclasses.fields(whole)})
    try:
        assert distances(wrong, "normal", step)[1] > 0.05
    except ValueError as error:  # with the sign of Γ turned round the chain may run away
        assert "runs away" in str(error)


# -- in ten dimensions ------------------------------------------------------------------------------------------------

DIM, BETA = 10, 0.25


class Tilted(Quadratic):
    """Like `Quadratic` in coordinates that are turned, so that all ten depend on each other; as `layers` ten blocks of one."""

    def __init__(self, curvatures: np.ndarray):
        super().__init__(curvatures)
        turn = np.linalg.qr(np.random.default_rng(1).standard_normal((len(curvatures),) * 2))[0]
        self.matrix = torch.tensor(turn @ np.diag(curvatures) @ turn.T)
        self.variances = np.linalg.inv(self.matrix.numpy()).diagonal()

    @property
    def layers(self) -> tuple[tuple[int, ...], ...]:
        return ((1,),) * self.dim

    def excess_loss_and_grad(self, delta: torch.Tensor, batch: Any = None) -> tuple[torch.Tensor, torch.Tensor]:
        grad = delta @ self.matrix
        return (grad * delta).sum(dim=1) / 2, grad

    def hvp(self, delta: torch.Tensor, vector: torch.Tensor) -> torch.Tensor:
        return vector @ self.matrix

    def hessian_diagonal(self, delta: torch.Tensor, batch: Any, generator: Any) -> torch.Tensor:
        return self.matrix.diagonal().expand_as(delta)


INDEPENDENT, DEPENDENT = Tilted(np.ones(DIM)), Tilted(np.linspace(0.5, 2.0, DIM))


def monge(term: str) -> MongeSGLD:
    return MongeSGLD(step_size=0.02, alpha=0.5, beta=BETA, gamma_term=term)


def ratios(sampler: Sampler, target: Tilted, chains: int = 500, steps: int = 2000) -> tuple[np.ndarray, np.ndarray]:
    """E w_i² as multiples of the target's, [10], and their standard errors."""
    found = sample(sampler, target, chains=chains, steps=steps, burn_in=steps // 4, start=1.0, every=5).powers[1]
    return found.mean(axis=0) / target.variances, found.std(axis=0, ddof=1) / math.sqrt(chains) / target.variances


def widening(sampler: Any, target: Tilted) -> float:
    """Of a variance by the step size, 1/(1 − εh/4) − 1 for the largest curvature: less of it where G is below I."""
    return 1 / (1 - sampler.step_size * float(target.curvatures.max()) / 4) - 1


@pytest.mark.slow
@pytest.mark.parametrize("target", [INDEPENDENT, DEPENDENT], ids=["independent", "dependent"])
def test_monge_with_the_whole_term_has_the_targets_moments_and_otherwise_not(target):
    for term in TERMS:
        ratio, se = ratios(monge(term), target)
        if term == "corrected":
            assert se.max() < 0.06
            assert (np.abs(ratio - 1) < 4.5 * se + widening(monge(term), target)).all(), ratio
        else:
            assert ((ratio - 1) > 4 * se).all() and ratio.mean() > 1.3, (term, ratio)


def radial_second_moment(share: float) -> float:
    """E w_i² on the standard normal. Γ is radial there, so that the law is known: what it lacks multiplies the density by
    exp((1 − c)·β²(D − 1)r²/2)·(1 + β²r²)^(1−c), which has infinite mass from (1 − c)·β²(D − 1) = 1 on."""
    r = np.linspace(0, 80, 400_001)
    missing = 1 - share
    log = -r * r / 2 * (1 - missing * BETA**2 * (DIM - 1)) + missing * np.log1p(BETA**2 * r * r)
    weight = np.exp(log) * r ** (DIM - 1)
    return float((weight * r * r).sum() / weight.sum() / DIM)


@pytest.mark.slow
@pytest.mark.parametrize("term, second", [("dropped", 2.5546), ("published", 1.4545), ("corrected", 1.0)])
def test_monge_has_its_law_on_a_normal_of_ten_dimensions(term, second):
    exact = radial_second_moment(kept(term, 0.5))
    assert exact == pytest.approx(second, abs=1e-3)
    found = sample(monge(term), INDEPENDENT, chains=500, steps=4000, burn_in=1500, start=1.2, every=5)
    mean = found.powers[1].mean(axis=1)
    check_mean(mean, exact, math.sqrt(2 / DIM) * exact, 0.015 * exact)


def test_monge_without_the_term_has_no_law_in_many_dimensions():
    """β²(D − 1) = 2.25: where Γ is missing the chains run away, step size or not; with the whole of it they stay."""
    found = {}
    for term in ("dropped", "corrected"):
        sampler = MongeSGLD(step_size=0.02, alpha=0.5, beta=0.5, gamma_term=term)
        found[term] = sample(sampler, INDEPENDENT, chains=60, steps=1200, burn_in=1000, start=1.0).powers[1].mean()
    assert found["dropped"] > 10 and abs(found["corrected"] - 1) < 0.25, found


@pytest.mark.slow
@pytest.mark.parametrize("target", few([DEPENDENT, INDEPENDENT], 1), ids=["dependent", "independent"])
def test_shampoo_in_ten_blocks_of_one_parameter(target):
    """Independent coordinates have the exact distribution of the line at this ε; dependent ones the target within order ε^⅓."""
    found = []
    for term in TERMS:
        sampler = ShampooSGLD(step_size=5e-3, alpha=0.5, gamma_term=term)
        ratio, se = ratios(sampler, target, chains=200, steps=1200)
        mean, error = ratio.mean(), math.sqrt((se**2).sum()) / DIM
        found.append((mean, error))
        if target is INDEPENDENT:
            exact = exact_law(sampler, "normal").moments()["second"]
            assert abs(mean - exact) < 4.5 * error + 0.005, (term, mean, exact)
    (dropped, _), (published, loose), (whole, error) = found
    assert abs(whole - 1) < sampler.step_size ** (1 / 3) + 4.5 * error < published - 1 < dropped - 1, found
    assert published - whole > 4.5 * math.hypot(loose, error), found


# -- through the engine -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_whole_term_makes_the_estimate_right():
    """λ̂ of a quadratic with gradients so long that G bends: dropped is off, corrected is not."""
    target = Quadratic(np.ones(12))
    exact, found = target.llc(1000.0, 1.0), {}
    for term in ("dropped", "corrected"):
        sampler = MongeSGLD(step_size=2e-5, alpha=0.5, beta=6.0, gamma_term=term)
        found[term] = llc_core.estimate(
            target, sampler, chains=48, steps=3000, burn_in=1500, n_beta=1000.0, progress=False
        )
    corrected, dropped = found["corrected"], found["dropped"]
    assert abs(corrected.llc - exact) < 0.03 * exact + 4 * corrected.llc_se
    assert dropped.llc > 1.2 * exact
