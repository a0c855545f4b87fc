"""Calibration picks a plateau that is right, refuses what is not, and says why; health speaks in plain sentences."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
import torch

from llc_core import SGLD, DeepLinearNetwork, UnderdampedLangevin, calibrate, estimate, health, planar_landscape, run
from llc_core.studies.calibration.plateau import longest_plateau, pick
from llc_core.studies.calibration.sentences import explanation
from llc_core.studies.calibration.trials import Trials

torch.set_num_threads(1)


@pytest.fixture(scope="module")
def regular():
    return calibrate(
        planar_landscape("quadratic"),
        "SGLD",
        chains=16,
        steps=4000,
        step_size=[1e-5, 1e-4, 2e-4, 4e-4, 2e-3, 2e-2],
        localization=[1.0, 10.0],
    )


@pytest.mark.slow
def test_the_pick_is_right_on_a_regular_landscape(regular):
    assert regular and abs(regular.estimate.relative_error) < 0.1
    e, g, b = regular.chosen
    assert regular.localization[g] == 1.0 and 1e-4 <= regular.step_size[e] <= 4e-4
    assert regular.llc.shape == regular.ok.shape == regular.reason.shape == (6, 2, 1)
    assert regular.plateau[e, g, b] and regular.plateau[:, g, b].sum() >= 2
    assert regular.config.sampler["step_size"] == regular.step_size[e] and not regular.config.grid
    assert "plateau" in str(regular) and all(s[0].isalnum() and s[-1] == "." for s in regular.explanation)
    with pytest.raises(dataclasses.FrozenInstanceError):
        regular.llc = None


@pytest.mark.slow
def test_a_too_large_step_is_refused_with_its_reason(regular):
    assert not regular.ok[4:].any()
    assert "step_size" in regular.reason[4, 0, 0] and np.isfinite(regular.llc[4, 0, 0])
    assert (regular.diverged_fraction[5] == 1).all() and "16 of 16 chains" in regular.reason[5, 0, 0]
    assert regular.llc[4, 0, 0] > 1.3 * regular.estimate.expected, "finite, but inflated: only the limit catches it"


@pytest.mark.slow
def test_the_picks_configuration_runs(regular):
    current = run(regular.config.replace(steps=200))
    current.advance(200)
    assert math.isfinite(current.estimates()[0].llc)


@pytest.mark.slow
@pytest.mark.rare
def test_a_singular_landscape():
    problem = planar_landscape("normal_crossing", k=[1, 2])
    found = calibrate(problem, "SGLD", chains=24, steps=8000, step_size=[2e-4, 5e-4, 1e-3, 8e-3], localization=[1.0])
    assert found and abs(found.estimate.relative_error) < 0.1 + 3 * found.estimate.llc_se / found.estimate.expected
    assert found.estimate.llc_se < 0.12 * found.estimate.expected
    assert not found.ok[3, 0, 0]


@pytest.mark.slow
@pytest.mark.rare
def test_a_network_of_the_1k_class():
    problem = DeepLinearNetwork.random("1K", seed=1)
    found = calibrate(
        problem, UnderdampedLangevin(), step_size=[0.03, 0.05, 0.07, 5.0], localization=[1.0], chains=6, steps=3000
    )
    assert found, str(found)
    assert abs(found.estimate.relative_error) < 0.1
    assert not found.ok[-1].any()


@pytest.mark.slow
def test_step_sizes_are_found_from_the_stability_limit():
    found = calibrate(planar_landscape("quadratic"), steps=600, chains=4)
    assert found.llc.shape == (8, 3, 1)
    assert not found.ok[-1].any(), "twice the limit"


def trials(llc, ok, gammas=(0.1, 1.0, 10.0), own=1.0) -> Trials:
    """Trials of given values [ε, γ, 1], of which those that are not ok have a large R-hat."""
    good = estimate(planar_landscape("quadratic"), SGLD(step_size=3e-4), chains=4, steps=2000)
    llc, ok = np.array(llc, dtype=float), np.array(ok, dtype=bool)
    clean = {**good.diagnostics, "drift": 0.0, "step_bias": 0.0, "noise_inflation": 0.0}
    cells = [
        dataclasses.replace(
            good,
            llc=float(v),
            llc_se=0.01,
            r_hat=1.0 if fine else 2.0,
            ess=500.0,
            trace=good.trace * 0 + v,
            diagnostics=clean,
        )
        for v, fine in zip(llc.ravel(), ok.ravel(), strict=True)
    ]
    steps = [1e-4 * 2**e for e in range(len(llc))]
    return Trials(cells, steps, list(gammas), [good.n_beta], own, good.n_beta, math.nan)


@pytest.mark.slow
def test_another_localisation_is_never_picked_in_place_of_ones_own():
    values = [
        [[1.5], [0.5], [0.2]],
        [[1.5], [0.9], [0.2]],
        [[1.5], [1.4], [0.2]],
    ]  # a slope at γ = 1, plateaus beside it
    tried = trials(values, np.ones((3, 3, 1)))
    chosen, plateau = pick(tried)
    assert chosen is None and not plateau.any()
    said = " ".join(explanation(tried, chosen, plateau))
    assert "no two step sizes" in said and "nothing is picked" in said and "Use step_size" not in said
    assert "γ is the strength of the pull" in said and "1.5 at γ = 0.1" in said and "0.2 at γ = 10" in said
    at_ten = trials(values, np.ones((3, 3, 1)), own=10.0)
    assert pick(at_ten)[0][1] == 2, "asked about γ = 10, that is where it is picked"


@pytest.mark.slow
def test_a_single_cell_is_no_plateau():
    alone = [[[True], [False], [True]], [[True], [True], [True]], [[True], [False], [True]]]
    tried = trials(np.ones((3, 3, 1)), alone)
    chosen, plateau = pick(tried)
    assert chosen is None and not plateau.any()
    said = explanation(tried, chosen, plateau)
    assert "one setting alone" in said[0] and "0.0002" in said[1] and "finer step sizes" in said[1]
    assert all(s[-1] == "." for s in said)


@pytest.mark.slow
def test_the_localisation_asked_about_is_the_one_picked():
    found = calibrate(
        planar_landscape("quadratic"), "SGLD", chains=16, steps=4000, step_size=[1e-4, 2e-4, 4e-4],
        localization=[1.0, 10.0, 100.0], own_localization=10.0,
    )  # fmt: skip
    assert found.chosen[1] == 1 and found.config.localization == 10.0 and "at γ = 10 alone" in str(found)
    with pytest.raises(ValueError, match="own_localization is -1"):
        calibrate(planar_landscape("quadratic"), own_localization=-1.0)


def test_nothing_is_picked_where_all_chains_die():
    found = calibrate(planar_landscape("quadratic"), "SGLD", step_size=[0.5, 1.0], localization=[1.0], steps=400)
    assert not found and found.chosen is None and found.estimate is None and found.config is None
    assert "All chains of all 2 settings diverged" in str(found) and "step sizes below" in str(found)


def test_plateaus():
    se, ok = np.full(6, 0.01), np.ones(6, bool)
    assert longest_plateau(np.array([0.5, 0.8, 1.0, 1.01, 1.0, 1.3]), se, ok) == [2, 3, 4]
    assert longest_plateau(np.array([0.5, 0.8, 1.0, 1.01, 1.0, 1.3]), se, np.array([1, 1, 1, 0, 1, 1], bool)) == [2, 4]
    # a slow rise whose neighbours agree is no plateau from end to end
    assert len(longest_plateau(np.linspace(1, 1.3, 6), se, ok)) == 2
    assert longest_plateau(np.ones(6), se, np.zeros(6, bool)) == []


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda p: calibrate(p, step_size=[]), ["step_size", "empty"]),
        (lambda p: calibrate(p, step_size=[0.0, 1.0]), ["step_size", "0"]),
        (lambda p: calibrate(p, n_beta="high"), ["n_beta", "list"]),
        (lambda p: calibrate(p, localization=[-1.0]), ["localization", "-1"]),
        (lambda p: calibrate(3), ["problem", "int"]),
        (lambda p: calibrate(p, "SGLDD"), ["SGLDD"]),
        (lambda p: health(3), ["estimate", "int"]),
    ],
)
def test_refusals(call, words):
    with pytest.raises(ValueError) as error:
        call(planar_landscape("quadratic"))
    assert all(word in str(error.value) for word in words), error.value


def signals(result):
    found = health(result)
    assert all(s.sentence[-1] == "." and isinstance(s.ok, bool) for s in found)
    return {s.name: s for s in found}


@pytest.mark.slow
def test_health_of_a_good_run():
    result = estimate(planar_landscape("quadratic"), SGLD(step_size=3e-4), chains=8, steps=8000)
    found = signals(result)
    assert all(s.ok for s in found.values()), [s for s in found.values() if not s.ok]
    assert found["noise term"].value == pytest.approx(math.sqrt(2 * 3e-4))
    # at equilibrium of a quadratic: E|∇U|² = Σ c, so the loss's term is (ε/2)√(Σ c)
    assert found["gradient term"].value == pytest.approx(1.5e-4 * math.sqrt(2 * result.n_beta / 0.25), rel=0.15)
    assert found["distance"].value == pytest.approx(math.sqrt(2 * 0.25 / result.n_beta), rel=0.3)


@pytest.mark.slow
def test_a_strong_localisation_is_a_choice_to_know_of_and_not_a_fault():
    problem = planar_landscape("quadratic")
    tight = estimate(problem, SGLD(step_size=3e-5), chains=8, steps=20_000, localization=2e3)
    assert tight.converged, "the chains are sound"
    sign = signals(tight)["localisation term"]
    assert sign.ok and sign.note and sign.value > signals(tight)["gradient term"].value
    assert "a choice and not a failure of the chains" in sign.sentence and "smaller localization" in sign.sentence
    # Planted: the same chains under a weak localisation leave nothing to note.
    loose = signals(estimate(problem, SGLD(step_size=3e-4), chains=4, steps=2000))
    assert not loose["localisation term"].note and "the loss is the stronger" in loose["localisation term"].sentence


@pytest.mark.slow
def test_health_names_what_is_wrong():
    problem = planar_landscape("quadratic")
    slow = signals(estimate(problem, SGLD(step_size=3e-6), chains=200, steps=2000, burn_in=0))
    assert not slow["drift"].ok and "rising" in slow["drift"].sentence and not slow["R-hat"].ok
    dead = signals(estimate(problem, SGLD(step_size=1.0), chains=4, steps=200))
    assert not dead["diverged chains"].ok and "4 of 4" in dead["diverged chains"].sentence and not dead["sign"].ok
    wall = planar_landscape("normal_crossing", k=[1, 1], h=[1, 1])
    spiky = signals(estimate(wall, SGLD(step_size=3e-4), chains=16, steps=6000, burn_in=0, dtype="float64"))
    assert not (spiky["spikes"].ok and spiky["diverged chains"].ok)
    result = estimate(problem, SGLD(step_size=3e-4), chains=4, steps=2000)
    negative = signals(dataclasses.replace(result, llc=-0.1))
    assert not negative["sign"].ok and "baseline" in negative["sign"].sentence
