"""What is known before a chain moves: the network, its run resolved, and the exact posterior of the function."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from app.pages.functions.config import ROWS, SHARES, FunctionsConfig, key_of, network_of
from app.runs.allowance import check_allowance
from app.runs.kept import Kept
from llc_core import BayesianNetwork, GaussianPosterior, Mixture, nngp_posterior
from llc_core.engine.resolve import Resolved, resolve

INPUTS = 34
"""Inputs at which functions are compared: on the window of the paper's data, every sixth of a unit."""
WINDOW = (-3.0, 2.5)
WEIGHTS = 48
"""Weights that are watched, evenly spaced over all of them."""
MOVES, MOST_MOVES, LEAST_MOVES, DRAWS = 60_000, 3_000, 300, 8_000
"""Moves of the hidden layers times the width, and the most and the fewest moves; draws of the prior where these are enough."""
SETTLED = 1.1
"""R-hat of the chains behind an exact answer, from which on it is not told."""


@dataclass(frozen=True)
class Scene:
    """inputs [P]: where functions are seen.  every: iterations between two that are kept."""

    config: FunctionsConfig
    problem: BayesianNetwork
    resolved: Resolved
    inputs: np.ndarray
    every: int

    @property
    def memory(self) -> float:
        """Bytes of the chains and of what is kept of them, in the job and on the page."""
        kept = 8 * ROWS * self.config.chains * (INPUTS + min(WEIGHTS, self.problem.dim) + 1)
        return check_allowance(self.resolved.config, self.problem) + 2 * kept

    @property
    def problem_key(self) -> str:
        return key_of(self.config.problem)


@dataclass(frozen=True)
class Posterior:
    """The law of f at the scene's inputs. mean, sd: [P].  low, high: share of a band → its edges [P].

    ess: how many independent draws the answer is worth; infinite where it has a closed form.
    log_evidence: log p(y) in nats, nan where it is not known.
    r_hat: of the chains that it was worked out by, nan where there are none.
    """

    mean: np.ndarray
    sd: np.ndarray
    low: Mapping[float, np.ndarray]
    high: Mapping[float, np.ndarray]
    ess: float
    log_evidence: float
    r_hat: float = math.nan

    @property
    def settled(self) -> bool:
        """Whether it can be told: the chains behind it are long enough, and they agree."""
        return not math.isnan(self.ess) and not self.r_hat >= SETTLED


def scene_of(config: FunctionsConfig) -> Scene:
    """ValueError, one sentence, where the configuration cannot be run here."""
    problem = network_of(config.problem)
    resolved = resolve(config.run, problem)
    x = problem.data.x[:, 0]
    low, high = min(WINDOW[0], math.floor(2 * x.min()) / 2), max(WINDOW[1], math.ceil(2 * x.max()) / 2)
    inputs = np.round(np.linspace(low, high, INPUTS), 9)
    scene = Scene(config, problem, resolved, inputs, config.every)
    check_allowance(resolved.config, problem)
    return scene


def limit_of(scene: Scene) -> Posterior:
    """What the same network would answer if it were infinitely wide: the Gaussian process (Lee et al. 2018)."""
    return _limits.get(scene.problem_key, partial(_limit, scene.problem, scene.inputs))


def known(scene: Scene) -> tuple[Posterior | None, Posterior | None]:
    """Limit and exact answer, where they are there already."""
    return _there(_limits, scene.problem_key), _there(_exacts, scene.problem_key)


def keep(scene: Scene, exact: Posterior) -> None:
    """The exact answer of the scene's network, for all visitors."""
    _exacts.get(scene.problem_key, lambda: exact)


def forget_answers() -> None:
    """For tests."""
    _limits.forget()
    _exacts.forget()


def _there(kept: Kept[Posterior], key: str) -> Posterior | None:
    def missing() -> Posterior:
        raise KeyError(key)

    try:
        return kept.get(key, missing)
    except KeyError:
        return None


_limits: Kept[Posterior] = Kept(64)
_exacts: Kept[Posterior] = Kept(64)


def _limit(problem: BayesianNetwork, inputs: np.ndarray) -> Posterior:
    found = nngp_posterior(problem, inputs)
    low, high = _edges(found)
    return Posterior(found.mean, found.sd, low, high, math.inf, found.log_evidence)


def exact_law(found: Mixture) -> Posterior:
    low, high = _edges(found)
    return Posterior(found.mean, found.sd, low, high, found.ess, found.log_evidence, found.r_hat)


def effort(problem: BayesianNetwork) -> dict[str, int]:
    """How much `finite_width` is asked to do."""
    return {"draws": DRAWS, "moves": max(LEAST_MOVES, min(MOST_MOVES, MOVES // max(problem.widths)))}


def _edges(found: GaussianPosterior | Mixture) -> tuple[dict[float, np.ndarray], dict[float, np.ndarray]]:
    return (
        {share: found.quantile((1 - share) / 2) for share in SHARES},
        {share: found.quantile((1 + share) / 2) for share in SHARES},
    )
