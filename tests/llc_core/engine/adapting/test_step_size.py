"""The step size has one owner: what every part of a run sees of it is the same number."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from llc_core import DeepLinearNetwork, RunConfig
from llc_core.engine.adapting.step_size import StepSize
from llc_core.engine.run import Run
from llc_core.types import Hp


def column(*values: float) -> torch.Tensor:
    return torch.tensor(values).unsqueeze(1)


def test_a_step_size_by_hand_waits_for_the_coordinates_it_is_meant_for():
    given = column(0.5, 0.25)
    step_size = StepSize(Hp(step_size=given), automatic=False)
    step_size.wait_for_coordinates()
    assert step_size.automatic
    step_size.current = column(0.1, 0.1)
    assert step_size.coordinates_are_adapted() and not step_size.automatic
    assert torch.equal(step_size.current, given) and torch.equal(step_size.hp_at(3).step_size, given)
    assert not step_size.coordinates_are_adapted(), "none waits any more"


def test_a_decay_is_in_the_step_and_not_in_what_is_kept():
    step_size = StepSize(Hp(step_size=column(0.5)), automatic=False, decay=0.5)
    assert float(step_size.hp_at(3).step_size) == 0.25 and float(step_size.current) == 0.5
    assert np.array_equal(step_size.share(np.array([0, 3])), [1.0, 0.5])


@pytest.mark.parametrize("given", [None, 1e-6])
def test_an_automatic_step_size_is_not_a_number_until_the_curvature_is_seen(given):
    network = DeepLinearNetwork.random(widths=[3, 3, 3], layer_ranks=[2, 2], n=10_000, seed=1)
    run = Run(RunConfig(sampler={"name": "SGLD", "step_size": given}, steps=100), network)
    before = run._step_size.current[0, 0].item()
    assert math.isnan(before) if given is None else before == pytest.approx(given)
    shown = run.advance(20).step_size
    assert np.isfinite(shown).all() and np.array_equal(shown, run._step_size.current.squeeze(1).double().numpy())
    assert run.estimates()[0].diagnostics["step_size"] == shown[0]
