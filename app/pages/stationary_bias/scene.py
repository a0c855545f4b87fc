"""All that is known before a chain moves: target, predicted distributions, metrics, and the frame they are drawn in."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from json import dumps, loads
from typing import Any

import numpy as np

from app.pages.stationary_bias.config import SIDES, BiasConfig
from app.runs.account import account
from app.runs.apart import only_unhurried
from app.runs.kept import Kept
from llc_core import stationary
from llc_core.bins import Bins
from llc_core.potentials.line.build import landscape, line_price
from llc_core.potentials.line.landscape import Landscape
from llc_core.samplers.base import Sampler
from llc_core.samplers.registry import build

POINTS = 481
BINS = 80
OUTSIDE = 3.2e-5
"""Mass of the target beyond either end of the picture: [−4, 4] for the normal distribution."""
TARGET = "This target"
Moments = Mapping[str, float]


@dataclass(frozen=True)
class Prediction:
    """Of one sampler on one target.

    trouble: a sentence where there is no limit distribution; then the rest but `metric` is nan.
    density, metric: [N] at the scene's x.  masses: [bins + 2].  distance: total variation of the distribution to the target.
    mean_metric: E G under the distribution, which sets how fast the chains forget.
    """

    sampler: Sampler
    trouble: str
    density: np.ndarray
    metric: np.ndarray
    masses: np.ndarray
    moments: Moments
    distance: float
    mean_metric: float


@dataclass(frozen=True)
class Scene:
    """x [N]: where curves are drawn.  density [N], masses [bins + 2], moments: of the target."""

    target: Landscape
    bins: Bins
    x: np.ndarray
    density: np.ndarray
    masses: np.ndarray
    moments: Moments
    left: Prediction
    right: Prediction

    def side(self, side: str) -> Prediction:
        return self.left if side == "left" else self.right


def get_scene(config: BiasConfig) -> Scene:
    """The scene of a configuration; ValueError says what is wrong with its target.

    On the event loop it may be `TakesLong`, see `app.runs.apart`: for distributions that nobody has named, since a formula of 60
    characters can take a minute.
    """
    texts = [dumps(value, sort_keys=True) for value in (config.target, config.left, config.right)]
    key = "\n".join(texts)
    line_price(config.target)  # what is no description at all is refused at once
    only_unhurried("name" not in config.target and key not in _scenes)
    return _scenes.get(key, partial(_scene, *texts))


def get_target(target: Mapping[str, Any]) -> Landscape:
    """The distribution that a description stands for, as `get_scene` made it where it has; ValueError as there."""
    return _targets.get(dumps(target, sort_keys=True), partial(landscape, target))


_scenes: Kept[Scene] = Kept(64)  # each holds 1 MB at most, with its target
_targets: Kept[Landscape] = Kept(64)


def _scene(target_text: str, *sampler_texts: str) -> Scene:
    description = loads(target_text)
    with account().room(line_price(description).peak, TARGET):
        return _made(get_target(description), *(build(loads(text)) for text in sampler_texts))


def _made(target: Landscape, *samplers: Sampler) -> Scene:
    bins = window(target)
    x = np.linspace(bins.low, bins.high, POINTS)
    law = stationary.target_law(target)
    sides = {side: _predict(sampler, target, bins, x) for side, sampler in zip(SIDES, samplers, strict=True)}
    return Scene(target, bins, x, law.density(x), law.masses(bins), law.moments(), **sides)


def _predict(sampler: Sampler, target: Landscape, bins: Bins, x: np.ndarray) -> Prediction:
    try:
        law = stationary.limit_law(sampler, target)
    except ValueError as error:
        nothing = np.full_like(x, np.nan)
        unknown = dict.fromkeys(("mean", "mean_abs", "second"), math.nan)
        return Prediction(
            sampler, str(error), nothing, nothing, np.full(bins.count + 2, np.nan), unknown, math.nan, math.nan
        )
    masses = law.masses(bins)
    middle = np.concatenate([[bins.low], bins.centers, [bins.high]])
    metric = law.metric(middle)
    known = np.isfinite(metric)
    return Prediction(
        sampler,
        "",
        law.density(x),
        law.metric(x),
        masses,
        law.moments(),
        law.distances(stationary.target_law(target)).total_variation,
        float((masses * np.where(known, metric, 0.0)).sum() / masses[known].sum()),
    )


def window(target: Landscape) -> Bins:
    """The part of the line that is shown and counted in bins: all but a few chains in 100,000 of the target's."""
    low, high = (float(target.quantile(u)) for u in (OUTSIDE, 1 - OUTSIDE))
    grain = 10.0 ** math.floor(math.log10(max(high - low, 1e-9))) / 2 if high - low < 3 else 0.5
    return Bins(grain * math.floor(low / grain + 0.1), grain * math.ceil(high / grain - 0.1), BINS)
