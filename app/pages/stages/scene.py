"""What is there before a chain moves: the flow, its rests, and the exact λ of each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from app.pages.stages.config import REAL, StagesConfig
from app.runs.account import account
from app.runs.apart import only_unhurried
from app.runs.kept import Kept
from llc_core import DeepLinearNetwork, Stage, Stages, stages

BYTES = 50e6
"""Of the flow: up to 4,000 times of 2,000 weights, with the solver's own."""
N_BETA_REAL = 100.0
"""Against the real teacher: at the usual nβ the chains would fall out of the picture before they are seen."""

STILL = 0.1
"""A value this near to 0 or to the teacher's, as a share of it, is not on its way."""


def get_scene(config: StagesConfig) -> Stages:
    """On the event loop it may be `TakesLong`, see `app.runs.apart`."""
    key = f"{config.widths} {config.singular_values} {config.seed}"
    only_unhurried(key not in _flows)
    return _flows.get(key, partial(_flow, config))


_flows: Kept[Stages] = Kept(16)


def _flow(config: StagesConfig) -> Stages:
    with account().room(BYTES, "This network"):
        return stages(config.widths, config.singular_values, seed=config.seed)


@dataclass(frozen=True)
class Moment:
    """The network at a time of the flow. values: singular values of its matrix, [K].  product: the matrix, [H_M, H_0].

    learned: how many values are above half of the teacher's.  place: of the rest with as many learned.  moving: the value that is being learned, counted from 0; None at rest.
    """

    time: float
    loss: float
    values: np.ndarray
    product: np.ndarray
    learned: int
    place: int
    moving: int | None


def moment(scene: Stages, time: float) -> Moment:
    """What the flow has computed nearest to this time."""
    at = int(np.abs(scene.times - time).argmin())
    values = scene.singular_values[at]
    shares = values / scene.teacher
    learned = int((shares > 0.5).sum())
    place = max(k for k, stage in enumerate(scene) if stage.rank <= learned or k == 0)
    between = np.flatnonzero((shares > STILL) & (shares < 1 - STILL))
    moving = int(between[0]) if len(between) else None
    return Moment(float(scene.times[at]), float(scene.loss[at]), values, scene.products[at], learned, place, moving)


def problem(config: StagesConfig, scene: Stages, stage: Stage) -> DeepLinearNetwork:
    """What λ̂ is measured on at a rest."""
    return scene.against_target(stage) if config.teacher == REAL else stage.problem()


def settings(config: StagesConfig) -> dict[str, object]:
    """Of a run at a rest, for `RunConfig`."""
    # Small weights on four layers are rough ground: Langevin chains diverge there, and draws of whole layers do not.
    own = {"sampler": {"name": "UnderdampedLangevin"}, "n_beta": N_BETA_REAL} if config.teacher == REAL else {}
    return {
        "sampler": {"name": "Gibbs"},
        "chains": config.chains,
        "steps": config.steps,
        "burn_in": 0.2,
        "seed": config.seed,
        **own,
    }
