"""The numbers under one histogram, all from what was measured."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from app.pages.stationary_bias.job import HistogramMeasures
from app.pages.stationary_bias.panels.exact.job import ExactBias
from app.pages.stationary_bias.scene import Prediction, Scene
from app.pages.stationary_bias.texts import distance
from app.style.numbers import UNKNOWN, number
from llc_core import stationary


def readouts(side: str) -> list[dict[str, Any]]:
    """Cells of the numbers under one figure."""
    return [
        {
            "key": f"{side}_target",
            "label": "distance to target",
            "main": True,
            "wide": True,
            "tip": "Total variation between the histogram and the target: 0 the same, 1 nothing in common. From the bins.",
        },
        {
            "key": f"{side}_prediction",
            "label": "to prediction",
            "main": True,
            "wide": True,
            "tip": "Total variation between the histogram and what theory predicts for steps near 0.",
        },
        {
            "key": f"{side}_bias",
            "label": "predicted bias",
            "tip": "Total variation between prediction and target, by quadrature. No number of steps removes this "
            "bias.",
        },
        {
            "key": f"{side}_exact",
            "label": "exact bias",
            "tip": "Total variation between the target and what the chain draws from at this step size. From its "
            "transition operator, without chance.",
        },
        {
            "key": f"{side}_agreement",
            "label": "to exact",
            "tip": "Total variation between the histogram and what the chain draws from at this step size.",
        },
        {"key": f"{side}_w1", "label": "W₁ to target", "tip": "Wasserstein-1 distance to the target, in units of x."},
        {
            "key": f"{side}_kl",
            "label": "KL to target",
            "tip": "Kullback-Leibler divergence of the histogram from the target, in nats.",
        },
        {
            "key": f"{side}_mean_abs",
            "label": "E|x|: estimate · theory · target",
            "wide": True,
            "tip": "Mean of |x| in the histogram, as theory predicts it, and in the target.",
        },
        {
            "key": f"{side}_second",
            "label": "E x²: estimate · theory · target",
            "wide": True,
            "tip": "Mean of x² over the chains, as theory predicts it, and in the target.",
        },
        {
            "key": f"{side}_samples",
            "label": "states",
            "tip": "States that are in the histogram; every eighth step counts.",
        },
        {
            "key": f"{side}_diverged",
            "label": "diverged",
            "tip": "Chains that overflowed. They count nowhere from then on.",
        },
        {
            "key": f"{side}_speed",
            "label": "throughput",
            "tip": "Element-steps per second: chains times steps in one second of this sampler's computing time.",
        },
    ]


def exact_values(side: str, point: ExactBias | None, measured_masses: np.ndarray | None) -> dict[str, str]:
    """What the chain's own distribution at this step size adds to the numbers."""
    if point is None or point.trouble:
        return dict.fromkeys((f"{side}_exact", f"{side}_agreement"), UNKNOWN)
    agreement = math.nan if measured_masses is None else stationary.total_variation(measured_masses, point.masses)
    return {f"{side}_exact": distance(point.to_target), f"{side}_agreement": distance(agreement)}


def readout_values(
    side: str, prediction: Prediction, scene: Scene, measured: HistogramMeasures | None
) -> dict[str, str]:
    def three(found: float, name: str) -> str:
        return " · ".join(short(v) for v in (found, prediction.moments[name], scene.moments[name]))

    known = {f"{side}_bias": distance(prediction.distance)}
    if measured is None:
        keys = [item["key"] for item in readouts(side)]
        return {
            **dict.fromkeys(keys, UNKNOWN),
            **known,
            f"{side}_mean_abs": three(math.nan, "mean_abs"),
            f"{side}_second": three(math.nan, "second"),
        }
    return {
        **known,
        f"{side}_target": distance(measured.to_target),
        f"{side}_prediction": distance(measured.to_prediction),
        f"{side}_w1": distance(measured.wasserstein),
        f"{side}_kl": distance(measured.kl),
        f"{side}_mean_abs": three(measured.mean_abs, "mean_abs"),
        f"{side}_second": three(measured.second, "second"),
        f"{side}_samples": large(measured.samples),
        f"{side}_diverged": f"{measured.diverged:,}",
        f"{side}_speed": large(measured.speed) + "/s",
    }


def short(value: float) -> str:
    if math.isinf(value):
        return "∞"
    return f"{value:.3f}" if math.isfinite(value) and abs(value) < 1000 else number(value)


def large(value: float) -> str:
    """ "67.5 M"."""
    for power, word in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= power:
            return f"{value / power:.3g} {word}"
    return f"{value:.0f}"
