"""Stationary distributions of samplers in one dimension, without Monte Carlo.

The distribution as the step size goes to 0, from the sampler's own `law()`; the exact distribution at a finite step size, from the
transition operator that its `line()` defines; and distances between distributions.
"""

from llc_core.stationary.distances import Distances, kl_divergence, total_variation, wasserstein
from llc_core.stationary.exact import ExactLaw, bias_curve, exact_law
from llc_core.stationary.limit import LimitLaw, limit_law, target_law
from llc_core.stationary.predictions import (
    density,
    distances_to_target,
    masses,
    metric,
    moments,
    normalizer,
    target_masses,
)

__all__ = [
    "Distances",
    "ExactLaw",
    "LimitLaw",
    "bias_curve",
    "density",
    "distances_to_target",
    "exact_law",
    "kl_divergence",
    "limit_law",
    "masses",
    "metric",
    "moments",
    "normalizer",
    "target_law",
    "target_masses",
    "total_variation",
    "wasserstein",
]
