"""Every registered sampler: its contract, its exact discrete distribution, its moments, and the bugs these tests must catch."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import torch
from cases import few
from discrete_law import adam_variance, limit, linear_map, sghmc_variance, sgld_variance, sgnht_variance
from targets import Averages, Quadratic, SkewedTarget, check_mean, moments, sample, skewed_moments

import llc_core
from llc_core.engine.stepping.compiled import CompiledUpdate
from llc_core.fields import hyper_fields
from llc_core.samplers import (
    MALA,
    PSGLD,
    SGHMC,
    SGLD,
    SGLRW,
    SGNHT,
    AdamSGLD,
    CorrectedPSGLD,
    DriftAdamSGLD,
    FrozenPSGLD,
    MetropolisSampler,
    MongeSGLD,
    ProximalSGLD,
    RMSPropSGLD,
    Sampler,
    ShampooSGLD,
    UnderdampedLangevin,
    build,
    hyperparameters,
    numeric_fields,
    samplers,
)
from llc_core.samplers.psgld import MAX_DECAY
from llc_core.samplers.shampoo_sgld import FULL_MODE
from llc_core.types import Energy

NAMES = sorted(samplers())
WITH_UPDATE = [name for name in NAMES if not issubclass(samplers()[name], MetropolisSampler)]
LINEAR = [name for name in WITH_UPDATE if name != "SGLRW"]
"""Their steps are linear in state and noise at rest. Those of SGLRW are signs; `test_sglrw.py` has its distributions."""
WITH_CELL = [name for name in NAMES if samplers()[name]().cell() is not None]
DTYPES = [torch.float32, torch.float64]
torch.set_num_threads(1)


def default(name: str) -> Sampler:
    """The sampler with its defaults as a run would settle them, for a potential that has only gradients."""
    return build(name).complete(False)


# -- contract ---------------------------------------------------------------------------------------------------------


def one_step(sampler: Sampler, chains: int, dim: int, dtype: torch.dtype, overrides: dict[str, Any], seed: int = 0):
    """A warmed-up state, its energy, noise and hyperparameters, and the function that makes one step from them."""
    generator = torch.Generator().manual_seed(seed)
    random = torch.randn(2 + sampler.noises, chains, dim, generator=generator, dtype=torch.float64).to(dtype)
    hp = hyperparameters(sampler, chains, random, ((dim,),))
    for name, values in overrides.items():
        setattr(hp, name, torch.tensor(values, dtype=dtype).expand(chains).reshape(chains, 1).clone())

    def evaluate(delta: torch.Tensor) -> Energy:
        column = torch.ones(chains, 1, dtype=dtype)
        half, ones = (delta**2).sum(1) / 2, torch.ones_like(delta)
        return Energy(half, delta, delta, 10 * column, 0.5 * column, hessian_diagonal=ones)

    def step(state: dict[str, torch.Tensor], energy: Energy) -> dict[str, torch.Tensor]:
        if isinstance(sampler, MetropolisSampler):
            return sampler.step(state, energy, evaluate, random[2:], torch.full((chains, 1), 1e-3, dtype=dtype), hp)[0]
        return sampler.update(state, energy, random[2:], hp)

    state = sampler.init(0.1 * random[0], random[1], hp)
    for _ in range(3):
        state = step(state, evaluate(state["delta"]))
    return state, evaluate(state["delta"]), step


@pytest.mark.parametrize("name", NAMES)
def test_builds_by_name_and_survives_a_round_trip(name):
    sampler = build(name)
    assert type(sampler) is samplers()[name] and sampler.name == name
    assert build(sampler.to_dict()) == sampler
    assert getattr(import_module("llc_core.samplers"), name) is type(sampler)
    with pytest.raises(ValueError, match="Unknown key"):
        build({"name": name, "no_such_field": 1.0})
    with pytest.raises(dataclasses.FrozenInstanceError):
        sampler.step_size = 1.0


@pytest.mark.parametrize("name", NAMES)
def test_says_what_it_is(name):
    cls = samplers()[name]
    assert cls.label and cls.formula and cls.about.endswith(".") and cls.source
    assert "Source:" in (cls.__doc__ or "")
    assert cls.noises >= 1 and cls.order >= 1 and 0 < cls().safety < 1
    assert isinstance(cls().caveat(), str)


@pytest.mark.parametrize("name", NAMES)
def test_fields_are_described_and_checked(name):
    sampler = build(name)
    fields = hyper_fields(sampler)
    assert set(fields) == {f.name for f in dataclasses.fields(sampler)}, "a field without description"
    assert fields["step_size"].auto and sampler.step_size is None
    for key, about in fields.items():
        assert about.help.endswith("."), key
        if about.choices:
            assert getattr(sampler, key) in about.choices
            with pytest.raises(ValueError, match="choose one of"):
                sampler.replace(**{key: "nonsense"})
            continue
        assert about.symbol and math.isfinite(about.low) and about.low < about.high < math.inf, key
        for bad in (about.high * 1.01 + 1, about.low - 1, math.nan, "x"):
            with pytest.raises(ValueError, match=key):
                sampler.replace(**{key: bad})


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("chains, dim", [(1, 1), (3, 5)])
@pytest.mark.parametrize("name", NAMES)
def test_one_step_keeps_shapes_and_types_and_moves_without_touching_its_input(name, chains, dim, dtype):
    state, energy, step = one_step(default(name), chains, dim, dtype, {"step_size": 1e-3})
    before = {key: value.clone() for key, value in state.items()}
    kept = [energy.loss_grad.clone(), energy.delta.clone(), energy.excess_loss.clone()]
    after = step(state, energy)
    assert set(after) == set(state)
    assert state["delta"].shape == (chains, dim)
    for key, value in after.items():
        assert value.shape == state[key].shape and value.dtype == dtype and len(value) == chains, key
        assert torch.isfinite(value).all(), key
        assert torch.equal(state[key], before[key]), f"the step modified state[{key!r}]"
    for tensor, copy in zip((energy.loss_grad, energy.delta, energy.excess_loss), kept, strict=True):
        assert torch.equal(tensor, copy), "the step modified its energy"
    assert not torch.equal(after["delta"], state["delta"]), "the step did not move"
    again = step(state, energy)
    assert all(torch.equal(again[key], after[key]) for key in after), "the step is not a function of its arguments"


@pytest.mark.parametrize("name", NAMES)
def test_float32_agrees_with_float64(name):
    results = []
    for dtype in DTYPES:
        state, energy, step = one_step(default(name), 2, 3, dtype, {"step_size": 1e-3})
        results.append(step(state, energy)["delta"].double())
    torch.testing.assert_close(*results, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_chains_with_their_own_hyperparameters_equal_separate_runs(name):
    sampler = default(name)
    values = {"step_size": [1e-3, 3e-3]}
    for key, about in numeric_fields(sampler).items():
        if key != "step_size":
            usual = getattr(sampler, key)
            values[key] = [usual, 0.7 * usual if 0.7 * usual > about.low else about.high]
    state, energy, step = one_step(sampler, 2, 4, torch.float64, values)
    both = step(state, energy)["delta"]
    for chain in range(2):
        mine = {key: [pair[chain]] * 2 for key, pair in values.items()}
        state, energy, step = one_step(sampler, 2, 4, torch.float64, mine)
        alone = step(state, energy)["delta"]
        torch.testing.assert_close(both[chain], alone[chain], rtol=1e-12, atol=0)
        assert not torch.allclose(both[1 - chain], alone[1 - chain], rtol=1e-6), "the hyperparameters have no effect"


@pytest.mark.parametrize("name", NAMES)
def test_metric_is_what_multiplies_the_step_size(name):
    """Before the first step it must be the largest of the run: the first step size is derived from it.

    Shampoo has none: its metric is unbounded, and in more than one dimension full (see test_adaptive_samplers).
    """
    sampler = default(name)
    dim = 1 if name == "ShampooSGLD" else 3
    hp = hyperparameters(sampler.replace(step_size=1e-3), 2, torch.zeros(1, dtype=torch.float64))
    zero = torch.zeros(2, dim, dtype=torch.float64)
    first = sampler.metric(sampler.init(zero, zero, hp), hp)
    if first is None:
        return
    state, energy, _ = one_step(sampler, 2, dim, torch.float64, {"step_size": 1e-3})
    quiet, kick = torch.zeros(2, sampler.noises, 2, dim, dtype=torch.float64)
    kick[0] = 1
    moved = sampler.update(state, energy, kick, hp)
    spread = moved["delta"] - sampler.update(state, energy, quiet, hp)["delta"]
    torch.testing.assert_close(spread**2 / 1e-3, sampler.metric(moved, hp))
    if name != "ShampooSGLD":
        assert (first >= sampler.metric(moved, hp)).all()


def root(x: float) -> float:
    return float(torch.tensor([[x]], dtype=torch.float64).sqrt())


def by_hand(name: str, start: Hand, printed: bool) -> list[np.ndarray]:
    """Positions [D] of one chain, in the notation of the papers; U = nβ·L + (γ/2)|w|², L = |w|²/2, w0 = 0.

    printed: Algorithms 4 and 5 of Hitchcock & Hoogland line by line, t being the index of what stands on the right. Roots are
    torch's, whose last bit is not that of `math.sqrt`.
    """
    e, a, b, b1, alpha, v, m = start.step_size, 0.1, 0.99, 0.9, start.friction, 1.0, 0.0
    w, p, d, noise_level = np.array(start.w), root(start.step_size) * np.array(start.kick), len(start.w), alpha
    path = []
    for t, xi in enumerate(np.array(start.noises)):
        g = w
        force = start.n_beta * g + start.localization * w
        v, m = b * v + (1 - b) * g**2, b1 * m + (1 - b1) * g
        size = e / np.sqrt(v / (1 - b ** (t + 1)) + a)
        if name == "RMSPropSGLD":
            w = w - size / 2 * force + np.sqrt(size) * xi
        elif name == "AdamSGLD":
            pull = start.n_beta * m / (1 - b1 ** (t + 1)) + start.localization * w
            w = w - size / 2 * pull + np.sqrt(size) * xi
        elif printed:  # the drift of both has the ½; line 9 of Algorithm 5 moves w by p_t, its thermostat has |p_t| and its noise α_t
            change = -(e / 2) * force - alpha * p + root(2 * alpha * e) * xi
            if name == "SGNHT":
                alpha = alpha + (root(sum(p**2)) / d - e)
            w, p = w + p, p + change
        elif name == "SGHMC":
            w, p = w + p, (1 - alpha) * p - e * force + root(2 * alpha * e) * xi
        else:  # Ding et al.: constant noise, |p|² in the thermostat
            p_next = (1 - alpha) * p - e * force + root(2 * noise_level * e) * xi
            alpha_next = alpha + (sum(p**2) / d - e)
            w, p, alpha = w + p, p_next, alpha_next
        path.append(w)
    return path


@dataclasses.dataclass(frozen=True)
class Hand:
    """Where a chain of D parameters starts, and all its random numbers: kick [D] is p_0/√ε, noises [T][D]."""

    w: list[float]
    kick: list[float]
    noises: list[list[float]]
    step_size: float = 1e-3
    n_beta: float = 10.0
    localization: float = 0.5
    friction: float = 0.1

    def stepped(self, name: str, dynamics: str) -> list[np.ndarray]:
        """Positions [D] of the sampler itself."""
        options = {"friction": self.friction, "dynamics": dynamics} if name in ("SGHMC", "SGNHT") else {}
        sampler = build({"name": name, "step_size": self.step_size, **options})
        w, kick, column = (torch.tensor([row], dtype=torch.float64) for row in (self.w, self.kick, [1.0]))
        hp = hyperparameters(sampler, 1, column)
        state, path = sampler.init(w, kick, hp), []
        for xi in self.noises:
            w = state["delta"]
            energy = Energy((w**2).sum(1) / 2, w, w, self.n_beta * column, self.localization * column)
            state = sampler.update(state, energy, torch.tensor([[xi]], dtype=torch.float64), hp)
            path.append(state["delta"][0].numpy().copy())
        return path


@pytest.mark.parametrize("name", ["RMSPropSGLD", "AdamSGLD", "SGHMC", "SGNHT"])
@pytest.mark.parametrize("dynamics", ["corrected", "printed"])
def test_first_steps_by_hand(name, dynamics):
    start = Hand([0.7, -0.2], [-0.4, 1.1], [[0.3, 0.9], [-1.2, 0.2], [0.8, -0.7], [0.1, 1.5], [2.0, -0.3]])
    rounded = 5 * 20 * np.finfo(float).eps  # of five steps of at most twenty operations on numbers of about 1
    np.testing.assert_allclose(
        start.stepped(name, dynamics), by_hand(name, start, dynamics == "printed"), rtol=0, atol=rounded
    )


@pytest.mark.parametrize("name", ["SGHMC", "SGNHT"])
def test_the_printed_algorithms_to_the_last_bit(name):
    """Any numbers, but powers of two for nβ and γ: ∇U is not of the algorithms, and fused or not it is the same then.

    Two parameters, whose squares have one sum in whatever order. Sixty steps: printed SGNHT overflows before two hundred.
    """
    noises = np.random.default_rng(0).normal(size=(60, 2)).tolist()
    start = Hand([0.7, -0.31], [-0.4, 1.3], noises, 1e-3, 8.0, 0.5, 0.1)
    assert np.array_equal(start.stepped(name, "printed"), by_hand(name, start, True))
    assert not np.allclose(start.stepped(name, "corrected"), by_hand(name, start, True), rtol=1e-6)


# -- exact discrete distributions ----------------------------------------------------------------------------------------------


def lasting(name: str) -> Sampler:
    """The default, for a chain that stands at w0 for long: there Shampoo's metric grows without bound unless it lasts."""
    return ShampooSGLD(alpha=MAX_DECAY) if name == "ShampooSGLD" else default(name)


HALVED = [SGHMC(dynamics="printed"), SGNHT(dynamics="printed")]
"""Half the force: they bear twice the step, and noise of gradients adds half as much."""
WITH_LAW = [*map(lasting, LINEAR), *HALVED]
SCALE = 1e6
"""Curvature of U in these tests: large, as in the real problems, so that the thermostat's own terms are negligible."""


def titled(value: Any) -> str:
    return value.name + ("-printed" if value in HALVED else "") if isinstance(value, Sampler) else ""


@pytest.mark.parametrize("sampler", WITH_LAW, ids=titled)
@pytest.mark.parametrize("localization", few([1.0, 0.0], 1))
def test_stability_limit_is_exact(sampler, localization):
    top = limit(sampler, SCALE + localization)
    assert linear_map(sampler.replace(step_size=0.999 * top), SCALE, localization).radius < 1
    assert linear_map(sampler.replace(step_size=1.05 * top), SCALE, localization).radius > 1


@pytest.mark.parametrize("name", LINEAR)
def test_default_step_widens_a_stiff_direction_by_little(name):
    sampler = lasting(name)
    law = linear_map(sampler.replace(step_size=sampler.safety * limit(sampler, SCALE)), SCALE)
    most = 1.035 if sampler.exact_law and sampler.bias_expected else 1.25  # a step of 3% of the limit widens it by 3.1%
    assert 0.99 < SCALE * law.variance < most


@pytest.mark.parametrize("sampler", WITH_LAW, ids=titled)
def test_noise_factor_is_the_first_order_of_the_linear_response(sampler):
    sampler = sampler.replace(step_size=1e-3 * sampler.safety * limit(sampler, SCALE))
    factor = sampler.noise_factor(hyperparameters(sampler, 1, torch.zeros(1, dtype=torch.float64)))
    if factor is None:
        return
    law = linear_map(sampler, SCALE)
    added = SCALE * law.variance_per_gradient_noise / 2
    assert added == pytest.approx(float(factor) * SCALE**2 * law.metric, rel=2e-3)


CLOSED_FORMS: list[tuple[Sampler, Callable[[float, float], Any]]] = [
    (SGLD(), lambda step, _: sgld_variance(SCALE + 1, step)),
    (UnderdampedLangevin(friction=20), lambda step, _: 1 / (SCALE + 1)),
    (RMSPropSGLD(), lambda step, metric: sgld_variance(SCALE + 1, step * metric)),
    (RMSPropSGLD(beta=0.9, stability=1e-4), lambda step, metric: sgld_variance(SCALE + 1, step * metric)),
    (AdamSGLD(), lambda step, metric: adam_variance(SCALE, 1.0, step * metric, 0.9)),
    (AdamSGLD(beta1=0.3, stability=1.0), lambda step, metric: adam_variance(SCALE, 1.0, step * metric, 0.3)),
    (SGHMC(), lambda step, _: sghmc_variance(SCALE + 1, step, 0.1)),
    (SGHMC(friction=1.0), lambda step, _: sghmc_variance(SCALE + 1, step, 1.0)),
    (SGHMC(dynamics="printed"), lambda step, _: sghmc_variance(SCALE + 1, step, 0.1, share=0.5)),
    (SGNHT(dynamics="printed"), lambda step, _: sghmc_variance(SCALE + 1, step, 0.01, share=0.5)),  # friction held at A
]


@pytest.mark.parametrize("fraction", [1e-3, 0.3, 0.9])
@pytest.mark.parametrize("sampler, variance", CLOSED_FORMS, ids=titled)
def test_discrete_stationary_variance(sampler, variance, fraction):
    step = fraction * limit(sampler, SCALE + 1)
    law = linear_map(sampler.replace(step_size=step), SCALE, 1.0)
    assert law.variance == pytest.approx(float(variance(step, law.metric)), rel=1e-6)


@pytest.mark.parametrize("name", LINEAR)
def test_small_steps_sample_the_target(name):
    """As ε → 0 the variance tends to 1/c; the thermostat (friction held) to the distribution of SGHMC, also 1/c."""
    sampler = lasting(name)
    law = linear_map(sampler.replace(step_size=1e-4 * sampler.safety * limit(sampler, SCALE + 1)), SCALE, 1.0)
    assert (SCALE + 1) * law.variance == pytest.approx(1, abs=1e-3)


def test_adams_variance_without_prior_is_the_formula_of_its_docstring():
    c, step, b = 3.0, 0.02, 0.9
    k = step * c / 2
    short = (1 / c) * (1 + 2 * b * k / (1 - b**2)) / (1 - k * (1 - b) / (2 * (1 + b)))
    assert adam_variance(np.array(c), 0.0, step, b) == pytest.approx(short)


# -- long simulations: quadratic and skewed targets -------------------------------------------------------------------

LOSS_CURVATURES, N_BETA, LOCALIZATION, COPIES, CHAINS = [0.05, 0.2, 1.0], 10.0, 0.25, 40, 40
TOTAL = N_BETA * np.array(LOSS_CURVATURES) + LOCALIZATION
ALMOST_CONSTANT = 1e3
"""Stability constant so far above the squared gradients of these targets that the metric is constant to 1e-3."""


@dataclasses.dataclass(frozen=True)
class Case:
    """Settings for the two targets; variance: closed form on the quadratic (None: 1/c, with `allowance`, relative).

    copies: of the distinct curvatures or shapes (0: the usual number).
    """

    quadratic: Sampler
    skewed: Sampler
    variance: Callable[[float], np.ndarray] | None = None
    allowance: float = 0.002
    steps: int = 2000
    copies: int = 0


def cases() -> dict[str, Case]:
    root = math.sqrt(ALMOST_CONSTANT)
    gradient_sd = np.array(LOSS_CURVATURES) / np.sqrt(TOTAL)
    known = {
        "SGLD": Case(SGLD(step_size=0.12), SGLD(step_size=0.008), lambda step: sgld_variance(TOTAL, step)),
        "SGLRW": Case(SGLRW(step_size=0.02), SGLRW(step_size=0.008), lambda step: 1 / TOTAL, steps=4000),
        "UnderdampedLangevin": Case(
            UnderdampedLangevin(step_size=0.3, friction=2), UnderdampedLangevin(step_size=0.15, friction=2)
        ),
        "RMSPropSGLD": Case(
            RMSPropSGLD(step_size=0.12 * root, stability=ALMOST_CONSTANT),
            RMSPropSGLD(step_size=0.008 * root, stability=ALMOST_CONSTANT),
            lambda step: sgld_variance(TOTAL, step / root),
        ),
        "AdamSGLD": Case(
            AdamSGLD(step_size=0.01 * root, stability=ALMOST_CONSTANT),
            AdamSGLD(step_size=0.006 * root, beta1=0.5, stability=ALMOST_CONSTANT),
            lambda step: adam_variance(TOTAL - LOCALIZATION, LOCALIZATION, step / root, 0.9),
        ),
        "ProximalSGLD": Case(
            ProximalSGLD(step_size=0.12),
            ProximalSGLD(step_size=0.008),
            lambda step: sgld_variance(TOTAL, step),
        ),
        "SGHMC": Case(
            SGHMC(step_size=0.003),
            SGHMC(step_size=2e-4),
            lambda step: sghmc_variance(TOTAL, step, 0.1),
        ),
        "SGNHT": Case(
            SGNHT(step_size=5e-4, friction=0.05),
            SGNHT(step_size=1e-4, friction=0.02),
            lambda step: sgnht_variance(TOTAL, step, 0.05),
            allowance=0.01,
        ),
        "MongeSGLD": Case(
            MongeSGLD(step_size=0.12, beta=0.01),
            MongeSGLD(step_size=0.008, beta=0.01),
            lambda step: sgld_variance(TOTAL, step),
            steps=2000,
        ),
        "DriftAdamSGLD": Case(
            DriftAdamSGLD(step_size=0.12, stability=ALMOST_CONSTANT),
            DriftAdamSGLD(step_size=0.008, stability=ALMOST_CONSTANT),
            lambda step: sgld_variance(TOTAL, step),
            steps=2000,
        ),
        # Random walks whose proposals must be accepted in all dimensions at once: small steps, and more of them.
        "MALA": Case(MALA(step_size=0.04), MALA(step_size=0.012), allowance=0.0, steps=2400),
        # No stability constant, but a start that a memory of 10⁶ steps does not forget; many parameters: diagonal.
        "ShampooSGLD": Case(
            ShampooSGLD(step_size=0.12 * root, alpha=MAX_DECAY, stability=ALMOST_CONSTANT),
            ShampooSGLD(step_size=0.008 * root, alpha=MAX_DECAY, stability=ALMOST_CONSTANT),
            lambda step: sgld_variance(TOTAL, step / root),
            steps=2000,
            copies=FULL_MODE // 3 + 1,
        ),
    }
    for sampler, typical in (
        (PSGLD(stability_form="inside"), 0.0),
        (CorrectedPSGLD(), 0.0),
        (FrozenPSGLD(), gradient_sd),
    ):
        known[sampler.name] = Case(
            sampler.replace(step_size=0.12 * root, stability=root),
            sampler.replace(step_size=0.008 * root, stability=root),
            lambda step, typical=typical: sgld_variance(TOTAL, step / (root + typical)),
            steps=2000,
        )
    for name in NAMES:
        if name not in known:
            sampler, exact = default(name), issubclass(samplers()[name], MetropolisSampler)
            quadratic, skewed = (
                sampler.replace(step_size=(0.5 if exact else 0.02) * limit_of(sampler, top))
                for top in (TOTAL.max(), 30.0)
            )
            known[name] = Case(quadratic, skewed, allowance=0.0 if exact else 0.02, steps=600 if exact else 2000)
    return known


def limit_of(sampler: Sampler, curvature: float) -> float:
    column = torch.full((1, 1), curvature, dtype=torch.float64)
    return float(sampler.stable_step(column, hyperparameters(sampler, 1, column)))


CASES = cases()


def averaged(values: np.ndarray, distinct: int) -> np.ndarray:
    """[C, copies·distinct] → [C, distinct], the mean over copies."""
    return values.reshape(len(values), -1, distinct).mean(axis=1)


def check_quadratic(sampler: Sampler, case: Case, fewer: int = 1) -> Averages:
    """Assert the exact discrete second moments for several curvatures, and zero means. fewer: that many times fewer chains, with as
    many more copies each: the same standard errors."""
    target = Quadratic(LOSS_CURVATURES * ((case.copies or COPIES) * fewer))
    result = sample(
        sampler,
        target,
        chains=CHAINS // fewer,
        steps=case.steps,
        burn_in=case.steps // 4,
        n_beta=N_BETA,
        localization=LOCALIZATION,
    )
    variances = 1 / TOTAL if case.variance is None else case.variance(float(sampler.step_size))
    first, second = (averaged(result.powers[k], 3) for k in (0, 1))
    for index, variance in enumerate(variances):
        check_mean(second[:, index], variance, math.sqrt(2) * variance, case.allowance * variance)
        check_mean(first[:, index], 0.0, math.sqrt(variance), 0.0)
    return result


SKEWED_SHAPES, SKEWED_COPIES = [2.0, 3.0, 5.0], 20


def check_skewed(sampler: Sampler, case: Case, fewer: int = 1) -> None:
    """Assert the first three moments of the skewed target within 0.02 of their spread: the error of the finite step. fewer: as above."""
    target = SkewedTarget(SKEWED_SHAPES * ((case.copies or SKEWED_COPIES) * fewer))
    result = sample(sampler, target, chains=CHAINS // fewer, steps=case.steps, burn_in=case.steps // 4)
    for index, shape in enumerate(SKEWED_SHAPES):
        exact = skewed_moments(shape)
        for power in (1, 2, 3):
            sd = math.sqrt(exact[2 * power] - exact[power] ** 2)
            check_mean(averaged(result.powers[power - 1], 3)[:, index], exact[power], sd, 0.02 * sd, 500)


@pytest.mark.parametrize("name", NAMES)
def test_moments_on_a_quadratic(name):
    check_quadratic(CASES[name].quadratic, CASES[name])


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_moments_on_a_skewed_target(name):
    check_skewed(CASES[name].skewed, CASES[name])


def test_moments_of_the_skewed_target_agree_with_the_gamma_law():
    from scipy.special import polygamma

    exact = skewed_moments(3.0)
    assert exact[1] == pytest.approx(float(polygamma(0, 3.0)) - math.log(3.0))
    assert exact[2] - exact[1] ** 2 == pytest.approx(float(polygamma(1, 3.0)))


# -- planted bugs: the checks above must fail on each -----------------------------------------------------------------


def planted(sampler: Sampler, bug: str) -> Sampler:
    """The same sampler with a mistake in what it sees."""

    def spoil(energy: Energy) -> Energy:
        if bug == "half the force":
            return dataclasses.replace(energy, n_beta=energy.n_beta / 2, localization=energy.localization / 2)
        if bug == "sign of the prior":
            return dataclasses.replace(energy, localization=-energy.localization)
        if bug == "mirrored gradient":
            copies = energy.delta.shape[1] // len(SKEWED_SHAPES)
            shapes = torch.tensor(SKEWED_SHAPES * copies, dtype=torch.float64)
            mirrored = shapes * (torch.expm1(-energy.delta) + energy.delta)
            return dataclasses.replace(
                energy, excess_loss=mirrored.sum(1), loss_grad=-shapes * torch.expm1(-energy.delta)
            )
        return energy

    factor = math.sqrt(2) if bug == "noise too large" else 1.0
    cls: Any = type(sampler)

    class Buggy(cls):  # type: ignore[misc]
        def update(self, state, energy, noise, hp):
            return super().update(state, spoil(energy), factor * noise, hp)

        def step(self, state, energy, evaluate, noise, uniform, hp):
            return super().step(state, spoil(energy), lambda d: spoil(evaluate(d)), factor * noise, uniform, hp)

    return Buggy(**{f.name: getattr(sampler, f.name) for f in dataclasses.fields(sampler)})


CAUGHT_STEPS = 600
"""Enough on the quadratic for each sampler without a mistake to pass, and so for a mistake to be caught for what it does."""
MIRRORED_STEPS = 1000
"""On the skewed target samplers without a mistake are off by 3.4 standard errors at most after so many, mirrored ones by 23 and more."""


@pytest.mark.long
@pytest.mark.parametrize("bug", ["half the force", "sign of the prior", "noise too large"])
@pytest.mark.parametrize("name", few(NAMES, 2))
def test_the_quadratic_check_catches(name, bug):
    if (name, bug) == ("SGNHT", "noise too large"):
        pytest.skip("the thermostat exists to absorb exactly this")
    with pytest.raises(AssertionError):
        check_quadratic(
            planted(CASES[name].quadratic, bug),
            dataclasses.replace(CASES[name], steps=min(CAUGHT_STEPS, CASES[name].steps)),
        )


@pytest.mark.long
@pytest.mark.parametrize("name", few(NAMES, 4))
def test_the_skewed_check_catches_a_mirrored_gradient_that_a_gaussian_hides(name):
    with pytest.raises(AssertionError, match="off by"):
        case = dataclasses.replace(CASES[name], steps=min(MIRRORED_STEPS, CASES[name].steps))
        check_skewed(planted(case.skewed, "mirrored gradient"), case)


# -- the same checks on the compiled update: single precision, and the noise of `llc_core.compute.philox` ------------------------


FEWER = 2
"""Times fewer chains, longer ones: a chain's step costs the loop ten microseconds, however few its parameters are."""


def compiled(sampler: Sampler) -> Sampler:
    """The same sampler, moved by `llc_core.engine.stepping.compiled`; the noise that it is given is not used."""
    pytest.importorskip("numba")
    cls: Any = type(sampler)
    loop, steps = CompiledUpdate(sampler, seed=5), itertools.count(1)

    def single(found: Any) -> dict[str, Any]:
        return {k: v.float().clone() if isinstance(v, torch.Tensor) else v for k, v in dict(found).items()}

    class Compiled(cls):  # type: ignore[misc]
        def update(self, state, energy, noise, hp):
            moved, seen = single(state), Energy(**single(vars(energy)))
            assert loop.serves(seen)
            loop.step(moved, seen, type(hp)(**single(vars(hp))), next(steps))
            return {name: value.double() for name, value in moved.items()}

    return Compiled(**{f.name: getattr(sampler, f.name) for f in dataclasses.fields(sampler)})


@pytest.mark.long
@pytest.mark.parametrize("name", few(WITH_CELL, 1))
def test_the_compiled_update_has_the_moments_on_a_quadratic(name):
    check_quadratic(compiled(CASES[name].quadratic), CASES[name], FEWER)


@pytest.mark.slow
@pytest.mark.parametrize("name", few(WITH_CELL, 2))
def test_the_compiled_update_has_the_moments_on_a_skewed_target(name):
    check_skewed(compiled(CASES[name].skewed), CASES[name], FEWER)


@pytest.mark.long
@pytest.mark.parametrize("bug", few(["half the force", "sign of the prior"], 1, rare=False))
@pytest.mark.parametrize("name", few(WITH_CELL, 2))
def test_the_quadratic_check_of_the_compiled_update_catches(name, bug):
    case = dataclasses.replace(CASES[name], steps=min(CAUGHT_STEPS, CASES[name].steps))
    with pytest.raises(AssertionError, match="off by"):
        check_quadratic(planted(compiled(case.quadratic), bug), case, FEWER)


@pytest.mark.long
@pytest.mark.parametrize("name", few(WITH_CELL, 2))
def test_the_skewed_check_of_the_compiled_update_catches_a_mirrored_gradient(name):
    case = dataclasses.replace(CASES[name], steps=min(MIRRORED_STEPS, CASES[name].steps))
    with pytest.raises(AssertionError, match="off by"):
        check_skewed(planted(compiled(case.skewed), "mirrored gradient"), case, FEWER)


def test_stuck_chains_do_not_pass():
    with pytest.raises(AssertionError, match="off by"):
        check_quadratic(SGLD(step_size=1e-6), dataclasses.replace(CASES["SGLD"], variance=None, steps=300))
    stuck_anywhere = np.random.default_rng(0).standard_normal(CHAINS)
    with pytest.raises(AssertionError, match="effective sample size"):
        check_mean(stuck_anywhere, expected=0.0, sd=1.0, allowance=0.0)


# -- distributions of the adaptive samplers, figures of the specification ------------------------------------------------------


@pytest.mark.parametrize(
    "sampler", few([RMSPropSGLD(beta=0.5), AdamSGLD(beta1=0.0, beta2=0.5)], 1), ids=lambda s: s.name
)
def test_an_adaptive_metric_samples_exp_minus_u_over_g(sampler):
    """G follows the position, ∇·G is missing: the distribution tends to exp(−x²/2)·√(x² + a) (Rensmeyer & Niggemann)."""
    result = sample(
        sampler.replace(stability=0.1, step_size=0.004), Quadratic([1.0]), chains=3000, steps=3000, burn_in=1200
    )
    exact = moments(lambda x: x * x / 2 - math.log(x * x + 0.1) / 2, 4)
    assert exact[2] > 1.6
    check_mean(result.powers[1][:, 0], exact[2], math.sqrt(exact[4] - exact[2] ** 2), 0.03 * exact[2])


GAUSSIAN, GAUSSIAN_LLC = Quadratic([1.0] * 20), 9.99
"""20 parameters, nβ = 1000, γ = 1: λ̂ = 9.990."""


def gaussian_llc(sampler: Sampler, steps: int, chains: int = 48) -> tuple[float, Averages]:
    result = sample(sampler, GAUSSIAN, chains=chains, steps=steps, burn_in=steps // 2, n_beta=1000.0, localization=1.0)
    return float(1000 * result.loss.mean()), result


def test_printed_sghmc_doubles_the_estimate_and_says_so():
    assert GAUSSIAN.llc(1000.0, 1.0) == pytest.approx(GAUSSIAN_LLC, abs=1e-3)
    printed, corrected = SGHMC(step_size=1e-6, dynamics="printed"), SGHMC(step_size=1e-6)
    assert gaussian_llc(printed, 6000)[0] == pytest.approx(20.1, abs=0.25)
    assert gaussian_llc(corrected, 6000)[0] == pytest.approx(10.1, abs=0.15)
    assert "twice" in printed.caveat() and not corrected.caveat()


def test_printed_sgnht_diverges_and_says_so():
    printed = SGNHT(step_size=1e-6, friction=0.1, dynamics="printed")
    result = sample(printed, GAUSSIAN, chains=4, steps=9000, burn_in=8000, n_beta=1000.0, localization=1.0)
    assert not np.isfinite(result.loss).any()
    assert "diverges" in printed.caveat() and not SGNHT().caveat()


def test_sgnht_reads_low_by_half_its_friction():
    llc, result = gaussian_llc(SGNHT(step_size=1e-5, friction=0.1, thermal_mass=0.01), 5000, chains=64)
    friction = result.extras["friction"].mean()
    kinetic = (result.state["momentum"] ** 2).mean()
    assert llc == pytest.approx(9.5, abs=0.1)
    assert llc == pytest.approx(GAUSSIAN_LLC * (1 - friction / 2 + 0.01 / 2), rel=0.01)
    assert float(kinetic) == pytest.approx(1, abs=0.25)


def test_rmsprop_figures_of_the_specification():
    for step in (1e-5, 1e-4):
        llc, _ = gaussian_llc(RMSPropSGLD(step_size=step), 4000)
        exact = GAUSSIAN_LLC / (1 - step * 1001 / math.sqrt(0.1 + 1e-3) / 4)
        assert 10.0 < llc < 11.0 and llc == pytest.approx(exact, rel=0.015)
    eager, _ = gaussian_llc(RMSPropSGLD(step_size=1e-5, stability=1e-8), 4000)
    assert 11.0 < eager < 14.8


# -- end to end through the engine ------------------------------------------------------------------------------------

WIDE = Quadratic(np.geomspace(1, 20, 12))
UNBIASED_HERE: dict[str, dict[str, float]] = {
    "PSGLD": {"stability": 10.0},
    "MongeSGLD": {"beta": 0.1},
    "ShampooSGLD": {"alpha": MAX_DECAY, "stability": 10.0},
}
"""Settings of the samplers whose own distribution is not the target: such that the metric hardly moves on WIDE."""


@pytest.mark.long
@pytest.mark.parametrize("name", few(NAMES, 4, rare=False))
def test_automatic_steps_estimate_a_quadratic_through_the_engine(name):
    """The default step is a compromise: it may widen the stiffest direction by a tenth."""
    chains, steps = (16, 500) if issubclass(samplers()[name], MetropolisSampler) else (48, 1200)
    sampler = build({"name": name, **UNBIASED_HERE.get(name, {})})
    result = llc_core.estimate(WIDE, sampler, chains=chains, steps=steps, n_beta=1000.0, progress=False)
    exact = WIDE.llc(1000.0, 1.0)
    assert result.diverged == 0
    assert 0 < result.diagnostics["step_size"] < result.diagnostics["stability_limit"]
    assert abs(result.llc - exact) < 0.1 * exact + 4 * result.llc_se


def test_the_verdict_carries_the_caveat():
    result = llc_core.estimate(
        WIDE, SGHMC(dynamics="printed"), chains=4, steps=3000, n_beta=1000.0, dtype="float64", progress=False
    )
    assert not result.converged and "twice" in result.converged.reason
    assert result.llc > 1.7 * WIDE.llc(1000.0, 1.0)


@pytest.mark.parametrize("sampler", few([RMSPropSGLD(), SGLD(), SGHMC()], 1), ids=lambda s: s.name)
def test_noise_inflation_predicts_what_minibatches_add(sampler):
    noisy = Quadratic(np.ones(12), gradient_noise=0.1)
    runs = [
        llc_core.estimate(noisy, sampler, gradient=kind, chains=64, steps=1500, n_beta=1000.0, progress=False)
        for kind in ("full", "minibatch")
    ]
    added = runs[1].llc - runs[0].llc
    error = 4.5 * math.hypot(runs[0].llc_se, runs[1].llc_se)
    assert runs[1].diagnostics["noise_inflation"] > error
    assert abs(added - runs[1].diagnostics["noise_inflation"]) < error + 0.25 * added


def test_a_fast_thermostat_absorbs_gradient_noise_that_a_slow_one_cannot():
    """Its reaction time is about Aμ/ε steps; until then it inflates λ̂ like SGHMC."""
    noisy = Quadratic(np.ones(20), gradient_noise=0.3)
    exact = noisy.llc(1000.0, 1.0)
    found = {
        mass: llc_core.estimate(
            noisy,
            SGNHT(step_size=1e-6, friction=0.1, thermal_mass=mass),
            gradient="minibatch",
            chains=64,
            steps=2000,
            n_beta=1000.0,
            dtype="float64",
            progress=False,
        )
        for mass in (1.0, 1e-3)
    }
    assert found[1e-3].llc == pytest.approx(exact, rel=0.12)
    assert found[1.0].llc > 1.3 * exact
