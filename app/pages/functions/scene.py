"""What is known before a chain moves: the network, its run resolved, and the exact posterior of the function."""

from __future__ import annotations

import math
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from app.pages.functions.config import ROWS, SHARES, FunctionsConfig, key_of, network_of
from app.runs.account import account
from app.runs.allowance import check_allowance
from app.runs.kept import Kept
from app.runs.threads import set_threads
from llc_core import BayesianNetwork, GaussianPosterior, Mixture, finite_width, nngp_posterior
from llc_core.engine.resolve import Resolved, resolve

INPUTS = 34
"""Inputs at which functions are compared: on the window of the paper's data, every sixth of a unit."""
WINDOW = (-3.0, 2.5)
WEIGHTS = 48
"""Weights that are watched, evenly spaced over all of them."""
QUICK, FULL = "quick", "full"
PARTS = {QUICK: 0.2, FULL: 1.0}
"""Shares of the work for an exact answer: a first one within a second or two, then a better one."""
MOVES, LEAST_MOVES, DRAWS = 60_000, 200, 8_000
"""Moves of the hidden layers times the width, never fewer than the second; draws of the prior where these are enough."""
EXACT_BYTES = 200 * 2**20
"""Room that the members of a mixture take while its quantiles are found."""


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
    """

    mean: np.ndarray
    sd: np.ndarray
    low: Mapping[float, np.ndarray]
    high: Mapping[float, np.ndarray]
    ess: float
    log_evidence: float


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


def exact_of(scene: Scene, part: str) -> Posterior:
    """The posterior of this very network: a mixture of Gaussians over its hidden layers (`llc_core.finite_width`).

    part: QUICK or FULL. Seconds of work: for a thread. ValueError where it is not known.
    """
    return _exacts.get(f"{part} {scene.problem_key}", partial(_exact, scene.problem, scene.inputs, PARTS[part]))


def known(scene: Scene) -> tuple[Posterior | None, Posterior | None, bool]:
    """Limit and exact answer as far as they are there already, and whether the exact one is the better one."""
    key = scene.problem_key
    best = _there(_exacts, f"{FULL} {key}")
    return _there(_limits, key), best or _there(_exacts, f"{QUICK} {key}"), best is not None


@cache
def answering() -> ThreadPoolExecutor:
    """The one thread for exact answers of all visitors: a class that opens one preset waits for one calculation, and then has it."""
    return ThreadPoolExecutor(1, thread_name_prefix="answers", initializer=set_threads)


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


def _exact(problem: BayesianNetwork, inputs: np.ndarray, part: float) -> Posterior:
    claim = account().claim(EXACT_BYTES, "The exact answer")
    try:
        found = finite_width(problem, inputs, **effort(problem, part))
        low, high = _edges(found)
    finally:
        claim.release()
    return Posterior(found.mean, found.sd, low, high, found.ess, found.log_evidence)


def effort(problem: BayesianNetwork, part: float = PARTS[FULL]) -> dict[str, int]:
    """How much `finite_width` is asked to do for a share of the whole work."""
    return {"draws": int(part * DRAWS), "moves": max(LEAST_MOVES, int(part * MOVES / max(problem.widths)))}


def _edges(found: GaussianPosterior | Mixture) -> tuple[dict[float, np.ndarray], dict[float, np.ndarray]]:
    return (
        {share: found.quantile((1 - share) / 2) for share in SHARES},
        {share: found.quantile((1 + share) / 2) for share in SHARES},
    )
