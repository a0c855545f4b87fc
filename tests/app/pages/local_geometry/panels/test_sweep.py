"""Sweeps: the values are where they should be, the points are the engine's numbers, and the best step is the engine's."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from bokeh.models import NoOverlap
from bokeh.models.axes import LogAxis

from app.controls.run_fields import DEFAULTS
from app.pages.local_geometry.config import get_problem
from app.pages.local_geometry.panels.sweep.figure import SweepFigure, _scale
from app.pages.local_geometry.panels.sweep.job import SweepJob, mean_over_living, same_question
from app.pages.local_geometry.panels.sweep.panel import SweepPanel
from app.pages.local_geometry.panels.sweep.points import SweepPoints
from app.pages.local_geometry.panels.sweep.values import (
    BEYOND,
    COMMON,
    step_sizes,
    sweepable,
    values_around,
    values_between,
)
from app.pages.local_geometry.presets import PRESETS
from app.runs.job import Status
from llc_core import RunConfig, run
from llc_core.engine.resolve import resolve
from llc_core.fields import Hyper
from llc_core.samplers.registry import build, numeric_fields, samplers

PROBLEM = get_problem(PRESETS[0].problem)


def config(**changes) -> RunConfig:
    """The page's default run."""
    values = {**DEFAULTS, **PRESETS[0].settings, **changes}
    return RunConfig(problem=PROBLEM.to_dict(), **values)


def finished(job: SweepJob, block: int = 400) -> SweepPoints:
    while not job.finished:
        points = job.advance(block)
    return points


@pytest.fixture(scope="module")
def default_sweep() -> SweepPoints:
    return finished(SweepJob(config(), PROBLEM, "step_size"))


@pytest.mark.slow
def test_the_smallest_error_is_near_the_engine_s_step_size(default_sweep):
    """Within a factor of 3, by the size of the error alone and by the far end of its error bar."""
    found = default_sweep
    assert len(found.values) == 12 and found.default in (pytest.approx(value, rel=0.01) for value in found.values)
    smallest = found.values[np.nanargmin(np.abs(found.error))]
    assert 1 / 3 <= smallest / found.default <= 3
    assert 1 / 3 <= found.values[found.best] / found.default <= 3
    assert abs(found.error[found.best]) < 0.02


@pytest.mark.slow
def test_beyond_the_stability_limit_chains_die_and_below_it_they_do_not(default_sweep):
    found = default_sweep
    assert found.values[-1] == pytest.approx(BEYOND * found.limit, rel=0.01)
    assert found.dead[-1] == 1 and math.isnan(found.error[-1])
    assert (found.dead[found.values < 0.8 * found.limit] == 0).all()


@pytest.mark.usefixtures("no_draws")
def test_points_are_the_engine_s_estimates():
    small = config(steps=600, chains=3, seed=5)
    found = finished(SweepJob(small, PROBLEM, "step_size", count=7), 77)
    whole = run(small.replace(grid={"step_size": tuple(found.values.tolist())}), PROBLEM)
    for _ in whole:
        pass
    for i, estimate in enumerate(whole.estimates()):
        point = found.llc[i], found.se[i], found.expected[i]
        assert point == pytest.approx((estimate.llc, estimate.llc_se, estimate.expected), nan_ok=True)
        assert found.dead[i] == estimate.diverged / estimate.chains


@pytest.mark.slow
@pytest.mark.usefixtures("no_draws")
def test_the_bias_of_sgld_grows_with_its_step_and_is_seen():
    """Planted: at half the stability limit SGLD reads far too high, and the best step must lie below."""
    job = SweepJob(config(sampler={"name": "SGLD"}, steps=4000), PROBLEM, "step_size")
    found = finished(job)
    share = found.values / found.limit
    high = (share > 0.4) & (share < 0.95)
    assert (found.error[high] > 0.1).all() and (found.dead[high] == 0).all()
    assert share[found.best] < 0.4


@pytest.mark.long
@pytest.mark.usefixtures("no_draws")
@pytest.mark.parametrize("field", ["friction", "n_beta", "localization"])
def test_other_fields_are_swept_likewise(field):
    # An expected value that is exact takes a second for every n_beta and localization.
    job = SweepJob(config(steps=400, chains=3), PROBLEM, field, count=3)
    found = finished(job, 100)
    assert len(found.values) == 3 and np.isfinite(found.error).all() and math.isnan(found.default)
    if field == "n_beta":
        exact = [PROBLEM.expected_llc_at(float(value), 1.0) for value in found.values]
        assert found.expected.tolist() == exact and len(set(exact)) == 3
    assert found.steps == found.total_steps == 400 and found.averaging


@pytest.mark.usefixtures("no_draws")
def test_points_move_from_the_first_block_on_and_are_no_averages_in_burn_in():
    job = SweepJob(config(steps=400, chains=2), PROBLEM, "localization", count=3)
    first = job.advance(50)
    assert not first.averaging and first.best is None and np.isfinite(first.llc).all()
    later = finished(job)
    assert later.averaging and later.best is not None


def test_over_chains_leaves_dead_chains_out():
    nan = np.nan
    values = np.array([[1.0, nan, 5.0], [3.0, nan, nan], [2.0, 4.0, nan], [6.0, 4.0, 3.0], [nan, nan, nan]])
    mean, se = mean_over_living(values)
    assert mean[0] == 3 and se[0] == pytest.approx(math.sqrt(14 / 3 / 4))
    assert math.isnan(mean[1]) and math.isnan(mean[2]), "most chains are dead"
    assert math.isnan(mean_over_living(values[:2])[1][0]), "two chains have no spread to speak of"


def test_the_best_is_not_a_small_error_by_chance():
    values = np.array([1.0, 2.0, 3.0])
    one = np.ones(3)
    found = SweepPoints(
        1, 1, "step_size", values, np.array([1.0, 1.01, 1.5]), np.array([0.1, 0.01, 0.01]), one, 0 * one
    )
    assert found.best is None
    averaged = SweepPoints(**{**found.__dict__, "averaging": True})
    assert averaged.best == 1


@pytest.mark.parametrize("name", sorted(samplers()))
def test_every_number_of_every_sampler_has_values_to_sweep(name):
    sampler = build({"name": name}).complete(True)
    for field in sweepable(sampler):
        if field == "step_size":
            continue
        about = {**numeric_fields(sampler), **COMMON}[field]
        current = getattr(sampler, field, None) if field not in COMMON else 1.0
        values = values_around(about, current)
        assert current is None or any(math.isclose(value, current, rel_tol=1e-2) for value in values) or about.log
        assert 8 <= len(values) <= 12 and list(values) == sorted(set(values)), (field, values)
        if field not in COMMON:
            for value in values:
                sampler.replace(**{field: value})


def test_step_sizes_include_the_engine_s_and_stay_in_range():
    about = Hyper(1e-9, 1.0, log=True)
    values = step_sizes(about, 1e-3, 1e-2)
    assert len(values) == 12 and 1e-3 in values and values[-1] == pytest.approx(1.5e-2)
    assert max(step_sizes(about, 0.5, 5.0)) <= 1.0
    far = step_sizes(about, 1e-6, 1e-3)
    assert min(far) == 1e-8 and max(far) == 1.5e-3 and 1e-6 in far
    assert max(step_sizes(about, 1e-3, math.inf)) == pytest.approx(3e-3)


def test_step_sizes_that_the_page_has_found_are_not_looked_for_again():
    job = SweepJob(config(), PROBLEM, "step_size", around=(0.4, 1.5))
    found = job.advance(1)
    assert (found.default, found.limit) == (0.4, 1.5) and found.total_steps == found.chain_steps
    assert 0.4 in found.values and found.values[-1] == pytest.approx(BEYOND * 1.5)


def test_a_sweep_takes_the_step_sizes_of_the_page_s_run():
    """Of a run whose step is set by hand there is no automatic one; and chains that have overflowed measure no limit."""
    resolved = resolve(config(), PROBLEM)
    panel, points = SweepPanel(), SweepJob(config(), PROBLEM, "step_size", around=(0.4, 1.5)).advance(1)
    panel.show(resolved.config, PROBLEM, resolved.sampler)
    panel._asked, panel.found = resolved.config, points

    def measured(step_size: float, limit: float) -> tuple[float, float]:
        numbers = {"step_size": step_size, "stability_limit": limit}
        panel.update(SimpleNamespace(steps=10, burn_in=5, diagnostics=numbers))
        return panel.found.default, panel.found.limit

    assert measured(0.5, 1.6) == (0.5, 1.6)
    assert measured(0.5, math.nan) == (0.5, 1.6) == measured(0.5, 4e30)
    by_hand = resolve(config(sampler={"name": "UnderdampedLangevin", "step_size": 0.2}), PROBLEM)
    panel.show(by_hand.config, PROBLEM, by_hand.sampler)
    assert measured(0.2, 1.7) == (0.5, 1.7)


def test_a_field_that_is_not_a_number_is_refused():
    with pytest.raises(ValueError, match="field is 'mass'; for UnderdampedLangevin choose one of step_size, friction"):
        SweepJob(config(), PROBLEM, "mass")


def test_a_sweep_holds_for_other_values_of_its_field_only():
    base = resolve(config(), PROBLEM).config.to_dict()
    stepped = resolve(config(sampler={"name": "UnderdampedLangevin", "step_size": 0.2}), PROBLEM).config.to_dict()
    assert same_question(base, stepped, "step_size") and not same_question(base, stepped, "friction")
    assert not same_question(base, resolve(config(n_beta=50.0), PROBLEM).config.to_dict(), "step_size")


@pytest.mark.long
@pytest.mark.usefixtures("no_draws")
def test_a_range_is_swept_from_its_first_to_its_last_value():
    job = SweepJob(config(steps=400, chains=3), PROBLEM, "localization", ends=(2.0, 18.0), count=3)
    assert finished(job).values.tolist() == [2, 6, 18]
    job = SweepJob(config(steps=400, chains=3), PROBLEM, "step_size", count=4, ends=(0.01, None))
    found = finished(job)
    assert found.values[0] == 0.01 and found.values[-1] == pytest.approx(BEYOND * found.limit, rel=0.01)
    assert math.isfinite(found.default), "the marks stay"
    about = Hyper(0.0, 1.0)
    assert values_between("alpha", about, (0.0, 1.0), (0.25, 0.75), 3) == (0.25, 0.5, 0.75)
    assert values_between("alpha", about, (0.0, 1.0), (None, 0.5), 3) == (0.0, 0.25, 0.5)
    assert values_between("window_steps", Hyper(1, 1e6), (1.0, 2.0), (1.0, 4.0), 12)[-1] == 4
    assert len(values_between("window_steps", Hyper(1, 1e6), (1.0, 2.0), (1.0, 4.0), 12)) <= 4


@pytest.mark.parametrize(
    "ends, sentence",
    [
        (("abc", ""), "From: “abc” is not a number; write for example 1e-4, or nothing to have it automatic."),
        (("3", "2"), "sweep.from is 3 and sweep.to is 2; the first must be the smaller."),
        (("3", "3"), "sweep.from is 3 and sweep.to is 3; the first must be the smaller."),
        (("", "nan"), "sweep.to"),
        (("-1", ""), "sweep.from is -1; it must be at least 0"),
        (("0", "1"), "sweep.from is 0; localization is swept in equal factors, so write a number above 0."),
        (("", "1e300"), "sweep.to is 1e+300; it must be at least 0 and at most 1e+09."),
    ],
)
def test_a_range_that_is_none_is_refused_in_one_sentence_and_starts_nothing(ends, sentence):
    panel = SweepPanel()
    panel.show(resolve(config(), PROBLEM).config, PROBLEM, build(config().sampler))
    panel.field.value = "localization"
    for field, text in zip(panel.ends, ends, strict=True):
        field.value = text
    panel._on_button(None)
    assert panel._handle is None and panel.button.label == "Sweep"
    assert sentence in panel.words.object and 'role="alert"' in panel.words.object
    panel.field.value = "friction"
    assert [field.value for field in panel.ends] == ["", ""], "ends are of one field"


def test_an_end_beyond_the_automatic_other_one_is_refused():
    with pytest.raises(ValueError, match=r"A sweep from 1e\+03 to 31.6 has no values; one of these ends is automatic"):
        SweepJob(config(), PROBLEM, "localization", ends=(1000.0, None))


def test_a_page_that_closes_ends_its_sweep_and_touches_nothing_on_the_screen():
    """The screen may be gone by then, and an error would leave other runs of the page alive."""
    panel, sampler = SweepPanel(), build(config().sampler)
    panel.show(resolve(config(), PROBLEM).config, PROBLEM, sampler)
    panel._on_button(None)
    handle, changes = panel._handle, []
    assert handle is not None and panel.button.label == "Stop"
    panel.button.param.watch(changes.append, "label")
    panel.close()
    assert handle.state.status is Status.CANCELLED and not changes
    panel._on_button(None)
    panel._on_button(None)
    assert panel.button.label == "Sweep" and panel._handle is None


def test_the_figures_come_with_the_first_sweep_and_not_with_a_refused_one():
    panel = SweepPanel()
    config = RunConfig(problem=PRESETS[0].problem, **PRESETS[0].settings)
    problem = get_problem(PRESETS[0].problem)
    resolved = resolve(config, problem)
    config, sampler = resolved.config, resolved.sampler
    panel.show(config, problem, sampler)
    assert not panel.drawn.visible
    panel.ends[0].value = "hello"
    with pytest.raises(ValueError, match="is not a number"):
        panel.begin()
    assert not panel.drawn.visible
    panel.ends[0].value = ""
    assert panel.begin() is not None
    assert panel.drawn.visible and all(part.visible for part in panel.drawn)


def test_numbers_of_an_axis_keep_apart_on_either_scale():
    figure = SweepFigure()
    for log in (False, True):
        _scale(figure.dead_plot, log)
        assert isinstance(figure.dead_plot.xaxis[0].major_label_policy, NoOverlap)
        assert isinstance(figure.dead_plot.xaxis[0], LogAxis) == log
