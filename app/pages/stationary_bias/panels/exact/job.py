"""What the exact operator says about a comparison: the distribution at this step size, and how the bias depends on ε and α."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from json import dumps, loads
from typing import Any

import numpy as np

from app.pages.stationary_bias.config import SIDES, BiasConfig
from app.pages.stationary_bias.scene import Scene, get_scene
from app.runs.account import account
from llc_core import stationary
from llc_core.samplers.base import Sampler
from llc_core.samplers.registry import build

STEP_SIZES = tuple(float(f"{value:.3g}") for value in np.geomspace(1e-6, 1e-1, 16))
ALPHAS = (0.0, 0.5, 0.9, 0.99)
RESOLUTION = 0.6
"""Of the grid, relative to the usual one: good to a total variation of about 0.002, in a tenth of a second."""
ROOM = 150 * 2**20
"""Bytes of one distribution. Those of all visitors are made one after the other, and a page must not wait minutes for one to be left."""
KEPT = 2000


@dataclass(frozen=True)
class ExactBias:
    """The distribution that a chain really has at one step size, and how far it is from where it should be.

    side: of the sampler.  alpha: None for samplers without.  to_target, to_limit: total variation of the exact distribution at `step_size`.

    law: masses [bins + 2] of the exact distribution.  x, density: its curve.  trouble: a sentence where there is none.
    current: whether these are the settings of the side itself.
    """

    side: str
    alpha: float | None
    step_size: float
    to_target: float
    to_limit: float
    masses: np.ndarray
    x: np.ndarray
    density: np.ndarray
    trouble: str = ""
    current: bool = False


def tasks(config: BiasConfig, subject: str) -> list[Callable[[], ExactBias]]:
    """Both sides' own distributions first, then the curves of the side `subject`, its own α before others."""
    scene = get_scene(config)
    wanted = [partial(_point, config, scene, side, own_alpha(config, side), own_step(config, side)) for side in SIDES]
    own = own_alpha(config, subject)
    for alpha in curves(config, subject):
        steps = sorted({*STEP_SIZES, own_step(config, subject)}) if alpha == own else STEP_SIZES
        wanted += [partial(_point, config, scene, subject, alpha, step) for step in steps]
    return wanted


def curves(config: BiasConfig, side: str) -> list[float | None]:
    """The values of α that are drawn, the sampler's own one first."""
    own = own_alpha(config, side)
    return [None] if own is None else [own, *(alpha for alpha in ALPHAS if alpha != own)]


def own_alpha(config: BiasConfig, side: str) -> float | None:
    return config.sampler(side).to_dict().get("alpha")


def own_step(config: BiasConfig, side: str) -> float:
    return float(config.sampler(side).to_dict()["step_size"])


def _point(config: BiasConfig, scene: Scene, side: str, alpha: float | None, step: float) -> ExactBias:
    sampler = config.sampler(side)
    current = (alpha, step) == (own_alpha(config, side), own_step(config, side))
    changes: dict[str, Any] = {"step_size": step} if alpha is None else {"step_size": step, "alpha": alpha}
    return _solved(side, current, _text(sampler.replace(**changes)), dumps(config.target, sort_keys=True), scene)


def _text(sampler: Sampler) -> str:
    return dumps(sampler.to_dict(), sort_keys=True)


def _solved(side: str, current: bool, sampler_text: str, target_text: str, scene: Scene) -> ExactBias:
    try:
        x, density, masses, limit, trouble = _solve(sampler_text, target_text)
    except ValueError as full:  # not kept: there may be room the next time
        x = density = limit = np.zeros(0)
        masses, trouble = np.full(scene.bins.count + 2, np.nan), str(full)
    values = loads(sampler_text)
    return ExactBias(
        side,
        values.get("alpha"),
        values["step_size"],
        stationary.total_variation(masses, scene.masses) if not trouble else np.nan,
        stationary.total_variation(masses, limit) if not trouble else np.nan,
        masses,
        x,
        density,
        trouble,
        current,
    )


@lru_cache(maxsize=KEPT)
def _solve(sampler_text: str, target_text: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, str]:
    """Shared by all sessions: everyone begins with the same preset."""
    sampler, config = build(loads(sampler_text)), BiasConfig(target=loads(target_text))
    scene = get_scene(config)
    with account().room(ROOM, "The exact distribution"):
        return _law(sampler, scene)


def _law(sampler: Sampler, scene: Scene) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, str]:
    try:
        law = stationary.exact_law(sampler, scene.target, resolution=RESOLUTION, most_bytes=ROOM)
        limit = stationary.masses(sampler, scene.target, scene.bins)
    except ValueError as error:
        empty = np.zeros(0)
        return empty, empty, np.full(scene.bins.count + 2, np.nan), empty, str(error)
    if not law.converged:
        trouble = "The exact distribution did not converge there."
        return law.x, law.density, law.masses(scene.bins), limit, trouble
    inside = (law.x >= scene.bins.low) & (law.x <= scene.bins.high)
    return law.x[inside], law.density[inside], law.masses(scene.bins), limit, ""
