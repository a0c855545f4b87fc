"""What the page runs: a polygon by its description, the run resolved for it, and its exact answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.controls.run_controls import completed
from app.pages.polygons.presets import PolygonPreset
from app.sharing.reading import PageConfig, from_configuration, from_side_bar, refuse_unoffered
from llc_core import RunConfig
from llc_core.fields import short
from llc_core.potentials import Superposition, superposition
from llc_core.potentials.polygons import LEFT_OUT, MOST


def get_problem(description: Mapping[str, Any], settings: Mapping[str, Any] | None = None) -> Superposition:
    """The polygon that a JSON description stands for; ValueError says what is wrong with it."""
    return superposition(description)


def preset_config(preset: PolygonPreset) -> PageConfig:
    return from_side_bar(preset.problem, completed(preset.settings), get_problem)


def link_config(values: Any) -> PageConfig:
    """The configuration in a link or a file. Raises ValueError, one sentence, for anything that cannot be run here."""
    config = RunConfig.from_dict(values)
    kind = config.problem.get("kind")
    if kind != Superposition.kind:
        raise ValueError(f"problem is of kind {short(kind)}; this page runs polygons, kind '{Superposition.kind}'.")
    refuse_unoffered(config)
    problem = get_problem(config.problem)
    return from_configuration(problem.to_dict(), config.replace(problem=problem.to_dict()), problem)


def expected_llc(config: PageConfig) -> float | None:
    """What λ̂ should read at the nβ and γ of a run; None where no formula says so."""
    complete = config.complete
    assert complete.n_beta is not None
    return config.resolved.problem.expected_llc_at(complete.n_beta, complete.localization or 0.0)


@dataclass(frozen=True)
class Solution:
    """A polygon that these features can form. loss: over all data.  coefficient: its exact λ."""

    name: str
    loss: float
    coefficient: float


def solutions(features: int) -> list[Solution]:
    """Every polygon of so many features, the worst first."""
    found = []
    for sides in range(5, min(MOST, features) + 1):
        for left_out in LEFT_OUT if sides < features else LEFT_OUT[:1]:
            problem = superposition(sides, features=features, left_out=left_out)
            found.append(Solution(named(problem), problem.baseline_loss, float(problem.local_learning_coefficient)))
    return sorted(found, key=lambda each: -each.loss)


NAMES = {5: "Pentagon", 6: "Hexagon", 7: "Heptagon", 8: "Octagon", 9: "Nonagon"}


def named(problem: Superposition) -> str:
    mean = problem.left_out == "mean" and problem.sides < problem.features
    return NAMES[problem.sides] + " and a mean" * mean
