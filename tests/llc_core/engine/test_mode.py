"""Runs step in inference mode where nothing in a step can want autograd: with the same numbers, and nothing left behind."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from cases import few
from torch import Tensor

from llc_core import BayesianNetwork, DeepLinearFamily, DeepLinearNetwork, NetworkPotential, Planar, RunConfig, estimate
from llc_core.engine.run import Run
from llc_core.observables import base
from llc_core.observables.base import Average
from llc_core.potentials import Surface, landscape, planar_landscape
from llc_core.potentials.base import Potential
from llc_core.samplers import SGLD, samplers
from llc_core.samplers import registry as sampler_registry


def linear(**more) -> DeepLinearNetwork:
    return DeepLinearNetwork.random(widths=[6, 5, 6], n=2000, seed=4, **more)


def module() -> NetworkPotential:
    x = torch.linspace(-1, 1, 30)[:, None]
    return NetworkPotential(torch.nn.Linear(1, 1), "mse", (x, x))


OWN = {
    "linear": linear,
    "virtual data": lambda: linear(virtual=True),
    "wide": lambda: DeepLinearNetwork.random(widths=[60, 50, 60], n=2000, seed=4),
    "family": lambda: DeepLinearFamily([linear(), DeepLinearNetwork.random(widths=[6, 5, 6], n=2000, seed=5)]),
    "plane": lambda: planar_landscape("normal_crossing"),
    "surface": lambda: Surface("modes25"),
    "line": lambda: landscape({"kind": "landscape", "points": [[-2, 0.01], [-1, 1], [0, 2], [2, 0.01]]}),
    "Bayesian network": lambda: BayesianNetwork(widths=[1, 4, 1]),
}
CASES = [
    *((problem, name, problem_gradient) for name in sorted(samplers()) for problem, problem_gradient in [("linear", "full")]),
    *((problem, "SGLD", "full") for problem in OWN),
    *((p, "RMSPropSGLD", g) for p in ("linear", "virtual data", "wide", "family") for g in ("control_variate", "minibatch")),
]  # fmt: skip


def begun(problem: Potential, sampler: str, gradient: str) -> Run:
    return Run(RunConfig(sampler={"name": sampler}, gradient=gradient, steps=60, chains=2), problem)


def tensors_of(thing: object, seen: set[int]) -> Iterator[Tensor]:
    """Every tensor that an object holds on to."""
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, Tensor):
        yield thing
    elif isinstance(thing, dict):
        for value in thing.values():
            yield from tensors_of(value, seen)
    elif isinstance(thing, list | tuple):
        for value in thing:
            yield from tensors_of(value, seen)
    elif type(thing).__module__.startswith("llc_core."):
        yield from tensors_of(dict(getattr(thing, "__dict__", {})), seen)


@pytest.mark.long
@pytest.mark.parametrize("problem, sampler, gradient", few(CASES[::-1], 16, unpack=True))
def test_the_numbers_are_those_outside_and_the_problem_keeps_nothing_of_it(problem, sampler, gradient):
    found = []
    for mode in (torch.inference_mode, torch.no_grad):
        held = OWN[problem]()
        try:
            run = begun(held, sampler, gradient)
        except ValueError as refusal:
            pytest.skip(str(refusal))
        assert run._mode is torch.inference_mode
        run._mode = mode
        run.advance(30)
        run.dissect()
        run.advance(60)
        found.append((run.displacements.tobytes(), repr([(e.llc, e.llc_se, e.r_hat) for e in run.estimates()])))
        assert not any(value.is_inference() for value in tensors_of(held, set()))
        assert not any(value.is_inference() for value in run.state.values())
    assert found[0] == found[1]


def test_what_a_problem_would_keep_of_it_is_found():
    held = linear()
    with torch.inference_mode():
        held._on["planted"] = torch.zeros(1)  # type: ignore[index, assignment]
    assert any(value.is_inference() for value in tensors_of(held, set()))


def test_the_state_can_be_differentiated_and_changed():
    run = begun(linear(), "SGLD", "full")
    run.advance(60)
    delta = run.state["delta"]
    (slope,) = torch.autograd.grad(delta.requires_grad_().square().sum(), delta)
    torch.testing.assert_close(slope, 2 * delta)
    delta.detach().zero_()
    assert run.displacements.any(), "the run's own numbers are left"


def test_several_threads_have_the_numbers_of_one():
    found = []
    for threads in (1, 3):
        before = torch.get_num_threads()
        torch.set_num_threads(threads)
        try:
            run = Run(
                RunConfig(sampler={"name": "RMSPropSGLD"}, gradient="minibatch", steps=20, chains=4), OWN["wide"]()
            )
            run.advance(20)
        finally:
            torch.set_num_threads(before)
        found.append(run.displacements)
    np.testing.assert_array_equal(*found)


@dataclass(frozen=True)
class ByAutograd(SGLD):
    """A sampler that takes the slope of its own penalty by autograd."""

    def update(self, state, energy, noise, hp):
        with torch.enable_grad():
            at = state["delta"].detach().requires_grad_()
            (slope,) = torch.autograd.grad(at.pow(4).sum(), at)
        new = super().update(state, energy, noise, hp)
        return {**new, "delta": new["delta"] - hp.step_size * slope}


def test_what_a_user_wrote_may_call_autograd(monkeypatch):
    """Samplers, observables and second losses of other modules, and networks, step outside of inference mode."""

    @dataclass
    class Fourth(Average):
        """The slope of the fourth power, by autograd."""

        every: int = 5

        def measure(self, seen):
            with torch.enable_grad():
                at = seen.delta.detach().requires_grad_()
                return torch.autograd.grad(at.pow(4).sum(), at)[0].sum(dim=1)

    monkeypatch.setitem(base._FAMILY, "Fourth", Fourth)
    found = estimate(linear(), observables=["Fourth"], gradient="full", steps=80, chains=2, progress=False)
    assert np.isfinite(found.observables["Fourth"]["mean"]).all()
    monkeypatch.setitem(sampler_registry._FAMILY, "ByAutograd", ByAutograd)
    own = ByAutograd(step_size=1e-6)
    assert np.isfinite(estimate(linear(), own, gradient="full", steps=80, chains=2, progress=False).llc)
    line = planar_landscape("normal_crossing")
    theirs = Planar(dataclasses.replace(line.model, with_slopes=lambda delta: line.model.with_slopes(delta)))
    assert (
        begun(line, "SGLD", "full")._mode is torch.inference_mode
        and begun(theirs, "SGLD", "full")._mode is torch.no_grad
    )
    assert begun(module(), "SGLD", "full")._mode is torch.no_grad
    x = torch.linspace(-1, 1, 30)[:, None]
    second = NetworkPotential(torch.nn.Linear(1, 1), "mse", (x, x))
    watched = Run(RunConfig(gradient="full", steps=60, chains=2), line, second)
    assert line.dim == second.dim and watched._mode is torch.no_grad


@pytest.mark.parametrize("sampler", ["Gibbs", "SGLD"])
def test_exact_draws_take_one_thread(sampler, monkeypatch):
    """Each of their operations is too short to be shared: with two threads on busy cores they took 25 times as long."""
    run = begun(linear(), sampler, "full")
    during, step, before = [], run._stepper.step, torch.get_num_threads()

    def watched(*given: object, **more: object) -> object:
        during.append(torch.get_num_threads())
        return step(*given, **more)

    monkeypatch.setattr(run._stepper, "step", watched)
    torch.set_num_threads(2)
    try:
        run.advance(3)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    one = sampler == "Gibbs" or run.problem.spreads_chains
    assert during == [1 if one else 2] * 3
