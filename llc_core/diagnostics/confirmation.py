"""The posterior's own mean of nβ·ΔL, where it is known well enough to confirm an estimate or to refute it."""

from __future__ import annotations

import math

from llc_core.potentials.base import Potential
from llc_core.potentials.deep_linear.network import DeepLinearNetwork
from llc_core.potentials.line.landscape import Landscape
from llc_core.potentials.plane.regression import Planar


def exact_value(problem: Potential, n_beta: float, localization: float) -> float:
    """At this n, nβ and γ, by quadrature or from a normal law; nan where there is none.

    `expected_llc` of other potentials is a formula for large n: blocked Gibbs lies up to 51% from it on deep networks. Of a
    linear network on its own data it is exact for one layer, but for terms of γ/nβ, and where all widths are 1.
    """
    if isinstance(problem, DeepLinearNetwork) and (len(problem.weights) == 1 or max(problem.widths) == 1):
        value = problem.expected_llc_of_data(n_beta, localization) if localization > 0 else None
        return math.nan if value is None else float(value)
    exact = isinstance(problem, Planar) or (isinstance(problem, Landscape) and localization == 0)
    value = problem.expected_llc_at(n_beta, localization) if exact else None
    return math.nan if value is None else float(value)
