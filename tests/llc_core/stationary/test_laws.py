"""Stationary distributions on the line: against printed constants, against simulation, and the bugs these tests must catch."""

from __future__ import annotations

import dataclasses
import tracemalloc
from functools import cache

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr

from llc_core.bins import Bins
from llc_core.line import simulate
from llc_core.potentials.line.build import landscape
from llc_core.potentials.line.named import LANDSCAPES
from llc_core.samplers import (
    PSGLD,
    SGLD,
    CorrectedPSGLD,
    DriftAdamSGLD,
    FrozenPSGLD,
    MongeSGLD,
    RMSPropSGLD,
    Sampler,
    ShampooSGLD,
)
from llc_core.samplers.forms import Law, Line
from llc_core.stationary import (
    LimitLaw,
    bias_curve,
    density,
    distances_to_target,
    exact_law,
    kl_divergence,
    limit_law,
    masses,
    metric,
    moments,
    normalizer,
    target_law,
    target_masses,
    total_variation,
    wasserstein,
)

# -- the limit of small steps -----------------------------------------------------------------------------------------

INSIDE = {"stability_form": "inside"}
ROWS = [
    # sampler, Z, TV(predicted, target), E|x|, E x², density at 0: Rensmeyer & Niggemann's experiments on N(0, 1)
    (PSGLD(alpha=0.9, stability=0.1), 1.12391, 0.2461, 1.1649, 1.795, 0.0564),
    (PSGLD(alpha=0.9, stability=0.1, gamma_term="dropped"), 1.11373, 0.2688, 1.2026, 1.889, 0.0444),
    (PSGLD(alpha=0.9, stability=1e-4, **INSIDE), 1.25795, 0.279, 1.214, None, 0.0),
    (PSGLD(alpha=0.9, stability=0.1, **INSIDE), 1.23458, 0.268, 1.197, None, 0.062),
    (PSGLD(alpha=0.9, stability=0.1**0.5, **INSIDE), 1.12219, 0.220, 1.128, None, 0.159),
    (CorrectedPSGLD(alpha=0.9, stability=0.1), 1.0, 0.0, 0.7979, 1.0, 0.3989),
    (MongeSGLD(beta=1.0), 0.5, 0.2420, 1.1968, 2.0, 0.1995),
    (ShampooSGLD(), 1.253314, 0.3024, 1.2533, 2.0, 0.0),
    # the printed weight e^{−a|x|}(|x| + λ)^{aλ} is λ^{aλ} at the mode, where ours is 1
    (DriftAdamSGLD(a=1.0, beta=0.5, stability=0.1), 2.049526 * 0.1**0.1, 0.1780, 0.5558, 0.5185, 0.6495),
]


@pytest.mark.parametrize("sampler, z, variation, mean_abs, second, at_mode", ROWS, ids=lambda v: getattr(v, "name", ""))
def test_predicted_laws_have_the_printed_constants(sampler, z, variation, mean_abs, second, at_mode):
    assert normalizer(sampler, "normal") == pytest.approx(z, abs=1e-4 * max(1, z / 2))
    assert distances_to_target(sampler, "normal").total_variation == pytest.approx(variation, abs=6e-4)
    found = moments(sampler, "normal")
    assert found["mean"] == pytest.approx(0, abs=1e-9)
    assert found["mean_abs"] == pytest.approx(mean_abs, abs=6e-4)
    if second is not None:
        assert found["second"] == pytest.approx(second, abs=6e-4)
    assert density(sampler, "normal", 0.0) == pytest.approx(at_mode, abs=5e-4)


class WrongShare(PSGLD):
    """PSGLD whose distribution has the wrong part of Γ."""

    share = 0.0

    def law(self) -> Law:
        return Law(super().law().metric, self.share)


@pytest.mark.parametrize("share", [0.0, 0.2, 0.9, 1.0])
def test_constants_see_a_wrong_share_of_gamma(share):
    wrong = type("WrongShare", (WrongShare,), {"share": share})(alpha=0.9, stability=0.1)
    assert abs(normalizer(wrong, "normal") - 1.12391) > 50e-4 * (share != 0) + 5e-4


@pytest.mark.parametrize("name", LANDSCAPES)
@pytest.mark.parametrize(
    "sampler",
    [
        SGLD(),
        PSGLD(alpha=0.5, stability=0.5),
        PSGLD(alpha=0.99, stability=1e-4, **INSIDE),
        ShampooSGLD(),
        MongeSGLD(beta=2.0),
        DriftAdamSGLD(a=0.5),
    ],
    ids=lambda s: s.name,
)
def test_densities_are_normalised_and_their_masses_add_up(name, sampler):
    law, target = limit_law(sampler, name), landscape(name)
    reach = 40 if name == "student_t" else 8
    cuts = np.unique(np.concatenate([np.linspace(-reach, reach, 33), [-1.5, 0.0, 1.5]]))
    total = sum(quad(law.density, a, b, limit=200, epsabs=1e-12)[0] for a, b in zip(cuts, cuts[1:], strict=False))
    outside = law.cumulative(-reach) + 1 - law.cumulative(reach)
    assert total + outside == pytest.approx(1, abs=1e-8)
    bins = Bins(-3, 3, 30)
    found = law.masses(bins)
    assert found.shape == (32,) and found.min() >= 0 and found.sum() == pytest.approx(1, abs=1e-12)
    first = quad(law.density, bins.edges[15], bins.edges[16], limit=200, epsabs=1e-12)[0]
    assert found[16] == pytest.approx(first, abs=1e-8)
    assert np.all(metric(sampler, target, np.array([0.3, 1.0])) > 0)
    if isinstance(sampler, SGLD):
        np.testing.assert_allclose(law.density(bins.centers), target.density(bins.centers), rtol=1e-8)


def test_heavy_tails_are_followed_or_refused():
    assert target_law("student_t").moments()["second"] == pytest.approx(5 / 3, rel=1e-9)
    # temperature 2.5 leaves tails x^{−2.4}: a distribution without a mean of |x|²
    law = LimitLaw(Law(temperature=2.5), landscape("student_t"))
    assert law.cumulative(np.inf) == 1 and law.moments()["second"] == np.inf
    with pytest.raises(ValueError, match="tail has infinite mass. Choose a target with lighter tails"):
        LimitLaw(Law(temperature=7.0), landscape("student_t"), "X")


def test_distances_of_known_laws():
    shift = 0.3
    bins = Bins(-8, 8.3, 4000)
    edges = bins.edges
    law = target_law("normal")
    p, q = (
        np.diff(law.cumulative(edges), prepend=0, append=1),
        np.diff(law.cumulative(edges - shift), prepend=0, append=1),
    )
    assert total_variation(p, q) == pytest.approx(2 * law.cumulative(shift / 2) - 1, abs=1e-5)
    assert kl_divergence(p, q) == pytest.approx(shift**2 / 2, rel=1e-3)
    assert wasserstein(p, q, bins) == pytest.approx(shift, abs=1e-4)
    for f in (total_variation, kl_divergence, lambda a, b: wasserstein(a, b, bins)):
        assert f(p, p) == 0
    assert kl_divergence([1, 1], [1, 0]) == np.inf and kl_divergence([1, 0], [1, 1]) == pytest.approx(np.log(2))
    with pytest.raises(ValueError, match="same bins"):
        total_variation(p, q[1:])


def test_distances_on_the_line_agree_with_those_of_fine_bins():
    bins = Bins(-3.4, 3.4, 4000)
    sampler = PSGLD(alpha=0.9, stability=0.1)
    fine = distances_to_target(sampler, "double_well")
    p, q = masses(sampler, "double_well", bins), target_masses("double_well", bins)
    assert fine.total_variation == pytest.approx(total_variation(p, q), abs=1e-5)
    assert fine.kl_divergence == pytest.approx(kl_divergence(p, q), abs=1e-5)
    assert fine.wasserstein == pytest.approx(wasserstein(p, q, bins), abs=1e-5)


def test_a_sampler_without_a_limit_is_refused_in_a_sentence():
    class Lost(SGLD):
        def law(self) -> Law | None:
            return None

    with pytest.raises(ValueError, match="no limit distribution"):
        density(Lost(), "normal", 0.0)
    with pytest.raises(ValueError, match="Unknown sampler"):
        density("NoSuch", "normal", 0.0)


# -- a finite step ----------------------------------------------------------------------------------------------------

PUBLISHED = PSGLD(alpha=0.9, stability=0.1)
CORRECTED = CorrectedPSGLD(alpha=0.9, stability=0.1)


@pytest.mark.parametrize("step", [1.0, 0.1, 1e-2, 1e-4])
@pytest.mark.parametrize("resolution", [0.4, 1.0])
def test_sgld_on_a_normal_is_the_known_normal(step, resolution):
    found = exact_law(SGLD(), "normal", step, resolution)
    deviation = (1 - step / 4) ** -0.5
    wanted = np.diff(ndtr(Bins().edges / deviation), prepend=0.0, append=1.0)
    assert found.converged and found.at_ends < 1e-6
    assert found.moments()["second"] == pytest.approx(deviation**2, rel=1e-6)
    assert total_variation(found.masses(), wanted) < 1e-5
    assert found.cumulative([-np.inf, 0.0, np.inf]) == pytest.approx([0, 0.5, 1], abs=1e-7)


@cache
def simulated(sampler: Sampler, target: str, step: float, duration: float, every: int) -> np.ndarray:
    """Shares of the visits of 2·10⁴ chains in the last 70% of their time, at least 8·10⁶ of them."""
    steps = round(duration / step)
    run = simulate(sampler.replace(step_size=step), target, chains=20_000, steps=steps, seed=3, record_every=every)
    assert run.counts.sum() >= 8e6 and run.diverged == 0
    return run.masses()


@pytest.mark.parametrize(
    "sampler, target, step, duration, every",
    [
        (SGLD(), "normal", 1e-1, 60, 1),
        pytest.param(SGLD(), "normal", 1e-2, 20, 2, marks=pytest.mark.slow),
        pytest.param(PUBLISHED, "normal", 1e-1, 60, 1, marks=pytest.mark.slow),
        pytest.param(PUBLISHED, "normal", 1e-2, 20, 2, marks=pytest.mark.slow),
        pytest.param(PUBLISHED, "normal", 1e-3, 10, 8, marks=pytest.mark.slow),
        pytest.param(PSGLD(alpha=0.5, stability=0.3), "normal", 1e-1, 60, 1, marks=pytest.mark.slow),
        pytest.param(PSGLD(alpha=0.99, stability=0.5), "normal", 1e-2, 20, 2, marks=pytest.mark.slow),
        (PUBLISHED, "skewed", 1e-2, 20, 2),
        (CORRECTED, "normal", 1e-2, 20, 2),
        (MongeSGLD(beta=1.0), "normal", 1e-1, 200, 3),
    ],
    ids=lambda v: getattr(v, "name", None),
)
def test_exact_law_agrees_with_simulation(sampler, target, step, duration, every):
    law = exact_law(sampler, target, step)
    assert law.converged and law.at_ends < 1e-5
    assert total_variation(simulated(sampler, target, step, duration, every), law.masses()) < 0.01


@dataclasses.dataclass(frozen=True)
class Planted(PSGLD):
    """PSGLD with a bug in its operator: `share` of Γ in place of 1 − α, `noise` times the noise."""

    share: float = 0.1
    noise: float = 1.0

    def line(self) -> Line:
        line, noise = super().line(), self.noise

        def move(a, b, g, h, p):
            drift, metric = line.move(a, b, g, h, p)
            return drift, metric * noise**2

        return dataclasses.replace(line, move=move, parameters=(self.alpha, self.stability, self.share))


@pytest.mark.parametrize("share, noise", [(1.0, 1.0), (0.2, 1.0), (0.0, 1.0), (0.1, 2**0.5), (0.1, 0.5**0.5)])
def test_planted_bugs_are_seen_against_simulation_and_against_the_limit(share, noise):
    planted = Planted(alpha=0.9, stability=0.1, share=share, noise=noise)
    right = simulated(PUBLISHED, "normal", 1e-2, 20, 2)
    assert total_variation(right, exact_law(planted, "normal", 1e-2).masses()) > 0.015
    limit = masses(PUBLISHED, "normal")
    assert total_variation(exact_law(PUBLISHED, "normal", 1e-5).masses(), limit) < 0.002
    assert total_variation(exact_law(planted, "normal", 1e-5).masses(), limit) > 0.02


@pytest.mark.slow
@pytest.mark.parametrize(
    "sampler, step, to_limit",
    [
        # 2·10⁴ simulated chains, noise about 0.004
        (PUBLISHED, 1e-1, 0.153),
        (PUBLISHED, 1e-2, 0.062),
        (PUBLISHED, 1e-3, 0.0163),
        (PSGLD(alpha=0.9, stability=0.1, gamma_term="dropped"), 1e-2, 0.057),
        (PSGLD(alpha=0.9, stability=0.1**0.5, **INSIDE), 1e-2, 0.042),
        (PSGLD(alpha=0.9, stability=1e-4, **INSIDE), 1e-2, 0.083),
        (ShampooSGLD(), 1e-1, 0.177),
        (ShampooSGLD(), 1e-2, 0.071),
        (MongeSGLD(beta=1.0), 1e-2, 0.0085),
        (CORRECTED, 1e-1, 0.183),
        (CORRECTED, 1e-2, 0.192),
        (CORRECTED, 1e-3, 0.0898),
        (CORRECTED, 1e-4, 0.0214),
        (CorrectedPSGLD(alpha=0.5, stability=0.1), 1e-1, 0.035),
        (CorrectedPSGLD(alpha=0.0, stability=0.1), 1e-1, 0.386),
        (CorrectedPSGLD(alpha=0.0, stability=0.1), 1e-2, 0.075),
        (CorrectedPSGLD(alpha=0.9, stability=1.0), 1e-2, 0.0119),
    ],
    ids=lambda v: getattr(v, "name", None),
)
def test_distances_to_the_limit_are_the_measured_ones(sampler, step, to_limit):
    found = exact_law(sampler, "normal", step, resolution=0.6).masses()
    assert total_variation(found, masses(sampler, "normal")) == pytest.approx(to_limit, abs=0.006)


@pytest.mark.slow
@pytest.mark.parametrize("target", LANDSCAPES)
@pytest.mark.parametrize(
    "sampler",
    [
        PUBLISHED,
        PSGLD(alpha=0.99, stability=0.5),
        CORRECTED,
        MongeSGLD(beta=1.0),
        ShampooSGLD(),
        FrozenPSGLD(),
        RMSPropSGLD(),
        SGLD(),
    ],
    ids=lambda s: s.name,
)
def test_the_grids_do_not_matter(sampler, target):
    coarse, fine = exact_law(sampler, target, 1e-2, 0.4), exact_law(sampler, target, 1e-2, 0.7)
    assert len(fine.x) > 1.4 * len(coarse.x) and fine.converged and coarse.converged
    assert total_variation(coarse.masses(), fine.masses()) < 0.006 and fine.grid_change < 0.006
    assert fine.density.shape == fine.x.shape and fine.density.min() >= 0


@pytest.mark.slow
def test_laws_tend_to_their_limits_and_a_slow_memory_loses_its_bias():
    curve = list(bias_curve(PUBLISHED, "double_well", [1e-2, 1e-3, 1e-4]))
    assert [step for step, _, _ in curve] == [1e-2, 1e-3, 1e-4]
    to_limit = [limit for _, _, limit in curve]
    assert to_limit[0] > 2 * to_limit[1] > 4 * to_limit[2]
    bias = [next(bias_curve(PUBLISHED.replace(alpha=a), "normal", [1e-1]))[1] for a in (0.9, 0.99, 0.999)]
    assert bias[0] > 2 * bias[1] > 4 * bias[2], "with ε fixed and α → 1 the metric freezes"
    assert next(bias_curve(FrozenPSGLD(), "normal", [1e-2]))[1] < 0.002


def test_a_rough_grid_and_an_unfinished_solution_are_reported(monkeypatch):
    coarse, fine = exact_law(CORRECTED, "normal", 1e-2, 0.4), exact_law(CORRECTED, "normal", 1e-2, 0.5)
    assert np.isnan(coarse.grid_change) and 0 < fine.grid_change < 0.01 and fine.converged
    monkeypatch.setattr("llc_core.stationary.exact.CHANGE", fine.grid_change / 2)
    assert not exact_law(CORRECTED, "normal", 1e-2, 0.5).converged
    slow = CORRECTED.replace(alpha=0.99)
    assert exact_law(slow, "normal", 1e-2, 0.4).converged
    monkeypatch.setattr("llc_core.stationary.operator.RESTARTS", 0)
    unfinished = exact_law(slow, "normal", 1e-2, 0.4)
    assert unfinished.residual > 1e-5 and not unfinished.converged


@pytest.mark.slow
def test_a_symmetric_target_has_a_symmetric_law_and_the_skewed_one_has_not():
    for target, skew in (("normal", False), ("double_well", False), ("skewed", True)):
        found = exact_law(PUBLISHED, target, 1e-2).masses()
        assert (total_variation(found, found[::-1]) > 1e-3) == skew


@pytest.mark.slow
@pytest.mark.parametrize("sampler, target, step", [(SGLD(), "normal", 4.5), (SGLD(), "quartic", 1.0)])
def test_a_chain_that_diverges_has_no_law(sampler, target, step):
    with pytest.raises(ValueError, match="runs away .* use a smaller step_size"):
        exact_law(sampler, target, step)
    ((_, to_target, to_limit),) = bias_curve(sampler, target, [step])
    assert np.isnan(to_target) and np.isnan(to_limit)


WAVES = {"kind": "landscape", "expression": f"exp(-x^2/2)*(2+{'*'.join(['sin(50*x)'] * 12)})"}
"""73 characters with a thousand wells: 54,694 positions, 24 GB for one matrix of them."""


def unmade(*given):
    pytest.fail("it was made")


@pytest.mark.slow
@pytest.mark.parametrize(
    "target, made, most",
    [(WAVES, "exact.memory_axis", 1e8), ("normal", "exact.Operator", 2e5), ("normal", "exact.stationary", 5e6)],
    ids=["positions", "states", "moves"],
)
def test_a_law_without_room_is_refused_before_it_is_made(monkeypatch, target, made, most):
    monkeypatch.setattr(f"llc_core.stationary.{made}", unmade)
    with pytest.raises(ValueError, match="takes more than .* MB: it needs too many nodes. Use a smoother") as error:
        exact_law(PUBLISHED, target, 0.5, 0.6, most)
    assert str(error.value).count(". ") == 1, "what is wrong, and what helps"


@pytest.mark.slow
@pytest.mark.parametrize(
    "sampler, target, step",
    [(PUBLISHED, "double_well", 1e-4), (SGLD(), "student_t", 1e-2), (CORRECTED, "normal", 1e-1)],
)
def test_the_price_of_a_law_is_what_it_takes(sampler, target, step):
    """It is no less, and not three times as much. What limits take is kept by them and does not count."""
    exact_law(sampler, target, step)
    tracemalloc.start()
    try:
        exact_law(sampler, target, step)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert exact_law(sampler, target, step, most_bytes=3 * peak)
    with pytest.raises(ValueError, match="takes more than"):
        exact_law(sampler, target, step, most_bytes=peak)


def test_a_prediction_takes_some_points_at_a_time(monkeypatch):
    """A formula with a thousand wells has two million; their own points, all at once, took 8 GB."""
    law, target = limit_law("DriftAdamSGLD", "double_well"), target_law("double_well")
    whole = law.distances(target)
    sizes, kind = [], type(law.target)
    slope = kind.slope
    monkeypatch.setattr("llc_core.stationary.panels.PIECE", 500)
    monkeypatch.setattr(kind, "slope", lambda self, x: sizes.append(np.size(x)) or slope(self, x))
    found = law.distances(target)
    assert dataclasses.astuple(found) == pytest.approx(dataclasses.astuple(whole), rel=1e-12)
    assert law._panels.points.size > 3000 and max(sizes) <= 500 * 14


def test_bad_input_of_the_exact_law_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match="needs a step_size"):
        exact_law(SGLD(), "normal")
    assert exact_law(SGLD(step_size=1e-2), "normal").step_size == 1e-2
    for bad in (0.0, -1.0, np.nan, "x"):
        with pytest.raises(ValueError, match="step_size"):
            exact_law(SGLD(), "normal", bad)
    for bad in (0.0, 100.0):
        with pytest.raises(ValueError, match="resolution is"):
            exact_law(SGLD(), "normal", 1e-2, bad)
    with pytest.raises(ValueError, match="two numbers besides x.*simulate"):
        exact_law(DriftAdamSGLD(), "normal", 1e-2)
    with pytest.raises(ValueError, match="no scalar form.*simulate"):
        exact_law("SGHMC", "normal", 1e-2)
