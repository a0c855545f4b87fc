"""An observable is one file: it is asked for by its name, in every way to step, and its numbers are those of a sum by hand."""

from __future__ import annotations

import importlib.util
import inspect
import json
import math
import sys
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from cases import few
from targets import Quadratic
from torch import Tensor

from llc_core import NetworkPotential, Run, RunConfig, estimate, landscape
from llc_core.observables import Average, Group, Look, Observable, RunShape, base, build, observables, register
from llc_core.observables.term_sizes import TermSizes
from llc_core.observables.visits import Visits

TOY = '''
"""How far the chains are from w0."""

from dataclasses import dataclass

from torch import Tensor

from llc_core.observables import Average, Look, register


@register
@dataclass
class SquareDistance(Average):
    """The square of the distance from w0."""

    every: int = 3

    def measure(self, seen: Look) -> Tensor:
        return seen.delta.square().sum(dim=1)
'''


@dataclass
class Gradients(Average):
    """The gradient of every step, which chains that are stepped one by one show one by one."""

    needs_energy = True

    every: int = 4

    def measure(self, seen: Look) -> Tensor:
        assert seen.energy.loss_grad.shape == seen.delta.shape and seen.losses.shape == seen.weights.shape
        return seen.energy.loss_grad


@dataclass
class SampleLosses(Average):
    """The mean loss over all samples."""

    needs_samples = True

    def measure(self, seen: Look) -> Tensor:
        return torch.cat([losses for _, losses in seen.sample_losses()], dim=1).mean(dim=1)


@pytest.fixture
def known():
    """What a test registers is forgotten after it."""
    before = dict(observables())
    yield
    base._FAMILY.clear()
    base._FAMILY.update(before)


def network() -> NetworkPotential:
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1)).double()
    rows = torch.randn(40, 2, dtype=torch.float64), torch.randn(40, 1, dtype=torch.float64)
    return NetworkPotential(module, "mse", rows, batch_size=10)


def watched(problem, **options) -> tuple[Run, np.ndarray, np.ndarray]:
    """A run of 60 steps with 20 of burn-in that is done step by step: it, the places before its steps, and their weights."""
    config = RunConfig(
        sampler={"name": "SGLD", "step_size": 1e-3}, gradient="full", chains=5, steps=60, burn_in=20, dtype="float64"
    )
    run, places = Run(config.replace(**options), problem), []
    for _ in range(60):
        places.append(run.displacements)
        run.advance(1)
    return run, np.array(places)[20:], (np.arange(20, 60) + 1.0) ** -options.get("step_decay", 0.0)


@pytest.mark.parametrize("by_chain", [False, True])
@pytest.mark.parametrize("decay", few([0.4, 0.0], 1))
def test_a_new_file_is_all_that_a_new_observable_takes(known, monkeypatch, tmp_path, by_chain, decay):
    file = tmp_path / "square_distance.py"
    file.write_text(TOY)
    spec = importlib.util.spec_from_file_location("square_distance", file)
    assert spec is not None and spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    monkeypatch.setattr(NetworkPotential, "by_chain", by_chain)
    for every in (3, 7):
        asked = ["SquareDistance"] if every == 3 else [{"name": "SquareDistance", "every": every}]
        run, places, weights = watched(network(), observables=asked, step_decay=decay)
        found = run.estimates()[0].observables["SquareDistance"]
        squares, weights = np.square(places).sum(axis=2)[::every], weights[::every]
        by_hand = np.average(squares, axis=0, weights=weights)
        assert found["per_chain"] == pytest.approx(by_hand, rel=1e-12)
        assert found["mean"] == pytest.approx(by_hand.mean()) and found["se"] == pytest.approx(
            by_hand.std(ddof=1) / math.sqrt(5)
        )
        later = np.average(squares[1:], axis=0, weights=weights[1:])
        assert np.abs(later / by_hand - 1).min() > 1e-3, "one look more or less would be seen"


@pytest.mark.parametrize("by_chain", [False, True])
def test_the_energy_of_every_chain_is_shown_once(known, monkeypatch, by_chain):
    register(Gradients)
    register(SampleLosses)
    monkeypatch.setattr(NetworkPotential, "by_chain", by_chain)
    problem = network()
    run, places, _ = watched(problem, observables=["Gradients", {"name": "SampleLosses", "every": 1}])
    found = run.estimates()[0].observables
    by_hand = np.mean([problem.excess_loss_and_grad(torch.as_tensor(d))[1].numpy() for d in places[::4]], axis=0)
    assert found["Gradients"]["per_chain"].shape == by_hand.shape == (5, problem.dim)
    assert found["Gradients"]["per_chain"] == pytest.approx(by_hand, rel=1e-9)
    assert found["Gradients"]["mean"] == pytest.approx(by_hand.mean(axis=0), rel=1e-9)
    losses = [problem.per_sample_loss(torch.as_tensor(d), 0, 40).mean(dim=1).numpy() for d in places]
    assert found["SampleLosses"]["per_chain"] == pytest.approx(np.mean(losses, axis=0), rel=1e-9)


@pytest.mark.parametrize("kind", ["plain", "graphs"])
def test_steps_on_fixed_memory_show_what_the_usual_ones_do(known, monkeypatch, kind):
    register(Gradients)
    monkeypatch.setenv("LLC_LAB_GPU", kind)
    problem = Quadratic([3.0, 0.5])
    run, places, _ = watched(problem, n_beta=1.0, observables=["Gradients"])
    by_hand = (problem.curvatures.numpy() * places[::4]).mean(axis=0)
    assert run.estimates()[0].observables["Gradients"]["per_chain"] == pytest.approx(by_hand)


def test_a_run_that_goes_on_starts_its_observables_afresh(known):
    register(Gradients)
    problem = Quadratic([3.0, 0.5])
    config = RunConfig(
        sampler={"name": "SGLD", "step_size": 0.1}, n_beta=1.0, chains=3, steps=80, observables=["Gradients"]
    )
    going = Run(config, problem)
    going.advance(80)
    before = going.estimates()[0].observables["Gradients"]["per_chain"]
    going.go_on()
    going.advance(80)
    begun = Run(RunConfig.from_json(going.config.to_json()), problem)
    begun.advance(160)
    mine, theirs = (r.estimates()[0].observables["Gradients"]["per_chain"] for r in (going, begun))
    assert np.array_equal(mine, theirs) and not np.isclose(mine, before).any()


def test_dead_chains_are_left_out(known):
    register(Gradients)
    run, places, _ = watched(Quadratic([3.0, 0.5]), n_beta=1.0, observables=["Gradients"])
    group = Group(slice(None), np.array([True, False, True, True, True]), 1.0)
    found = run._record.observers.read(group)["Gradients"]
    by_hand = (np.array([3.0, 0.5]) * places[::4]).mean(axis=0)[[0, 2, 3, 4]]
    assert np.isnan(found["per_chain"][1]).all() and found["mean"] == pytest.approx(by_hand.mean(axis=0))
    nobody = run._record.observers.read(Group(slice(None), np.zeros(5, dtype=bool), 1.0))["Gradients"]
    assert np.isnan(nobody["mean"]).all() and np.isnan(nobody["se"]).all()


def test_what_the_engine_has_can_be_asked_for_too():
    """The same numbers as by the fields of the configuration, and the histogram of each setting."""
    problem = landscape("quartic")
    bins = {"low": -2.0, "high": 2.0, "count": 20}
    grid = {"n_beta": [1.0, 3.0]}
    settings = {"sampler": {"name": "SGLD", "step_size": 0.1}, "chains": 50, "steps": 300, "grid": grid}
    run = Run(RunConfig(**settings, histogram=bins, observables=[{"name": "Visits", **bins}, "TermSizes"]), problem)
    run.advance(300)
    counts = run.advance(0).observables["histogram"]
    for setting, found in enumerate(run.estimates()):
        assert np.array_equal(found.observables["Visits"]["counts"], counts[setting])
        assert len(found.observables["Visits"]["edges"]) == 21
        for name, size in found.observables["TermSizes"].items():
            assert size == found.diagnostics[name]
    assert not np.array_equal(*counts)
    net = network()
    both = estimate(
        net,
        chains=3,
        steps=60,
        functional_variance=10,
        observables=["FunctionalVariance", "SecondLoss"],
        observable=net,
    )
    assert both.observables["FunctionalVariance"]["mean"] == both.singular_fluctuation
    assert np.array_equal(both.observables["SecondLoss"]["parts"], both.observed_per_chain)


def test_observables_travel_with_a_configuration_and_an_estimate(known):
    register(Gradients)
    asked = ["TermSizes", {"name": "Gradients", "every": 2}]
    config = RunConfig(observables=asked)
    assert config.observables == ({"name": "TermSizes"}, {"name": "Gradients", "every": 2})
    assert RunConfig.from_json(config.to_json()) == config
    before = {name: value for name, value in RunConfig().to_dict().items() if name != "observables"}
    assert RunConfig.from_dict(json.loads(json.dumps(before))).observables == (), "configurations from before"
    problem = Quadratic([3.0, 0.5])
    found = estimate(problem, chains=3, steps=60, observables=[TermSizes(every=5), Gradients()])
    assert found.config.observables == ({"name": "TermSizes", "every": 5}, {"name": "Gradients", "every": 4})
    again = Run(found.config, problem)
    again.advance(60)
    mine, theirs = (e.observables["Gradients"]["mean"] for e in (found, again.estimates()[0]))
    assert np.array_equal(mine, theirs)
    data = found.to_dataset()
    assert data["Gradients_per_chain"].dims[0] == "chain" and data["Gradients_per_chain"].shape == (3, 2)
    assert float(data["TermSizes_distance"]) == found.observables["TermSizes"]["distance"]


@pytest.mark.parametrize(
    "given, words",
    [
        ("TermSizes", ["must be a list", "str"]),
        ([3], ["an entry of observables", "int"]),
        ([{"every": 3}], ["needs a name"]),
        ([{"name": "TermSizes", "every": math.inf}], ["an entry of observables", "finite"]),
        (["Nothing"], ["'Nothing'", "TermSizes", "Visits"]),
        (["TermSizes", {"name": "TermSizes", "every": 2}], ["'TermSizes' twice"]),
        ([{"name": "TermSizes", "often": 2}], ["'often'", "every"]),
        ([{"name": "TermSizes", "every": 0}], ["TermSizes.every", "at least 1"]),
        (["Visits"], ["Visits", "one parameter", "2"]),
        ([{"name": "Visits", "low": 3, "high": 1}], ["low is 3", "below high"]),
        (["FunctionalVariance"], ["FunctionalVariance", "single samples", "quadratic"]),
        (["SecondLoss"], ["SecondLoss", "second problem"]),
    ],
)
def test_what_cannot_be_watched_is_refused_in_one_sentence(given, words):
    with pytest.raises(ValueError) as error:
        estimate(Quadratic([3.0, 0.5]), steps=10, observables=given)
    assert all(word in str(error.value) for word in words), error.value
    assert str(error.value).count(". ") == 0


def test_every_registered_observable_keeps_the_contract():
    for name, cls in observables().items():
        one = cls()
        assert build(name).to_dict() == one.to_dict() and json.dumps(one.to_dict()), name
        assert cls.__doc__ and cls.__module__.startswith("llc_core.observables."), name
        text = inspect.getsource(sys.modules[cls.__module__])
        assert text.count("@register\n") == 1, "one observable a file"


def test_a_class_that_is_no_dataclass_is_refused(known):
    class Plain(Average):
        every: int = 3

    with pytest.raises(TypeError, match="@dataclass below @register"):
        register(Plain)
    assert "Plain" not in observables()


def test_what_was_not_asked_for_is_not_shown():
    class Curious(Observable):
        def begin(self, setup: RunShape) -> None:
            pass

    look = Look(0, 1.0, slice(None), torch.zeros(2, 1), torch.ones(2), Quadratic([1.0]))
    for name in ("energy", "losses", "living"):
        with pytest.raises(AssertionError, match=r"needs_(energy|living) = True"):
            getattr(look, name)
    assert not Curious().in_step and Visits().in_step
