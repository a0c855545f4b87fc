"""Stationary laws of samplers in one dimension, without Monte Carlo.

The law as the step size goes to 0, from the sampler's own `law()` by quadrature, and distances between laws.
"""

from llc_core.stationary.distances import Distances, kl_divergence, total_variation, wasserstein
from llc_core.stationary.limit import (
    LimitLaw,
    density,
    distances_to_target,
    limit_law,
    masses,
    metric,
    moments,
    normalizer,
    target_law,
    target_masses,
)

__all__ = [
    "Distances",
    "LimitLaw",
    "density",
    "distances_to_target",
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
