"""λ̂ from temperatures: a slope that w0 does not enter, its error, and what it is made of in a run."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from cases import few
from sentences import tells
from targets import Quadratic
from torch import nn

from llc_core import (
    BayesianNetwork,
    DeepLinearFamily,
    DeepLinearNetwork,
    Estimate,
    NetworkPotential,
    Run,
    RunConfig,
    estimate,
)
from llc_core.diagnostics.conclusion import conclude
from llc_core.diagnostics.evidence import Evidence
from llc_core.diagnostics.verdict import judge
from llc_core.engine.setup import Setup
from llc_core.engine.summary import Chains, weigh
from llc_core.engine.temperatures import Level, from_temperatures
from llc_core.samplers import samplers
from llc_core.verdicts import Verdict, plain_words

CURVATURES = np.array([0.3, 1.0, 1.0, 3.0, 3.0, 10.0]) / 1000
"""With n = 1000 and nβ = 1000: γ = 1 matters along all but the last of these directions."""
MINIMUM = np.array([2.0, -1.0, 1.0, 0.5, -0.5, 0.2])
N_BETA, GAMMA = 1000.0, 1.0
SHARES = N_BETA * CURVATURES / (N_BETA * CURVATURES + GAMMA)


class Above(Quadratic):
    """L(w0 + δ) = ½ Σ h_i·(δ_i − m_i)²: w0 lies above the minimum, which is at m."""

    def __init__(self, curvatures=CURVATURES, minimum=MINIMUM):
        super().__init__(curvatures)
        self.minimum = torch.as_tensor(minimum, dtype=torch.float64)

    def excess_loss_and_grad(self, delta, batch=None):
        off = delta - self.minimum.to(delta)
        grad = self.curvatures.to(delta) * off
        at_home = (self.curvatures * self.minimum.square()).sum().to(delta)
        return ((grad * off).sum(dim=1) - at_home) / 2, grad


def loss_at_balance() -> float:
    """nβ·(L(μ) − L(w0)), where γ and the slope of the loss balance at μ."""
    off = (SHARES - 1) * MINIMUM
    return float(N_BETA * (CURVATURES * (off**2 - MINIMUM**2)).sum() / 2)


def drawn(temperature: float, random: np.random.Generator, rows=400, chains=4, memory=0.5, fixed_gamma=False) -> Level:
    """A level whose chains are autoregressive with the very distribution of chains at this temperature."""
    n_beta, gamma = N_BETA / temperature, GAMMA if fixed_gamma else GAMMA / temperature
    total = n_beta * CURVATURES + gamma
    center, noise = n_beta * CURVATURES / total * MINIMUM, random.normal(size=(rows, chains, len(total)))
    states = noise.copy()
    for row in range(1, rows):
        states[row] = memory * states[row - 1] + math.sqrt(1 - memory**2) * noise[row]
    off = center + states / np.sqrt(total) - MINIMUM
    trace = n_beta * (CURVATURES * (off**2 - MINIMUM**2)).sum(axis=2) / 2
    chains_seen = Chains(
        trace.mean(axis=0), np.ones(chains, dtype=bool), trace, np.arange(rows), n_beta, gamma, rows, 0, 1.0, 1.0
    )
    evidence = weigh(Above(), chains_seen, Evidence(exact_losses=True, parameters=len(total)))[0]
    return Level(0, {"temperature": temperature}, chains_seen, evidence)


def off_by(temperatures: tuple[float, ...], seed: int, **more: object) -> tuple[float, float]:
    """How far the slope is from ½Σs, and its error."""
    random = np.random.default_rng(seed)
    found = from_temperatures([drawn(t, random, **more) for t in temperatures])
    return found.llc - SHARES.sum() / 2, found.llc_se


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("temperatures", [(1, 1.5), (1, 0.5, 2)])
def test_the_error_covers(temperatures):
    """± 2 errors hold the truth 19 times in 20, within 3 standard deviations of a binomial count."""
    seeds = 120
    found = [off_by(temperatures, seed) for seed in range(seeds)]
    covered = np.mean([abs(off) <= 2 * se for off, se in found])
    assert abs(covered - 0.954) < 3 * math.sqrt(0.954 * 0.046 / seeds)
    # The errors are those that the slopes have: their mean is known to 1 in √seeds, and to the truth there is no bias.
    z = np.array([off / se for off, se in found])
    assert abs(z.mean()) < 3.5 / math.sqrt(seeds)


def test_that_test_can_fail():
    """With γ left as it is the slope is nearer to ½Σs², and the place of balance moves."""
    z = [off / se for off, se in (off_by((1, 1.5), seed, fixed_gamma=True, rows=2000) for seed in range(10))]
    assert abs(np.mean(z)) > 5 / math.sqrt(len(z))


def test_how_far_w0_lies_above_the_minimum():
    random = np.random.default_rng(0)
    levels = [drawn(t, random, rows=4000) for t in (1, 2)]
    found = from_temperatures(levels)
    error = math.hypot(
        2 * levels[0].evidence.se, levels[1].evidence.se
    )  # of 2·λ̂_1 − λ̂_2·2, the value at T = 0, at most
    assert abs(found.above + loss_at_balance()) < 4 * 2 * error
    assert levels[0].evidence.llc < 0 < found.llc and found.verdict, found.verdict


def slope_of_a_run(temperatures=(1, 2), **more):
    config = {"chains": 8, "steps": 1200, "n_beta": N_BETA, "localization": GAMMA, "seed": 1, **more}
    return estimate(Above(), "HMC", temperatures=temperatures, **config)


@pytest.mark.slow
def test_a_run_divides_nbeta_and_gamma():
    found = slope_of_a_run().from_temperatures
    assert abs(found.llc - SHARES.sum() / 2) < 3.5 * found.llc_se < 0.2 * SHARES.sum()
    assert abs(found.above + loss_at_balance()) < 4 * math.hypot(2 * found.means_se[0], found.means_se[1])


@pytest.mark.parametrize("trusted", [True, False])
def test_what_was_to_be_read_from_temperatures_is_in_the_conclusion(trusted):
    found = slope_of_a_run(steps=300)
    slope = replace(found.from_temperatures, llc=4.0, llc_se=0.1, verdict=Verdict(trusted, "Why.", "More steps."))
    found = replace(found, converged=judge(replace(found.evidence, llc=50.0, above=10.0)), from_temperatures=slope)
    assert "read λ̂ from temperatures=(1, 0.25)." in conclude(replace(found, from_temperatures=None)).remedy
    said = conclude(found).remedy
    assert "λ̂ from temperatures, 4 ± 0.1" in said and "temperatures=" not in said
    assert ("nothing speaks against it" in said) is trusted and ("Why. More steps." in said) is not trusted
    movable = conclude(replace(found, converged=judge(replace(found.evidence, llc=50.0, above=10.0, movable=True))))
    assert movable.remedy.startswith("Polish w0") is not trusted and bool(movable.change) is not trusted
    noise = replace(found, converged=judge(replace(found.evidence, llc=-50.0, expected=-30.0, above=math.nan)))
    said = conclude(noise).remedy
    assert ("nothing speaks against it" in said) is trusted and ("more data or a smaller nβ" in said) is not trusted


@pytest.mark.parametrize("trusted", [True, False])
def test_a_slope_that_does_not_help_leaves_the_advice_of_weight_decay_where_polishing_led_nowhere(trusted):
    found = slope_of_a_run(steps=300)
    slope = replace(found.from_temperatures, llc=4.0, llc_se=0.1, verdict=Verdict(trusted, "Why.", "More steps."))
    nowhere = replace(found.evidence, llc=50.0, above=10.0, movable=True, polished=False)
    said = conclude(replace(found, evidence=nowhere, converged=judge(nowhere), from_temperatures=slope)).remedy
    assert said.startswith("Polishing led to no minimum. Add weight decay") is not trusted
    assert ("Why. More steps." in said) is not trusted and "temperatures=" not in said


OWN = {True: "use more data or a smaller nβ.", False: "Use the same-batch baseline and full gradients"}


@pytest.mark.parametrize("exact_losses", OWN)
def test_a_slope_that_does_not_help_leaves_a_negative_number_its_own_remedy(exact_losses):
    """Where w0 is no minimum, and where the baseline is noisy: a slope that can be trusted takes the place of both."""
    found = slope_of_a_run(steps=300)
    known = replace(
        found.evidence,
        llc=-50.0,
        se=1.0,
        expected=math.nan,
        above=math.nan,
        exact_losses=exact_losses,
        acceptance=math.nan,
    )
    found, own = replace(found, evidence=known, converged=judge(known)), OWN[exact_losses]
    bad, good = (
        replace(found.from_temperatures, llc=4.0, llc_se=0.1, verdict=Verdict(ok, "Why.", "More steps."))
        for ok in (False, True)
    )
    said = conclude(replace(found, from_temperatures=bad))
    first, _, rest = said.remedy.partition(
        "λ̂ from temperatures, 4 ± 0.1, is not to be trusted either. Why. More steps."
    )
    assert own in first and not rest and said.change == found.converged.change
    assert plain_words(said.remedy) == said.remedy.replace(" (polish=True)", "")
    said = conclude(replace(found, from_temperatures=good))
    assert "Use λ̂ from temperatures, 4 ± 0.1" in said.remedy and own not in said.remedy


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("bug", ["gamma stays", "nbeta is multiplied"])
def test_a_run_that_does_otherwise_is_found_out(bug, monkeypatch):
    begun = Setup.__init__

    def wrong(self, resolved):
        begun(self, resolved)
        t = self.of_grid("temperature")
        if bug == "gamma stays":
            self.target.localization = self.target.localization * t
        else:
            self.target.n_beta = self.target.n_beta * t * t

    monkeypatch.setattr(Setup, "__init__", wrong)
    found = slope_of_a_run().from_temperatures
    assert not abs(found.llc - SHARES.sum() / 2) < 3.5 * found.llc_se


@pytest.mark.slow
def test_data_with_noise_whose_true_weights_are_no_minimum():
    """A linear regression at its true weights: the mean says too little, the slope says ½Σs, by the Hessian of the data."""
    torch.manual_seed(3)
    x, model = torch.randn(400, 4), nn.Linear(4, 3, bias=False)
    y = model(x).detach() + torch.randn(400, 3)
    problem = NetworkPotential(model, lambda out, target: (out - target).square().sum(1) / 2, (x, y))
    found = estimate(problem, "UnderdampedLangevin", temperatures=(1, 2), steps=3000, dtype="float64", seed=2)
    curvature = problem.n_beta * torch.linalg.eigvalsh((x.T @ x / 400).double())
    exact = float(3 * (curvature / (curvature + problem.localization)).sum() / 2)
    slope = found.from_temperatures
    assert (
        abs(slope.llc - exact) < max(3.5 * slope.llc_se, 0.02 * exact) < 0.15 * exact
    )  # 2%: what steps of this size may add
    assert exact - found.llc > 10 * found.llc_se and slope.verdict, slope.verdict


def test_exact_draws():
    network = DeepLinearNetwork.random(widths=[4, 3], n=500, seed=1)
    run = Run(RunConfig(chains=4, steps=400, sampler={"name": "Gibbs"}, grid={"temperature": (1, 2)}), network)
    list(run)
    cold, hot = run.estimates()
    slope = cold.from_temperatures
    assert hot.from_temperatures is None and hot.n_beta == pytest.approx(cold.n_beta / 2)
    exact = 2 * hot.reference - cold.reference  # from the normal distributions at nβ, γ and at half of both
    assert math.isfinite(exact) and abs(slope.llc - exact) < 3.5 * slope.llc_se < 0.3 * exact


QUICK = {"chains": 3, "steps": 80, "n_beta": N_BETA, "localization": GAMMA}


@pytest.mark.parametrize("name", few(samplers(), 8))
def test_every_sampler(name):
    run = Run(RunConfig(sampler={"name": name}, grid={"temperature": (1, 1.5)}, **QUICK), Above())
    list(run)
    cold, hot = run.estimates()
    assert (cold.n_beta, hot.n_beta) == pytest.approx((N_BETA, N_BETA / 1.5))
    assert cold.from_temperatures.llc == pytest.approx(3 * hot.llc - 2 * cold.llc, nan_ok=True)
    assert str(cold.from_temperatures) in str(cold)


def test_grids_and_problems_side_by_side():
    """Each setting and each problem has a slope of its own levels."""
    family = DeepLinearFamily([DeepLinearNetwork.random(widths=[3, 2, 3], n=300, seed=seed) for seed in (1, 2)])
    grid = {"temperature": (1, 2), "localization": (1.0, 10.0)}  # not the last field: levels are not neighbours
    run = Run(RunConfig(sampler={"name": "SGLD"}, gradient="full", chains=2, steps=60, grid=grid), family)
    list(run)
    found = run.estimates()
    assert len(found) == 8
    for problem in (found[:4], found[4:]):
        for cold, hot in zip(problem[:2], problem[2:], strict=True):
            assert hot.setting["localization"] == cold.setting["localization"] and hot.from_temperatures is None
            assert cold.from_temperatures.llc == pytest.approx(2 * hot.llc - cold.llc)
    gammas = run._setup.target.localization.squeeze(1)[:4].tolist()
    assert gammas == [1.0, 10.0, 0.5, 5.0]
    short = {"chains": 2, "steps": 60, "gradient": "full"}
    listed = estimate(family, "SGLD", temperatures=(1, 2), grid={"localization": (1.0, 10.0)}, **short)
    assert [each.setting for each in listed] == 2 * [{"localization": g, "temperature": 1.0} for g in (1.0, 10.0)]


def test_levels_of_a_ladder_have_slopes_too():
    ladder = {"name": "ReplicaExchange", "temperatures": [1, 3]}
    found = estimate(Above(), "SGLD", temperatures=(1, 2), interaction=ladder, **QUICK)
    assert isinstance(found, Estimate) and found.n_beta == pytest.approx(N_BETA)
    assert found.from_temperatures.temperatures == (1.0, 2.0)


def test_it_goes_on_where_its_own_verdict_asks_for_steps():
    short = slope_of_a_run(steps=200)
    assert not short.from_temperatures.verdict and short.from_temperatures.verdict.wants_steps
    assert slope_of_a_run(steps=200, max_steps=400).steps == 400


def test_it_is_written_and_read_again():
    found = slope_of_a_run((1, 2, 3), steps=200)
    again = Estimate.from_json(found.to_json())
    assert again.from_temperatures == found.from_temperatures and again.to_json() == found.to_json()
    assert RunConfig.from_json(found.config.to_json()) == found.config
    alone = estimate(Above(), "HMC", **QUICK)
    assert alone.from_temperatures is None and "from_temperatures" not in json.loads(alone.to_json())


def test_a_data_set_holds_it():
    pytest.importorskip("xarray")
    found = slope_of_a_run(steps=200)
    data, slope = found.to_dataset(), found.from_temperatures
    assert float(data["llc_from_temperatures"]) == slope.llc and str(slope) == data.attrs["from_temperatures"]
    assert float(data["means_at_temperature_2"]) == slope.means[1]


@pytest.mark.parametrize(
    "options, words",
    [
        ({"temperatures": (1,)}, ["temperatures", "at least one other"]),
        ({"temperatures": (2, 3)}, ["temperatures", "[2.0, 3.0]"]),
        ({"temperatures": (1, 2, 2)}, ["temperatures", "each once"]),
        ({"temperatures": "hot"}, ["temperature", "hot"]),
        ({"temperatures": (1, 1e30)}, ["n_beta"]),
        ({"temperatures": (1, 2), "grid": {"temperature": (1, 2)}}, ["temperatures", "leave one"]),
    ],
)
def test_one_sentence(options, words):
    with pytest.raises(ValueError) as caught:
        estimate(Above(), "SGLD", **options)
    tells(caught.value)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_a_prior_of_the_problems_own_is_refused():
    with pytest.raises(ValueError, match="prior of its own") as caught:
        estimate(BayesianNetwork([1, 3, 1], {"name": "wave", "n": 7}), temperatures=(1, 2), steps=40)
    tells(caught.value)
