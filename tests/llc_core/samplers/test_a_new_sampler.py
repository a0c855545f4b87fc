"""A new sampler is one file: with nothing else touched, the engine, the contract tests and the command line know it."""

from __future__ import annotations

import os
import subprocess
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
    registry._REGISTRY.pop(NAME, None)
    sys.modules.pop(FILE, None)


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


def test_the_contract_of_every_sampler_is_checked_for_it(folder):
    """The contract tests ask for every registered sampler, so they must see one that a plugin registers before them."""
    tests = Path(__file__).with_name("test_samplers.py")
    names = " or ".join(CONTRACT)
    command = ["-m", "pytest", "-p", FILE, "-p", "no:cacheprovider", str(tests), "-k", f"{NAME} and ({names})"]
    root = Path(llc_core.__file__).parents[1]
    path = os.pathsep.join([str(folder), str(root), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, *command],
        cwd=root,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert "10 passed" in done.stdout, done.stdout[-500:]


def test_it_is_gone_afterwards():
    assert NAME not in samplers() and not hasattr(llc_core.samplers, NAME)
    with pytest.raises(ValueError, match=f"Unknown sampler '{NAME}'"):
        llc_core.samplers.build(NAME)
