"""Single numbers and curves of the distribution a sampler tends to, for those who do not need the distribution itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from llc_core.bins import Bins
from llc_core.stationary.distances import Distances
from llc_core.stationary.limit import SamplerLike, TargetLike, limit_law, target_law


def density(sampler: SamplerLike, target: TargetLike, x: Any) -> np.ndarray:
    """Density at x of the distribution that `sampler` tends to as step_size → 0, normalised to 1e-8.

    Formulas 27 and 35 of Rensmeyer & Niggemann 2025. x: any shape, in the coordinate of the target.
    """
    return limit_law(sampler, target).density(x)


def metric(sampler: SamplerLike, target: TargetLike, x: Any) -> np.ndarray:
    """G(x) in the limit of step_size → 0, where V → U′²; ones for a constant metric."""
    return limit_law(sampler, target).metric(x)


def normalizer(sampler: SamplerLike, target: TargetLike) -> float:
    """Z in density = Z·p·weight (see `LimitLaw.normalizer`)."""
    return limit_law(sampler, target).normalizer


def masses(sampler: SamplerLike, target: TargetLike, bins: Bins | Mapping[str, Any] | None = None) -> np.ndarray:
    """Predicted probability of each bin and of the two tails as step_size → 0, [count + 2]."""
    return limit_law(sampler, target).masses(bins)


def target_masses(target: TargetLike, bins: Bins | Mapping[str, Any] | None = None) -> np.ndarray:
    """The target's probability of each bin and of the two tails, [count + 2]."""
    return target_law(target).masses(bins)


def moments(sampler: SamplerLike, target: TargetLike) -> dict[str, float]:
    """E x, E|x| and E x² of the predicted distribution ("mean", "mean_abs", "second")."""
    return limit_law(sampler, target).moments()


def distances_to_target(sampler: SamplerLike, target: TargetLike) -> Distances:
    """Of the predicted distribution to the target: total variation, KL(predicted‖target), Wasserstein-1."""
    return limit_law(sampler, target).distances(target_law(target))
