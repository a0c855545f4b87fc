"""What is there before a chain moves: the network of a configuration, the run resolved for it, and what λ̂ should be."""

from __future__ import annotations

from dataclasses import dataclass

from app.controls.run_controls import completed
from app.estimates.networks import get_problem, link_config
from app.pages.local_geometry.presets import Preset
from app.sharing.reading import PageConfig, from_side_bar
from llc_core import DeepLinearNetwork, RunConfig

__all__ = ["Scene", "link_config", "preset_config", "scene_of"]


def preset_config(preset: Preset) -> PageConfig:
    return from_side_bar(preset.problem, completed(preset.settings), get_problem)


@dataclass(frozen=True)
class Scene:
    """local, best: exact λ at w0, and the least one of the same function.  expected: what λ̂ should be at this n and nβ, on these data where that is known;
    None: it is not known before w0 has been polished."""

    problem: DeepLinearNetwork
    config: RunConfig
    local: float
    best: float
    expected: float | None

    @property
    def lines(self) -> dict[str, float | None]:
        """Values of the lines in the figure of the running estimate."""
        return {"local": self.local, "global": self.best, "expected": self.expected}


def scene_of(config: PageConfig) -> Scene:
    problem, complete = config.resolved.problem, config.complete
    assert isinstance(problem, DeepLinearNetwork) and complete.n_beta is not None
    local, best = problem.local_learning_coefficient, problem.learning_coefficient
    expected = None if complete.polish else problem.expected_llc_at(complete.n_beta, complete.localization or 0.0)
    return Scene(problem, complete, float(local), float(best), expected)
