"""The four errors, WAIC and WBIC of deep linear networks, measured on data set after data set, beside the loss on new data.

The posterior at β = 1 is sampled by exact draws of layers, so that what is compared is theory and not a sampler.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from llc_core.compute.precision import EXACT
from llc_core.diagnostics.convergence import R_HAT_LIMIT, r_hat
from llc_core.fields import number, whole
from llc_core.potentials.deep_linear.network import DeepLinearNetwork
from llc_core.studies.information import Losses, generalisation
from llc_core.studies.tempering.answers import FreeEnergy
from llc_core.studies.tempering.measuring import free_energy

NOISE = math.sqrt(0.5)
"""Of the outputs: the squared error is then −log p, up to a constant."""
CHAINS, SWEEPS, BURN_IN, EVERY = 4, 400, 100, 4
HELD_OUT = 20_000
LARGEST = 2_000_000
"""Numbers that are held at once: of all draws on some rows."""
OTHER_ROWS = 2**40
"""Added to a data set's seed, it gives the seed of its new rows."""


@dataclass(frozen=True)
class DataErrors:
    """What one data set gave, each times n, in nats, above the loss of the true network on the same rows.

    errors: the four, measured; those of generalisation on `HELD_OUT` new rows.  waic: from the training rows alone.
    wbic: n·E[ΔL] at β = 1/log n, so that the training loss of the true network is left out.
    fluctuation: ν̂ at β = 1.  r_hat: of the losses, the larger one of both runs.
    """

    errors: Losses
    waic: float
    wbic: float
    fluctuation: float
    r_hat: float

    @property
    def trusted(self) -> bool:
        return self.r_hat < R_HAT_LIMIT


def data_errors(
    network: DeepLinearNetwork, n: int = 200, seed: int = 0, *, localization: float = 1.0, sweeps: int = SWEEPS
) -> DataErrors:
    """Draw a data set of the network's function, sample its posterior at β = 1 and at 1/log n, and measure.

    network: gives the true function, P0 = W_M ⋯ W_1; its own data are not used. Outputs have Gaussian noise of variance ½.
    n: rows of the data set, at least 3.  seed: of its rows, and of the chains.  localization: γ of the prior N(w0, 1/γ).
    sweeps: of each of the four chains, of which the first quarter is burn-in.
    Raises ValueError for arguments that cannot be.
    Source: Watanabe 2009, ch. 6 (the errors); 2010 (WAIC); 2013 (WBIC).
    """
    n, seed, sweeps = whole("n", n, 3, 10**6), whole("seed", seed, 0, 2**32), whole("sweeps", sweeps, 40, 10**6)
    localization = number("localization", localization, above=0)
    seen, new = data_set(network, n, seed), data_set(network, HELD_OUT, seed + OTHER_ROWS)
    losses, draws = _sampled(seen, localization, seed, sweeps)
    (bayes, gibbs, variance), (bayes_new, gibbs_new, _) = _measured(seen, draws), _measured(new, draws)
    return DataErrors(
        Losses(n * bayes, n * gibbs, n * bayes_new, n * gibbs_new),
        waic=n * (bayes + variance),
        wbic=n * float(losses[:, CHAINS:].mean()),
        fluctuation=n * variance / 2,
        r_hat=max(r_hat(losses[:, :CHAINS]), r_hat(losses[:, CHAINS:])),
    )


def bytes_needed(widths: Sequence[int], n: int) -> float:
    """What `data_errors` holds at most, from the description of a network alone."""
    rows, outputs = max(n, HELD_OUT), widths[-1]
    draws = CHAINS * SWEEPS // EVERY
    return 8.0 * (rows * (widths[0] + outputs + 1) + draws * outputs * widths[0] + 4 * max(LARGEST, draws * outputs))


def data_set(network: DeepLinearNetwork, n: int, seed: int) -> DeepLinearNetwork:
    """The same true function with other data, whose loss is −log p up to a constant."""
    return DeepLinearNetwork(network.weights, n=n, noise_std=NOISE, seed=seed)


def prior_free_energy(network: DeepLinearNetwork, n: int, seed: int, localization: float = 1.0) -> FreeEnergy:
    """−log Z of the data set of `data_errors`, above n times the loss of the true network: its `log_z`, negative."""
    problem = data_set(network, n, seed)
    return free_energy(problem, n_beta=float(n), localization=localization, chains=8, steps=200, seed=seed)


@dataclass(frozen=True)
class Summary:
    """Means over data sets and their standard errors.

    means, errors: name → number, of "bayes_training", …, "waic", "wbic", "fluctuation", and "sum", half of WAIC and the Bayes
    generalisation error. Its expectation is λ too, and it scatters far less, since the two move against each other (Watanabe 2010,
    "Asymptotic equivalence of Bayes cross validation and WAIC").
    expected: name → theory, from λ and the measured ν̂.  correlation: of WAIC and the Bayes generalisation error.
    """

    means: dict[str, float]
    errors: dict[str, float]
    expected: dict[str, float]
    correlation: float


def summary(found: Sequence[DataErrors], learning_coefficient: float) -> Summary:
    """Of two data sets or more; ValueError for fewer."""
    if len(found) < 2:
        raise ValueError(f"found has {len(found)} data sets; a standard error needs two.")
    columns = {name: np.array([getattr(each.errors, name) for each in found]) for name in Losses.__dataclass_fields__}
    columns |= {name: np.array([getattr(each, name) for each in found]) for name in ("waic", "wbic", "fluctuation")}
    columns["sum"] = (columns["waic"] + columns["bayes_generalisation"]) / 2
    means = {name: float(column.mean()) for name, column in columns.items()}
    errors = {name: float(column.std(ddof=1) / math.sqrt(len(found))) for name, column in columns.items()}
    expected = vars(generalisation(learning_coefficient, means["fluctuation"], 1))
    expected = {**expected, "waic": learning_coefficient, "sum": learning_coefficient}
    together = np.corrcoef(columns["waic"], columns["bayes_generalisation"])[0, 1]
    return Summary(means, errors, expected, float(together))


def _sampled(problem: DeepLinearNetwork, localization: float, seed: int, sweeps: int) -> tuple[np.ndarray, Tensor]:
    """ΔL of all kept sweeps [T, 2C], the second half of the chains at β = 1/log n, and products less P0 at β = 1, [draws, H_M, H_0]."""
    n_beta = torch.tensor([[1.0], [1 / math.log(problem.n)]], **EXACT) * problem.n
    strength, pull = n_beta.repeat_interleave(CHAINS, 0), torch.full((2 * CHAINS, 1), localization, **EXACT)
    chains = problem.conditionals(strength, pull, seed, symmetries=True)
    burn_in, losses, draws = sweeps * BURN_IN // SWEEPS, [], []
    for sweep in range(sweeps):
        loss = chains.move(adapt=sweep < burn_in)
        if sweep >= burn_in:
            losses.append(loss.numpy())
            if sweep % EVERY == 0:
                draws.append(chains.difference[:CHAINS])
    return np.array(losses), torch.cat(draws)


def _measured(problem: DeepLinearNetwork, draws: Tensor) -> tuple[float, float, float]:
    """Means over rows of −log of the mean likelihood, of the mean loss, and of the loss's variance, above those of P0.

    draws: [T, H_M, H_0].
    """
    inputs, count = problem.widths[0], len(draws)
    rows = problem.data.run(0, problem.n, torch.device("cpu"), torch.float64)
    total = torch.zeros(3, **EXACT)
    for piece in rows.split(max(1, LARGEST // (count * problem.widths[-1]))):
        x, noise = piece[:, :inputs], piece[:, inputs:-1]
        off = x @ draws.mT  # [T, rows, H_M]
        excess = (off * (off - 2 * noise)).sum(dim=2)
        bayes = math.log(count) - torch.logsumexp(-excess, dim=0)
        total += torch.stack([bayes.sum(), excess.mean(dim=0).sum(), excess.var(dim=0).sum()])
    bayes_mean, gibbs_mean, variance = (total / len(rows)).tolist()
    return bayes_mean, gibbs_mean, variance
