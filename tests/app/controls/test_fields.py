"""Widgets made from hyperparameter descriptions: every registered sampler gets them, and they take only what fits."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.controls.fields import NumberField, make_field
from app.controls.labels import plain_symbol
from app.controls.run_controls import Controls
from app.controls.run_fields import DEFAULTS
from app.controls.scales import slider_range
from app.style.numbers import number_text
from llc_core import DeepLinearNetwork, RunConfig
from llc_core.engine.resolve import resolve
from llc_core.fields import Hyper, hyper_fields
from llc_core.samplers.registry import samplers


def typed(field: NumberField, text: str) -> None:
    field.widget._handle_msg({"text": text})


@given(st.floats(1e-14, 1e12))
def test_numbers_can_be_read_back(value):
    assert float(number_text(value).replace(",", "")) == pytest.approx(value, rel=6e-3)


def test_symbols_become_plain_text():
    assert plain_symbol(r"\epsilon") == "ε"
    assert plain_symbol(r"\beta_1") == "β₁"
    assert plain_symbol("f") == "f"


@pytest.mark.parametrize("name", sorted(samplers(conditionals=True)))
def test_every_sampler_gets_a_widget_for_each_field_and_its_defaults_run(name):
    controls = Controls(conditionals=True)
    controls.show({"sampler": {"name": name}})
    values = controls.values
    fields = hyper_fields(samplers(conditionals=True)[name])
    assert set(values["sampler"]) == {"name", *fields}
    problem = DeepLinearNetwork.random(widths=[3, 2], layer_ranks=[2])
    resolved = resolve(RunConfig(problem=problem.to_dict(), **values), problem)
    sampler = resolved.sampler
    assert sampler.name == name and sampler.formula and sampler.about and sampler.label


def test_entry_takes_the_full_range_and_refuses_the_rest_in_place():
    about = Hyper(0.0, 1.0, open_low=True, log=True, symbol=r"\alpha")
    field = make_field("SGHMC", "friction", about, 0.1)
    changes = []
    field.listener = lambda: changes.append(field.value)
    typed(field, "0.5")
    assert field.value == 0.5 and changes == [0.5] and not field.error
    for bad in ("2", "-1", "0", "nan", "inf", "abc", "", "1e999"):
        typed(field, bad)
        assert field.error and field.value == 0.5
    typed(field, "1e-9")
    assert field.value == 1e-9 and not field.error and changes == [0.5, 1e-9]
    typed(field, "1,5e-9")  # a decimal comma, where ten times as much would run without a word
    assert "1,5e-9" in field.error and field.value == 1e-9


def test_slider_and_entry_agree():
    field = NumberField("steps", Hyper(100, 10**7, log=True), 20_000, integer=True, span=(1_000, 10**6))
    assert field.widget.text == "20,000" and field.widget.position == pytest.approx(math.log10(20_000))
    field.widget._handle_msg({"position": 4.0})
    assert field.value == 10_000 and field.widget.text == "10,000"
    typed(field, "5,000,000")
    assert field.value == 5_000_000 and field.widget.position == field.widget.end


def test_automatic_shows_the_value_in_use_and_starts_from_it():
    field = make_field("SGLD", "step_size", Hyper(1e-14, 10, log=True, auto=True), None)
    assert field.value is None and field.widget.automatic
    field.show_live(3.2e-8)
    assert field.widget.text == "3.2e-8" and field.value is None
    assert field.widget.start < math.log10(3.2e-8) < field.widget.end
    field.widget._handle_msg({"automatic": False})
    assert field.value == 3.2e-8
    field.show_live(1e-9)
    assert field.value == 3.2e-8, "a chosen value is not overwritten"
    field.widget._handle_msg({"automatic": True})
    assert field.value is None


def test_showing_a_preset_reports_no_change():
    controls = Controls()
    changes = []
    controls.listener = lambda: changes.append(1)
    controls.show({"sampler": {"name": "SGLD", "step_size": 1e-7}, "chains": 3})
    assert controls.values["sampler"]["step_size"] == 1e-7 and controls.values["chains"] == 3
    controls.show({})
    assert {k: v for k, v in controls.values.items() if k != "sampler"} == {
        k: v for k, v in DEFAULTS.items() if k != "sampler"
    }
    assert not changes


@pytest.mark.parametrize("message", [None, 3, {}, {"position": "x"}, {"text": 4}, {"other": 1}, {"automatic": "yes"}])
def test_strange_messages_from_a_browser_are_ignored(message):
    field = NumberField("chains", Hyper(1, 32), 10, integer=True)
    field.widget._handle_msg(message)
    assert field.value == 10


@given(st.floats(1e-12, 1e6))
def test_logarithmic_sliders_reach_three_decades_to_each_side(reference):
    low, high = slider_range(Hyper(1e-14, 1e9, log=True), reference)
    assert low <= math.log10(reference) <= high and low < high


def test_precision_is_the_engine_s_choice_until_somebody_chooses():
    controls = Controls()
    problem = DeepLinearNetwork.random(widths=[3, 2], layer_ranks=[2])
    changes = []
    controls.listener = lambda: changes.append(controls.values["dtype"])

    def used(sampler):
        controls.show({"sampler": {"name": sampler}, "dtype": controls.values["dtype"]})
        return resolve(RunConfig(problem=problem.to_dict(), **controls.values), problem).config.dtype

    assert controls.values["dtype"] is None and used("SGLD") == "float32" and used("HMC") == "float64"
    controls.fields["dtype"].widget.value = "float64"
    assert changes == ["float64"] and used("SGLD") == "float64"
    controls.show({})
    assert controls.values["dtype"] is None and len(changes) == 1


@pytest.mark.parametrize("name", sorted(samplers(conditionals=True)))
def test_fields_that_stay_are_as_new_ones(name):
    """Another configuration of the same sampler keeps its widgets: nothing of the one before may be left on them."""
    kept, made = Controls(conditionals=True), Controls(conditionals=True)
    kept.show({"sampler": {"name": name}})
    own = dict(kept._own)
    for field in own.values():
        if isinstance(field, NumberField):
            field.set(field.about.low + 1 if math.isfinite(field.about.low) else 3.0)
            field.show_live(7e-7)
            field.show_limit(0.5)
            field.widget.message = "wrong"
    kept.show({"sampler": {"name": name}})
    made.show({"sampler": {"name": name}})
    assert kept.values == made.values
    for key, field in kept._own.items():
        assert field is own[key], "the widget is another one"
        shown, new = (
            {n: v for n, v in each.widget.param.values().items() if n not in ("name", "loading")}
            for each in (field, made._own[key])
        )
        assert shown == new


def test_a_stable_step_that_no_field_takes_is_not_shown():
    """It was measured where chains have overflowed: "stable below 4e30" says nothing."""
    controls = Controls()
    widget = controls.field("step_size").widget
    controls.show_limit(0.5)
    assert widget.limit == pytest.approx(math.log10(0.5))
    controls.show_limit(math.nan)
    assert widget.limit == pytest.approx(math.log10(0.5)), "what was known stays"
    controls.show_limit(4e30)
    assert widget.limit is None
