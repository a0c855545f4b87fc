"""A new sampler is one file: with nothing else touched, the engine, the contract tests and the command line know it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import llc_core
from llc_core import RunConfig, estimate, planar_landscape
from llc_core.cli.commands import main
from llc_core.samplers import registry, samplers

FILE = "toy_sampler"
NAME = "ToyLangevin"
SOURCE = '''
"""Langevin dynamics with a friction of its own, for a test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from llc_core.fields import hyper
from llc_core.samplers.base import OverdampedSampler, step_size_field
from llc_core.samplers.registry import register


@register
@dataclass(frozen=True)
class ToyLangevin(OverdampedSampler):
    """w ← w − (ε/2)·k·∇U + √(εk)·N(0, 1): SGLD on a time scale k.

    Law: that of SGLD at the step size εk.  Source: this test.
    """

    step_size: float | None = step_size_field()
    speed: float = hyper(1.0, 0.1, 10.0, symbol="k", help="How fast time goes.")

    label: ClassVar[str] = "Toy"
    formula: ClassVar[str] = r"w \\leftarrow w-\\tfrac{k\\epsilon}{2}\\,\\nabla U+\\sqrt{k\\epsilon}\\,\\xi"
    about: ClassVar[str] = "Langevin dynamics on a time scale of its own."
    source: ClassVar[str] = "a test"
    safety: ClassVar[float] = 0.02

    def stable_step(self, curvature, hp):
        return 4 / (hp.speed * curvature)

    def update(self, state, energy, noise, hp):
        step = hp.speed * hp.step_size
        moved = torch.addcmul(state["delta"], step, energy.force, value=-0.5)
        return {"delta": moved.addcmul_(step.sqrt(), noise[0])}
'''
CONTRACT = (
    "test_builds_by_name",
    "test_says_what_it_is",
    "test_fields_are_described",
    "test_one_step_keeps_shapes",
    "test_float32_agrees",
    "test_chains_with_their_own_hyperparameters",
    "test_metric_is_what_multiplies",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / f"{FILE}.py").write_text(SOURCE)
    return tmp_path


@pytest.fixture
def registered(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Imports the file, and forgets the sampler and its module afterwards."""
    monkeypatch.syspath_prepend(folder)
    import_module(FILE)
    yield
    registry._FAMILY.pop(NAME, None)
    sys.modules.pop(FILE, None)


@pytest.mark.slow
@pytest.mark.long
def test_the_engine_runs_it_and_a_configuration_carries_it(registered):
    problem = planar_landscape("quadratic")
    settings = {"chains": 16, "steps": 3000, "progress": False}
    found = estimate(problem, NAME, **settings)
    assert found.converged and abs(found.llc - found.expected) < 5 * found.llc_se
    assert found.diagnostics["stability_limit"] > 0, "its default step size comes from its own limit"
    twice = estimate(problem, {"name": NAME, "speed": 2.0, "step_size": 1e-4}, **settings)
    plain = estimate(problem, {"name": "SGLD", "step_size": 2e-4}, **settings)
    assert twice.llc == pytest.approx(plain.llc, rel=1e-4), "speed 2 is SGLD at twice the step size"
    config = RunConfig(problem=problem.to_dict(), sampler={"name": NAME, "speed": 2.0}, steps=50)
    again = RunConfig.from_json(config.to_json())
    assert again == config and llc_core.samplers.build(again.sampler).speed == 2.0


def test_the_command_line_lists_it_and_takes_it(registered, capsys):
    with pytest.raises(SystemExit) as end:
        main(["estimate", "--help"])
    assert end.value.code == 0 and NAME in capsys.readouterr().out
    assert main(["estimate", "--sampler", NAME, "--steps", "40", "--widths", "3", "2"]) == 0


class Outcomes:
    """A plugin that keeps what the calls of tests ended in."""

    def __init__(self) -> None:
        self.reports: list[pytest.TestReport] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or not report.passed:
            self.reports.append(report)


def test_the_contract_of_every_sampler_is_checked_for_it(registered):
    """The contract tests ask for every registered sampler, so they must see one that was registered before their file is read.

    pytest runs within this process, where the libraries are there: another one took six processor seconds to import them.
    """
    tests = Path(__file__).with_name("test_samplers.py")
    names, seen = " or ".join(CONTRACT), Outcomes()
    modules = dict(sys.modules)
    for name in [name for name in modules if name.split(".")[-1] == tests.stem]:
        del sys.modules[name]  # it is read anew
    try:
        code = pytest.main(
            ["-p", "no:xdist", "-p", "no:playwright", str(tests), "-k", f"{NAME} and ({names})"], plugins=[seen]
        )
    finally:
        for name in [name for name in sys.modules if name.split(".")[-1] == tests.stem]:
            del sys.modules[name]
        sys.modules.update({name: module for name, module in modules.items() if name.split(".")[-1] == tests.stem})
    assert code == pytest.ExitCode.OK, [report.longreprtext for report in seen.reports if not report.passed]
    assert len(seen.reports) == 10 and all(report.passed and NAME in report.nodeid for report in seen.reports)


def test_it_is_gone_afterwards():
    assert NAME not in samplers() and not hasattr(llc_core.samplers, NAME)
    with pytest.raises(ValueError, match=f"Unknown sampler '{NAME}'"):
        llc_core.samplers.build(NAME)
