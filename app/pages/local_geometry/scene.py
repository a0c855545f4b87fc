"""What is there before a chain moves: the network of a configuration, the run resolved for it, and what λ̂ should be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app.controls.run_controls import completed
from app.pages.local_geometry.config import RUN, get_problem
from app.pages.local_geometry.presets import Preset
from app.runs.apart import whole
from app.sharing.reading import PageConfig, from_configuration, from_side_bar, refuse_unoffered
from llc_core import DeepLinearNetwork, RunConfig
from llc_core.theory.rank_checks import show


def preset_config(preset: Preset) -> PageConfig:
    return from_side_bar(preset.problem, completed(preset.settings), get_problem)


@whole
def link_config(values: Any) -> PageConfig:
    """The configuration in a link or a file. Raises ValueError, one sentence, for anything that cannot be run here."""
    config = RunConfig.from_dict(values)
    kind = config.problem.get("kind")
    if kind is None:
        raise ValueError('problem is missing; name a network such as {"kind": "dln", "widths": [4, 3, 4]}.')
    if kind != "dln":
        raise ValueError(f"problem is of kind {show(kind)}; this page runs deep linear networks, kind 'dln'.")
    refuse_unoffered(config)
    description = {name: value for name, value in config.problem.items() if value is not None}
    run = {name: getattr(config, name) for name in RUN}
    return from_configuration(description, config, get_problem(config.problem, run))


@dataclass(frozen=True)
class Scene:
    """local, best: exact λ at w0, and the least one of the same function.  expected: what λ̂ should be at this n and nβ, on these data where that is known."""

    problem: DeepLinearNetwork
    config: RunConfig
    local: float
    best: float
    expected: float

    @property
    def lines(self) -> dict[str, float | None]:
        """Values of the lines in the figure of the running estimate."""
        return {"local": self.local, "global": self.best, "expected": self.expected}


def scene_of(config: PageConfig) -> Scene:
    problem, complete = config.resolved.problem, config.complete
    assert isinstance(problem, DeepLinearNetwork) and complete.n_beta is not None
    local, best = problem.local_learning_coefficient, problem.learning_coefficient
    expected = problem.expected_llc_at(complete.n_beta, complete.localization or 0.0)
    return Scene(problem, complete, float(local), float(best), expected)
