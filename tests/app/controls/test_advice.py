"""The button that follows a verdict's advice sets one control and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from app.controls.advice import ApplyButton
from app.controls.run_controls import Controls

START = {"sampler": {"name": "RMSPropSGLD", "stability": 1e-4, "step_size": 1e-8}, "gradient": "minibatch"}


@pytest.fixture
def controls() -> Controls:
    made = Controls()
    made.show(START)
    return made


@pytest.mark.parametrize(
    "change, words",
    [
        ({"step_size": 2.5e-9}, "Apply: step size ε 2.5e-9"),
        ({"stability": 0.01}, "Apply: stability a 0.01"),
        ({"gradient": "full"}, "Apply: gradient full data (exact)"),
        ({"dtype": "float64"}, "Apply: dtype float64"),
    ],
)
def test_one_click_sets_one_control(controls, change, words):
    told: list[dict[str, Any]] = []
    controls.listener = lambda: told.append(controls.values)
    before, apply = controls.values, ApplyButton(controls)
    apply.show(change)
    assert apply.button.visible and apply.button.label == words
    apply.press()
    (name, value), *_ = change.items()
    wanted = (
        {**before, "sampler": {**before["sampler"], name: value}}
        if name in before["sampler"]
        else {**before, name: value}
    )
    assert controls.values == wanted and told == [wanted] and not apply.button.visible
    apply.press()
    assert len(told) == 1, "it is done"


def test_another_sampler_brings_its_own_fields(controls):
    apply = ApplyButton(controls)
    apply.show({"sampler": "SGLD"})
    assert apply.button.label == "Apply: sampler SGLD"
    apply.press()
    assert controls.values["sampler"] == {"name": "SGLD", "step_size": None} and controls.gradient.value == "minibatch"


@pytest.mark.parametrize(
    "change",
    [{}, {"step_size": 1e-8}, {"step_size": 1e9}, {"friction": 1.0}, {"sampler": "NoSuch"}, {"gradient": "noisy"},
     {"steps": 10, "chains": 2}],
)  # fmt: skip
def test_what_no_click_can_do_has_no_button(controls, change):
    apply = ApplyButton(controls)
    apply.show({"stability": 0.01})
    apply.show(change)
    assert not apply.button.visible
    apply.press()
    assert controls.values["sampler"]["stability"] == 1e-4
