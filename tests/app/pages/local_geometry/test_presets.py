"""What the presets' lessons claim is measured: shorter runs, tolerances from their error bars."""

from __future__ import annotations

import math

import pytest

from app.controls.run_fields import DEFAULTS
from app.pages.local_geometry.config import get_problem
from app.pages.local_geometry.page import LocalGeometry
from app.pages.local_geometry.presets import OUTCOMES, PRESETS
from app.pages.local_geometry.scene import preset_config, scene_of
from lab.benchmarks.accuracy import tiles
from llc_core import Estimate, RunConfig, run

BY_NAME = {preset.name: preset for preset in PRESETS}


def measured(name: str, **changes) -> Estimate:
    preset = BY_NAME[name]
    problem = get_problem(preset.problem)
    whole = run(RunConfig(problem=problem.to_dict(), **{**DEFAULTS, **preset.settings, **changes}), problem)
    for _ in whole:
        pass
    return whole.estimates()[0]


def within(found: Estimate, expected: float, room: float = 0.0) -> bool:
    """Four standard errors (fixed seeds), and `room` for what is not of the sampler's making."""
    return abs(found.llc - expected) < 4 * found.llc_se + room


@pytest.mark.slow
def test_tiny_meets_its_expected_value():
    found = measured("tiny", steps=4000)
    assert within(found, found.expected) and found.converged
    assert get_problem(BY_NAME["tiny"].problem).dim / 2 == 12


@pytest.mark.usefixtures("no_draws")
def test_regular_is_half_the_parameters():
    found = measured("regular", steps=3000)
    assert within(found, found.expected) and float(found.local_learning_coefficient) == 24 == 48 / 2


@pytest.mark.slow
@pytest.mark.usefixtures("no_draws")
def test_the_singular_point_is_far_below_half_the_parameters():
    found = measured("singular", steps=3000, chains=4)
    assert found.llc < 0.45 * 100 and abs(found.relative_error) < 0.05


@pytest.mark.slow
@pytest.mark.usefixtures("no_draws")
def test_slow_and_fast_samplers_find_different_places():
    slow, fast = measured("local", steps=8000), measured("wanderer", steps=8000)
    assert within(slow, 32, room=1.0)
    assert fast.llc < 29 < slow.llc - 4 * slow.llc_se, "the fast one is below the global λ by its finite-n correction"


@pytest.mark.slow
def test_minibatch_noise_heats_and_the_control_variate_helps():
    noisy = measured("minibatch", steps=2000)
    calm = measured("minibatch", steps=2000, gradient="control_variate")
    assert noisy.relative_error > 0.6 and not noisy.converged
    assert abs(calm.relative_error) < 0.15


@pytest.mark.slow
@pytest.mark.usefixtures("no_draws")
def test_a_large_step_reads_too_high_though_all_agree():
    found = measured("step", steps=5000)
    assert found.relative_error > 0.4 and found.r_hat < 1.05 and found.diverged == 0


@pytest.mark.slow
def test_a_small_step_reads_too_low_and_r_hat_says_so():
    found = measured("small")
    assert found.relative_error == pytest.approx(-0.6, abs=0.06) and found.r_hat > 1.5 and not found.converged


@pytest.mark.slow
@pytest.mark.usefixtures("no_draws")
def test_rmsprop_is_biased_where_sgld_is_not():
    biased = measured("rmsprop", steps=10_000)
    plain = measured("rmsprop", steps=10_000, sampler={"name": "SGLD"})
    assert biased.relative_error == pytest.approx(0.12, abs=0.025) and biased.r_hat < 1.05
    assert plain.relative_error == pytest.approx(0.015, abs=0.025)
    gap = (biased.llc - plain.llc) / math.hypot(biased.llc_se, plain.llc_se)
    assert gap > 4


@pytest.mark.slow
def test_printed_sghmc_doubles_the_temperature():
    found = measured("printed", steps=8000)
    assert (
        2 * found.expected * 0.98 < found.llc + 4 * found.llc_se and found.llc - 4 * found.llc_se < 2.3 * found.expected
    )
    assert not found.converged


def test_every_preset_s_claim_is_measured_here():
    assert set(BY_NAME) == {
        *("tiny", "regular", "singular", "local", "wanderer", "minibatch", "step", "small", "rmsprop", "printed"),
    }


def test_tiles_draw_what_was_measured_and_none_like_another():
    """Those of presets that were measured; the others draw their network. With the answers hidden all do."""
    view = LocalGeometry()
    try:
        drawn = {item["name"]: item["picture"] for item in view.tiles.items}
        assert set(OUTCOMES) <= set(drawn)
        assert all("how the estimate goes" in drawn[name] for name in OUTCOMES)
        assert len(set(drawn.values())) == len(drawn), "no two tiles look alike"
        assert OUTCOMES["tiny"][-1] == pytest.approx(1, abs=0.1) and OUTCOMES["small"][-1] < 0.6
        config = preset_config(BY_NAME["tiny"])
        again = tiles.moving_average(config, config.resolved, scene_of(config).expected, only=2)
        assert again == pytest.approx(OUTCOMES["tiny"][:2], rel=0.01)
        view.answers.visible = False
        assert not any("how the estimate goes" in item["picture"] for item in view.tiles.items)
    finally:
        view.close()
