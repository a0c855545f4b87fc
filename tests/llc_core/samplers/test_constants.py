"""What a sampler makes of its hyperparameters is kept from step to step, and made again as soon as one of them is replaced."""

from __future__ import annotations

import copy

import pytest
import torch
from cases import few

from llc_core import DeepLinearNetwork, RunConfig
from llc_core.engine.run import Run
from llc_core.samplers import samplers
from llc_core.types import Hp, HpInPlace


def root(hp: Hp) -> torch.Tensor:
    return hp.step_size.sqrt()


def test_constants_are_made_once_and_again_for_another_step_size():
    hp = Hp(step_size=torch.full((2, 1), 4.0), form="inside")
    first = hp.once(root)
    assert hp.once(root) is first and float(first[0]) == 2
    hp.step_size = torch.full((2, 1), 9.0)
    assert float(hp.once(root)[0]) == 3
    other = copy.copy(hp)
    other.step_size = torch.full((2, 1), 16.0)
    assert float(other.once(root)[0]) == 4 and float(hp.once(root)[0]) == 3
    assert set(vars(hp)) == {"step_size", "form"}, "who goes through the hyperparameters finds nothing else"


def test_those_that_are_changed_in_place_keep_nothing():
    hp = HpInPlace(step_size=torch.full((2, 1), 4.0))
    assert float(hp.once(root)[0]) == 2
    hp.step_size.fill_(9.0)
    assert float(hp.once(root)[0]) == 3


@pytest.mark.long
@pytest.mark.parametrize("more", [{}, {"step_decay": 0.3}, {"grid": {"step_size": [1e-6, 1e-5]}}], ids=str)
@pytest.mark.parametrize("name", few(sorted(samplers()), 3))
def test_a_run_has_the_numbers_of_one_that_makes_them_at_every_step(name, more, monkeypatch):
    """Step sizes that follow the curvature, that decay, and those of a grid."""
    problem, found = DeepLinearNetwork.random(widths=[4, 3, 4], n=1000, seed=1), []
    for kept in (True, False):
        if not kept:
            monkeypatch.setattr(Hp, "once", lambda hp, work: work(hp))
        sampler = {"name": name} if "step_decay" not in more else {"name": name, "step_size": 1e-6}
        try:
            run = Run(RunConfig(sampler=sampler, gradient="full", steps=120, chains=2, **more), problem)
        except ValueError as refusal:
            pytest.skip(str(refusal))
        run.advance(120)
        found.append(run.displacements.tobytes())
    assert found[0] == found[1]
