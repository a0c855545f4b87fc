"""The posterior's own mean of nβ·ΔL, where it is known well enough to confirm an estimate or to refute it."""

from __future__ import annotations

import json
import math
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from threading import Lock

import numpy as np
import torch

from llc_core.compute.cores import chains_on_cores
from llc_core.diagnostics.convergence import R_HAT_LIMIT, mean_error, r_hat
from llc_core.potentials.base import Potential
from llc_core.potentials.deep_linear.blocked_gibbs import usual_sweeps
from llc_core.potentials.deep_linear.network import DeepLinearNetwork
from llc_core.potentials.line.landscape import Landscape
from llc_core.potentials.module import linear_models
from llc_core.potentials.module.network import NetworkPotential
from llc_core.potentials.plane.regression import Planar

LARGEST_DRAWN = 50_000
"""Parameters of the largest network that exact draws are made of: they take up to ten seconds of one core."""
CHAINS = 4
SEED = 20_011
"""Of the draws. They belong to the problem and not to the run, whose own seed is another stream."""
REMEMBERED = 4096
TOGETHER = 200_000
"""Parameters, of all distributions that are drawn from at once: beyond it matrices cost what is in them, and more at once only costs memory."""
Key = tuple[str, float, float]
_known: OrderedDict[Key, tuple[float, float]] = OrderedDict()
_lock = Lock()


def exact_value(problem: Potential, n_beta: float, localization: float) -> float:
    """At this n, nβ and γ, by quadrature or from a normal distribution; nan where there is none.

    `expected_llc` of other potentials is a formula for large n: blocked Gibbs lies up to 51% from it on deep networks. Of a
    linear network on its own data it is exact for one layer, but for terms of γ/nβ, and where all widths are 1; of a network
    with a squared error where its output is linear in what moves.
    """
    if isinstance(problem, NetworkPotential):
        return linear_models.of_squared_error(problem, n_beta, localization)
    if isinstance(problem, DeepLinearNetwork) and (len(problem.weights) == 1 or max(problem.widths) == 1):
        value = problem.expected_llc_of_data(n_beta, localization) if localization > 0 else None
        return math.nan if value is None else float(value)
    # Beside a prior that vanishes on an axis chains stay on one side, and the whole plane's mean is not theirs.
    exact = (isinstance(problem, Planar) and not problem.has_prior) or (
        isinstance(problem, Landscape) and localization == 0
    )
    value = problem.expected_llc_at(n_beta, localization) if exact else None
    return math.nan if value is None else float(value)


def drawn_value(
    problem: Potential, n_beta: float, localization: float, largest: int = LARGEST_DRAWN
) -> tuple[float, float]:
    """The posterior's mean of nβ·ΔL from exact draws, and its standard error; nan and 0 where they cannot be made.

    Blocked Gibbs sampling of a deep linear network of up to `largest` parameters, half as long as the engine's default run. Half
    of its chains begin at w0 and half at draws of the localising Gaussian; where they disagree nothing is known.
    Weighed draws around the mode of a network with a cross entropy whose output is linear in what moves (`linear_models`).
    Other networks have several modes or flat valleys, and no draws of them are known to be right.
    What was found is remembered, since a sweep asks for one network at many settings.
    """
    linear = isinstance(problem, DeepLinearNetwork) and problem.dim <= largest
    if not (linear or isinstance(problem, NetworkPotential)) or not localization > 0:
        return math.nan, 0.0
    key = json.dumps(problem.to_dict(), sort_keys=True), n_beta, localization
    with _lock:
        if key in _known:
            _known.move_to_end(key)
            return _known[key]
    if isinstance(problem, DeepLinearNetwork):
        found = _draw(problem, [(n_beta, localization)])[0]
    else:
        assert isinstance(problem, NetworkPotential)
        found = linear_models.of_cross_entropy(problem, n_beta, localization, SEED)
    _remember({key: found})
    return found


def draw_together(problem: Potential, laws: Sequence[tuple[float, float]], largest: int = LARGEST_DRAWN) -> None:
    """Make the exact draws of one linear network at several (nβ, γ) at once, for `drawn_value` to remember.

    Small matrices cost their calls: the twelve distributions of a sweep take little longer than one of them.
    """
    if not isinstance(problem, DeepLinearNetwork) or problem.dim > largest:
        return
    text = json.dumps(problem.to_dict(), sort_keys=True)
    with _lock:
        new = [law for law in dict.fromkeys(laws) if law[1] > 0 and (text, *law) not in _known]
    size = max(1, TOGETHER // problem.dim)
    for part in (new[i : i + size] for i in range(0, len(new), size)):
        _remember({(text, *law): found for law, found in zip(part, _draw(problem, part), strict=True)})


def _remember(found: Mapping[Key, tuple[float, float]]) -> None:
    with _lock:
        _known.update(found)
        while len(_known) > REMEMBERED:
            _known.popitem(last=False)


def _draw(problem: DeepLinearNetwork, laws: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    sweeps = max(usual_sweeps(problem.dim) // 2, 50)
    burn_in = sweeps // 4
    n_betas, pulls = (
        torch.tensor(values, dtype=torch.float64).repeat_interleave(CHAINS).unsqueeze(1)
        for values in zip(*laws, strict=True)
    )
    chains = problem.conditionals(n_betas, pulls, SEED, True, companies=len(laws))
    start = chains.delta
    start[1::2] = chains.normals(start[1::2].shape) / pulls[1::2].sqrt()
    try:
        with torch.inference_mode(), chains_on_cores():
            chains.place(start)
            losses = torch.stack([chains.move(adapt=sweep < burn_in) for sweep in range(sweeps)])
    except torch.linalg.LinAlgError:  # products of these weights overflow
        return [(math.nan, 0.0)] if len(laws) == 1 else [found for law in laws for found in _draw(problem, [law])]
    traces = (n_betas.squeeze(1) * losses[burn_in:]).numpy()
    return [_read(traces[:, i : i + CHAINS]) for i in range(0, traces.shape[1], CHAINS)]


def _read(trace: np.ndarray) -> tuple[float, float]:
    error = mean_error(trace.mean(axis=0), trace)
    if not math.isfinite(error.se) or not r_hat(trace) < R_HAT_LIMIT:
        return math.nan, 0.0
    return float(trace.mean()), error.se
