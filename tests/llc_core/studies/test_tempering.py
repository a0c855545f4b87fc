"""`free_energy` against quadrature and closed forms."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from llc_core import DeepLinearNetwork, NetworkPotential, free_energy, surface
from llc_core.studies.tempering import replicas
from llc_core.studies.tempering.answers import CLOSE, log_z_of, spline_error
from llc_core.studies.tempering.energies import Energies
from llc_core.studies.tempering.fitting import fit
from llc_core.studies.tempering.ladder import equal_rejection
from llc_core.theory.zero_product import zero_product_distribution

ERRORS = 4.5
"""Standard errors that a right value may be off."""


def law(name, n_beta, exponents, points=2400):
    """log Z and nβ·E[U] in the box of side 4, from midpoints that lie closer together near the axes."""
    edges = np.concatenate([[0.0], np.geomspace(1e-7, 2, points)])
    x, width = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    energy = surface(name, exponents=exponents).energy(x[:, None], x[None])
    mass = width[:, None] * width * np.exp(-n_beta * energy)
    return np.log(mass.sum()), n_beta * (mass * energy).sum() / mass.sum()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "exponents", "m"), [("sum", (2, 4), 1), ("product", (2, 2), 2)])
def test_singular_minima(name, exponents, m):
    target = surface(name, exponents=exponents)
    found = free_energy(target, chains=32, steps=2000, seed=11)
    log_z, llc = law(name, 1e6, exponents)
    assert abs(found.log_z - log_z) < ERRORS * found.log_z_se < 0.2
    assert abs(found.level_llc[-1] - llc) < ERRORS * found.level_llc_se[-1]
    # A power beside a logarithm is told apart from so many levels in most runs, and is never to be told wrongly.
    told = found.multiplicity is not None
    assert found.multiplicity == m if told else m > 1
    assert abs(found.llc - float(target.learning_coefficient.value)) < ERRORS * found.llc_se < (0.09 if told else 0.3)
    assert np.ptp(found.rejection) < 0.2
    assert found.round_trips > 500


@pytest.mark.slow
def test_the_swap_s_sign_matters(monkeypatch):
    """A swap with its sign turned round moves high losses to cold levels: the distribution must be seen to be lost."""

    class Turned(replicas.Replicas):
        def _swap(self, step):
            self.heat = -self.heat
            super()._swap(step)
            self.heat = -self.heat

    monkeypatch.setattr("llc_core.studies.tempering.measuring.Replicas", Turned)
    found = free_energy(surface("sum"), [1.0, 10.0, 100.0, 1e3, 1e4], chains=16, steps=1000)
    _, llc = law("sum", 1e4, (2, 4))
    assert abs(found.level_llc[-1] - llc) > 10 * found.level_llc_se[-1]


@pytest.mark.slow
def test_a_gaussian_has_a_closed_form():
    target = DeepLinearNetwork([np.zeros((1, 4))], noise_std=0)
    found = free_energy(target, n_beta=100.0, chains=16, steps=400, multiplicity=1, seed=2)
    sxx = target.data.sxx.double().numpy()
    exact = -0.5 * np.linalg.slogdet(np.eye(4) + 200 * sxx)[1]
    assert abs(found.log_z - exact) < ERRORS * found.log_z_se < 0.5
    assert abs(found.llc - 2) < 0.06


def zeros(*widths: int) -> DeepLinearNetwork:
    return DeepLinearNetwork([np.zeros((b, a)) for a, b in zip(widths, widths[1:], strict=False)], noise_std=0)


def exact(widths, levels, second_moment=1.0) -> np.ndarray:
    """[K, 2]: log Z and λ̂ of each level."""
    return np.array([zero_product_distribution(widths, n_beta, second_moment) for n_beta in levels])


class Cauchy(nn.Module):
    """w = tan(πu/2), so that a u that is even over (−1, 1) makes a Cauchy distribution of w."""

    def __init__(self) -> None:
        super().__init__()
        self.u = nn.Parameter(torch.zeros(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tan(math.pi / 2 * self.u) * x


@pytest.mark.slow
@pytest.mark.parametrize("sign", [1, -1])
def test_a_cauchy_prior_and_a_likelihood_that_is_not_symmetric(sign):
    """An observation 2 ± ½: the free energy, and on which side of 2 the mass is, which a wrong sign would turn round."""
    observed = torch.full((4, 1), 2.0 * sign)
    rows = torch.ones(4, 1), observed
    problem = NetworkPotential(Cauchy(), lambda output, y: (2 * (output - y) ** 2).squeeze(1), rows)
    above = {"above": lambda delta: torch.tan(math.pi / 2 * delta[:, 0]) > 2 * sign}
    found = free_energy(problem, n_beta=1.0, box=1.0, chains=32, steps=3000, multiplicity=1, basins=above)
    w = np.linspace(-3, 3, 200_001) + 2 * sign
    mass = np.exp(-2 * (w - 2 * sign) ** 2) / (np.pi * (1 + w**2)) * (w[1] - w[0])
    assert found.log_z_se < 0.012
    assert found.log_z - 8 == pytest.approx(np.log(mass.sum()), rel=0.01), "8: the loss at w = 0"
    basin, exact_share = found.basins["above"], mass[w > 2 * sign].sum() / mass.sum()
    assert abs(exact_share - 0.5) > 20 * basin.probability_se[-1], "the prior draws to 0, which shows"
    assert abs(basin.probability[-1] - exact_share) < ERRORS * basin.probability_se[-1]


@pytest.mark.slow
def test_a_network_s_levels_agree_with_quadrature():
    """Down to 10¹⁰, where Langevin steps lose the law: they cannot follow valleys that are 10⁵ times as long as wide."""
    target = zeros(2, 2, 2)
    levels = np.geomspace(1e-3, 1e10, 24)
    found = free_energy(target, [0.0, *levels], chains=16, steps=200, seed=7)
    wanted = exact((2, 2, 2), levels, float(target.data.sxx.diagonal().mean()))
    off = (found.level_llc[1:] - wanted[:, 1]) / found.level_llc_se[1:]
    assert np.abs(off).max() < ERRORS and np.sqrt((off**2).mean()) < 1.6
    assert abs(found.log_z - wanted[-1, 0]) < ERRORS * found.log_z_se < 0.4
    assert np.abs(found.level_llc_se[1:]).max() < 0.02
    assert found.gradients % (25 * 16 * 2) == 0, "a sweep counts for two"


@pytest.mark.slow
def test_two_basins():
    target = surface("two_basins")
    found = free_energy(target, [0.1, 0.9, 5.0, 24.0, 120.0, 660.0], chains=32, steps=2500,
                        basins={"line": lambda delta: delta[:, 0] > 0.5}, seed=4)  # fmt: skip
    edge = np.geomspace(1e-7, 1, 700)
    x = np.unique(np.concatenate([-2 * edge, edge / 2, 1 - edge / 2, 1 + edge, [0.0, 1.0]]))
    y = np.concatenate([[0.0], 2 * edge])
    middle, width, height = (x[1:] + x[:-1]) / 2, np.diff(x), np.diff(y)
    energy = target.energy(middle[:, None], (y[1:] + y[:-1])[None] / 2)
    basin = found.basins["line"]
    for level in (2, 4, 6):
        mass = width[:, None] * height * np.exp(-found.levels[level] * energy)
        exact = mass[middle > 0.5].sum() / mass.sum()
        assert abs(basin.probability[level] - exact) < ERRORS * basin.probability_se[level] < 0.05


@pytest.mark.slow
def test_round_trips_where_all_swaps_are_accepted():
    """Even and odd swaps in turn then carry every replica up and down without a stop, one level a step: K replicas, each with a round
    trip in 2K steps, make one in two steps. The beginning and the end cost each of them a trip at most."""
    levels = 8
    found = free_energy(surface("sum"), 1e-9 * np.arange(1, levels), chains=4, steps=600)
    assert found.rejection.max() < 1e-6
    assert 4 * (360 / 2 - levels) <= found.round_trips <= 4 * 360 / 2


@pytest.mark.slow
def test_the_barrier_of_a_gaussian():
    """Two levels apart by a factor r: nβ·ΔL has Gamma distributions of shape D/2, and the share of refused swaps is an integral over them."""
    levels = np.geomspace(1.0, 1e3, 10)
    found = free_energy(zeros(4, 1), levels, chains=32, steps=800, seed=3)
    ratio = levels[1] / levels[0]
    rng = np.random.default_rng(0)
    low, high = rng.gamma(2.0, size=10**6), rng.gamma(2.0, size=10**6) / ratio
    refused = -np.expm1(np.minimum((ratio - 1) * (high - low), 0))
    assert abs(found.rejection[1:].mean() / refused.mean() - 1) < 0.02


def test_levels_at_equal_rejection():
    """Where Λ is linear in log(1 + nβ/nβ_1), even steps of that are the answer."""
    levels = np.concatenate([[0.0], np.expm1(np.linspace(0, 10, 31)[1:])])
    found = equal_rejection(levels, np.full(30, 0.2), 11)
    place = np.log1p(found / levels[1])
    assert found[0] == 0 and found[-1] == levels[-1]
    assert np.all(np.diff(place) > 0)


def test_the_fit_tells_multiplicities_apart():
    n_beta = np.geomspace(1, 1e7, 18)
    se = np.full(18, 0.004)
    for m in (1, 2):
        found = fit(n_beta, 0.5 - (m - 1) / (np.log(n_beta) + 4), se, 2)
        assert found.multiplicity == m
        assert found.llc == pytest.approx(0.5, abs=0.01)


def told(widths: tuple[int, int, int], coldest: float, se: float, seeds: int) -> list:
    """What the fit says of λ̂ that is exact but for normal errors of `se`, once for each seed."""
    levels = np.geomspace(0.01, coldest, int(2.5 * np.log(100 * coldest)))
    known, dim = exact(widths, levels)[:, 1], widths[1] * (widths[0] + widths[2])
    noise = (np.random.default_rng(seed).standard_normal(len(levels)) for seed in range(seeds))
    return [fit(levels * 10, known + se * each, np.full(len(levels), se), dim) for each in noise]


@pytest.mark.slow
@pytest.mark.parametrize(("widths", "llc", "m"), [((2, 2, 2), 1.5, 1), ((3, 3, 3), 3.5, 2), ((4, 4, 4), 6.0, 1)])
def test_a_long_ladder_tells_the_multiplicity_and_a_short_one_says_that_it_cannot(widths, llc, m):
    """No ladder names a wrong m, and λ lies within its errors on both: the short one alone prefers m = 2 or 3 on all three."""
    far, near = told(widths, 1e18, 0.003, 6), told(widths, 1e6, 0.003, 6)
    assert all(each.multiplicity in (None, m) for each in [*far, *near])
    assert sum(each.multiplicity == m for each in far) > sum(each.multiplicity == m for each in near)
    assert any(max(each.evidence, key=each.evidence.get) != m for each in near)
    for each in (far, near):
        assert np.sqrt(np.mean([((found.llc - llc) / found.se) ** 2 for found in each])) < 2


def test_the_largest_multiplicity_that_is_tried_is_not_named_where_a_larger_one_could_be():
    levels = np.geomspace(1, 1e16, 60)
    curve, se = 3 - 3 / (np.log(levels) + 4), np.full(60, 0.001)
    found = fit(levels, curve, se, 20)
    assert max(found.evidence, key=found.evidence.get) == 3 and found.multiplicity is None
    given = fit(levels, curve, se, 20, multiplicity=4)
    assert given.multiplicity == 4 and given.evidence == {4: pytest.approx(1.0)}
    assert abs(given.llc - 3) < 3 * given.se


@pytest.mark.parametrize("dim", [4, 100, 1000])
def test_the_spline_of_log_z_is_off_by_less_than_is_said(dim):
    """A regular minimum: log Z = −D/2·log(1 + nβ), and levels as far apart as the spline takes them."""
    for first in (0.01, 0.1, 0.3):
        levels = np.concatenate([[0.0], np.exp(np.arange(np.log(first), 14, CLOSE - 1e-9))])
        llc = dim / 2 * levels / (1 + levels)
        log_z = log_z_of(np.ones((2, len(levels), 2)), levels, np.repeat(llc[:, None], 2, axis=1))
        off = log_z - log_z[1] + dim / 2 * np.log1p(levels / (1 + levels[1]) - levels[1] / (1 + levels[1]))
        assert abs(off[-1]) < spline_error(levels, llc)[-1] < 60 * abs(off[-1])


def test_levels_that_still_drift_are_seen():
    """Losses that fall by a third of their spread from the first half to the second; and others that do not."""
    rng = np.random.default_rng(0)
    for fall in (0.0, 0.3):
        energies = Energies(SimpleNamespace(delta=np.empty((6, 16, 9)), sweeps=True), 200)
        for step in range(200):
            loss = torch.from_numpy(rng.standard_normal((6, 16)) - fall * (step >= 100))
            energies.look(step, SimpleNamespace(sweeps=True, heat=torch.ones(6, 1), expected_loss=loss))
        assert (energies.read().drift < -6) == (fall > 0) and abs(energies.read().drift) < (4 if fall == 0 else 99)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"ladder": [3.0, 2.0]}, "ladder"),
        ({"ladder": "many"}, "ladder"),
        ({"chains": 2}, "chains"),
        ({"n_beta": -1.0}, "n_beta"),
        ({"box": 1.0}, "box of its own"),
    ],
)
def test_bad_input_gets_one_sentence(values, words):
    with pytest.raises(ValueError, match=words):
        free_energy(surface("sum"), **values)


def test_no_prior_no_ladder():
    with pytest.raises(ValueError, match="begins at the prior"):
        free_energy(surface("sum", box=None))


@pytest.mark.slow
def test_the_same_seed_gives_the_same_numbers():
    first, again = (free_energy(surface("sum"), [1.0, 10.0, 30.0, 60.0, 100.0], chains=4, steps=200) for _ in range(2))
    assert first.log_z == again.log_z
    assert torch.equal(torch.as_tensor(first.level_llc), torch.as_tensor(again.level_llc))
