"""One semi-synthetic task: real inputs, targets from a network drawn from the prior, and the risk of a prediction of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from llc_core.compute.streams import numpy_stream, torch_stream
from llc_core.fields import number, whole
from llc_core.networks.data.tables import Table
from llc_core.potentials.bayesian.data import MOST_SAMPLES
from llc_core.potentials.bayesian.likelihoods import laplace_scale
from llc_core.potentials.bayesian.network import BayesianNetwork, checked_inputs

LEAST_ROWS, MOST_ROWS = 5, MOST_SAMPLES
BISECTIONS = 50


@dataclass(frozen=True)
class SemiSynthetic:
    """problem: with the training data.  test_inputs: [m, d].  truth: [m], the network that made the targets, without noise.

    Losses are those of the paper: (y − ŷ)² under a Gaussian likelihood, |y − ŷ| under a Laplace one.
    """

    problem: BayesianNetwork
    test_inputs: np.ndarray
    truth: np.ndarray

    @property
    def noise(self) -> float:
        """Risk of who knows the network: the variance of the noise, or its mean size."""
        variance = self.problem.noise_variance
        return variance if self.problem.likelihood == "gaussian" else laplace_scale(variance)

    def risk(self, predicted: np.ndarray) -> float:
        """Expected loss of predictions [m] on new targets at the test inputs; the mean over the noise is taken exactly."""
        return self.expected_risk(predicted, self.truth[None])

    def expected_risk(self, predicted: np.ndarray, draws: np.ndarray) -> float:
        """The same, where the network that made the targets is one of `draws` [S, m]: with draws of the exact posterior it is what
        predictions [m] lose on average, and least for `best_of(draws)`: the Bayes risk."""
        off = np.abs(np.asarray(predicted) - draws)
        if self.problem.likelihood == "gaussian":
            return float(np.mean(off**2)) + self.noise
        return float(np.mean(off + self.noise * np.exp(-off / self.noise)))  # E|e − d| of a Laplace e with scale b

    def best_of(self, draws: np.ndarray) -> np.ndarray:
        """The prediction [m] that loses least if the distribution of f is that of `draws` [S, m]: their mean, or the median of the targets."""
        if self.problem.likelihood == "gaussian":
            return np.asarray(draws.mean(axis=0))
        low, high = draws.min(axis=0), draws.max(axis=0)
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            off = (middle - draws) / self.noise
            below = np.where(off < 0, np.exp(np.minimum(off, 0)) / 2, 1 - np.exp(-np.maximum(off, 0)) / 2)
            up = below.mean(axis=0) < 0.5
            low, high = np.where(up, middle, low), np.where(up, high, middle)
        return (low + high) / 2


def semi_synthetic(
    inputs: Table | Any,
    width: int | Sequence[int] = 50,
    hidden_layers: int = 2,
    rows: int = 150,
    test_share: float = 0.2,
    seed: int = 0,
    **network: Any,
) -> SemiSynthetic:
    """A task on `inputs`, a `Table` or numbers [n, d]: standardised, at most `rows` of them, of which `test_share` are held out.

    width: of all hidden layers, or the widths one by one.

    The targets are those of one network drawn from the prior, with noise of the likelihood, both by `seed`; the rows and which of
    them are held out are the same for all seeds. network: other arguments of `BayesianNetwork` (activation, likelihood,
    noise_variance, …). Raises ValueError, one sentence, for inputs that will not do.
    Source: the paper on weight and function space, section 3.2.
    """
    table = inputs if isinstance(inputs, Table) else Table("inputs", (), _numbers(inputs))
    x = table.standardised
    kept = min(len(x), whole("rows", rows, LEAST_ROWS, MOST_ROWS))
    share = number("test_share", test_share, above=0, below=1)
    if kept < LEAST_ROWS:
        raise ValueError(f"{table.name} has {len(x)} rows; a task needs at least {LEAST_ROWS}.")
    x = x[numpy_stream(0, "semi-synthetic rows").permutation(len(x))[:kept]]
    held = min(kept - 2, max(1, round(share * kept)))
    hidden = list(width) if isinstance(width, Sequence) else [width] * whole("hidden_layers", hidden_layers, 1)
    widths = (x.shape[1], *hidden, 1)
    problem = BayesianNetwork(widths, {"x": x[held:], "y": np.zeros(kept - held)}, **_known(network))
    return synthetic(problem, x[:held], seed)


def synthetic(problem: BayesianNetwork, test_inputs: Any, seed: int = 0) -> SemiSynthetic:
    """The task of `problem`'s own inputs: its targets are replaced by those of one network drawn from its prior, with noise of
    its likelihood. test_inputs: [m, d], or [m] where d = 1."""
    at = checked_inputs(test_inputs, problem.widths[0])
    drawn = problem.prior_draws(1, torch_stream(whole("seed", seed, 0), "teacher"))
    f = problem.predict(drawn, np.concatenate([problem.data.x, at]))[0].numpy()
    y = f[: problem.n] + _noise(problem, problem.n, numpy_stream(seed, "semi-synthetic noise"))
    return SemiSynthetic(problem.replace(data={"x": problem.data.x.tolist(), "y": y.tolist()}), at, f[problem.n :])


def _noise(problem: BayesianNetwork, count: int, random: np.random.Generator) -> np.ndarray:
    if problem.likelihood == "gaussian":
        return random.normal(0.0, problem.noise_variance**0.5, count)
    return random.laplace(0.0, laplace_scale(problem.noise_variance), count)


def _known(network: Mapping[str, Any]) -> Mapping[str, Any]:
    own = sorted(set(network) & {"widths", "data"})
    if own:
        raise ValueError(f"{own[0]} is the task's own; leave it out.")
    return network


def _numbers(inputs: Any) -> np.ndarray:
    try:
        found = np.asarray(inputs, dtype=float)
    except (TypeError, ValueError):
        raise ValueError("inputs is no table of numbers; give rows [n, d].") from None
    if found.ndim != 2 or not found.size or not np.isfinite(found).all():
        raise ValueError(f"inputs has the shape {found.shape}; give finite rows [n, d].")
    return found
