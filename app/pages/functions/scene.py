"""What is known before a chain moves: the network, its run resolved, and the exact posterior of the function."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np

from app.pages.functions.cases import CASES, Case, linear_distribution
from app.pages.functions.config import DEEP, DEEP_NETWORK, ROWS, SHARES, FunctionsConfig, key_of, network_of
from app.runs.allowance import check_allowance
from app.runs.apart import only_unhurried
from app.runs.kept import Kept
from llc_core import BayesianNetwork, DeepLinearNetwork, GaussianPosterior, Mixture, nngp_posterior
from llc_core.engine.resolve import Resolved, resolve
from llc_core.references.functions.laplace import nngp_laplace_mixture
from llc_core.references.functions.mixture import SETTLED

INPUTS = 34
"""Inputs at which functions are compared: on the window of the paper's data, every sixth of a unit."""
WINDOW = (-3.0, 2.5)
WEIGHTS = 48
"""Weights that are watched, evenly spaced over all of them."""
MOVES, MOST_MOVES, LEAST_MOVES, DRAWS = 60_000, 6_000, 300, 8_000
"""Moves of the hidden layers times the width, and the most and the fewest moves; draws of the prior where these are enough."""


SHIPPED = Path(__file__).parent / "exact.json"
"""Exact answers of the first presets, by long chains: made by lab/benchmarks/networks/page_bands.py."""


@dataclass(frozen=True)
class Scene:
    """inputs [P]: where functions are seen.  x, y: data [n].  dim: weights.  every: iterations between two that are kept.

    Of a network there are network and run, of a deep linear one deep and run, of the others case.
    """

    config: FunctionsConfig
    inputs: np.ndarray
    x: np.ndarray
    y: np.ndarray
    dim: int
    network: BayesianNetwork | None = None
    run: Resolved | None = None
    case: Case | None = None
    deep: DeepLinearNetwork | None = None

    @property
    def every(self) -> int:
        return self.config.every

    @property
    def memory(self) -> float:
        """Bytes of the chains and of what is kept of them, in the job and on the page."""
        kept = 8 * ROWS * self.config.chains * (INPUTS + min(WEIGHTS, self.dim) + 1)
        if self.run is None:
            return 3 * kept
        return check_allowance(self.run.config, self.run.problem) + 2 * kept

    @property
    def problem_key(self) -> str:
        return key_of(self.config.problem)


@dataclass(frozen=True)
class Posterior:
    """The distribution of f at the scene's inputs. mean, sd: [P].  low, high: share of a band → its edges [P].

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
    """ValueError, one sentence, where the configuration cannot be run here.

    On the event loop it may be `TakesLong`, see `app.runs.apart`: the deep linear network takes 60 ms to make.
    """
    if config.is_deep:
        only_unhurried(DEEP not in _deep)
        deep = _deep.get(
            DEEP, lambda: DeepLinearNetwork.random(**{k: v for k, v in DEEP_NETWORK.items() if k != "kind"})
        )
        entries = np.arange(1.0, deep.widths[0] * deep.widths[-1] + 1)
        resolved = resolve(config.run, deep)
        check_allowance(resolved.config, deep)
        return Scene(config, entries, np.zeros(0), np.zeros(0), deep.dim, run=resolved, deep=deep)
    if config.is_case:
        case = CASES[config.problem["kind"]]()
        return Scene(config, case.inputs, case.x, case.y, case.width, case=case)
    problem = network_of(config.problem)
    resolved = resolve(config.run, problem)
    x = problem.data.x[:, 0]
    low, high = min(WINDOW[0], math.floor(2 * x.min()) / 2), max(WINDOW[1], math.ceil(2 * x.max()) / 2)
    inputs = np.round(np.linspace(low, high, INPUTS), 9)
    check_allowance(resolved.config, problem)
    return Scene(config, inputs, x, problem.data.y, problem.dim, problem, resolved)


def limit_of(scene: Scene) -> Posterior:
    """What the same network would answer if it were infinitely wide: the Gaussian process (Lee et al. 2018)."""
    assert scene.network is not None
    return _limits.get(scene.problem_key, partial(_limit, scene.network, scene.inputs))


def known(scene: Scene) -> tuple[Posterior | None, Posterior | None]:
    """Limit and exact answer, where they are there already."""
    # The one that comes with the page has settled; what a visitor's chains have found may not have.
    exact = shipped().get(scene.problem_key) or _there(_exacts, scene.problem_key)
    return _there(_limits, scene.problem_key), exact


@cache
def shipped() -> Mapping[str, Posterior]:
    """Exact answers that come with the page, by `Scene.problem_key`."""
    found = {}
    for each in json.loads(SHIPPED.read_text())["answers"]:
        low, high = ({float(share): np.array(edge) for share, edge in each[name].items()} for name in ("low", "high"))
        mean, sd = np.array(each["mean"]), np.array(each["sd"])
        found[key_of(each["problem"])] = Posterior(mean, sd, low, high, each["ess"], math.nan, each["r_hat"])
    return found


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


_deep: Kept[DeepLinearNetwork] = Kept(1)
_limits: Kept[Posterior] = Kept(64)
_exacts: Kept[Posterior] = Kept(64)


def _limit(problem: BayesianNetwork, inputs: np.ndarray) -> Posterior:
    if problem.likelihood == "laplace":
        return exact_law(nngp_laplace_mixture(problem, inputs))
    return limit_law(nngp_posterior(problem, inputs))


def limit_law(found: GaussianPosterior) -> Posterior:
    low, high = _edges(found)
    return Posterior(found.mean, found.sd, low, high, math.inf, found.log_evidence)


def case_distribution(case: Case) -> Posterior:
    """The exact distribution of the function of a case: normal, or by quadrature."""
    if case.law is None:
        return limit_law(GaussianPosterior(*linear_distribution(case), math.nan))
    points, shares = case.law()
    values = case.curve(points)
    mean = shares @ values
    sd = np.sqrt(shares @ (values - mean) ** 2)
    order = np.argsort(values, axis=0)
    ranked, heights = np.take_along_axis(values, order, axis=0), np.cumsum(shares[order], axis=0)
    places = range(values.shape[1])
    ends = {
        edge: np.array([np.interp(edge, heights[:, p], ranked[:, p]) for p in places])
        for share in SHARES
        for edge in ((1 - share) / 2, (1 + share) / 2)
    }
    low = {share: ends[(1 - share) / 2] for share in SHARES}
    return Posterior(mean, sd, low, {share: ends[(1 + share) / 2] for share in SHARES}, math.inf, math.nan)


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
