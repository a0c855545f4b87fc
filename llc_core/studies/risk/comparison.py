"""Risks of all methods on some semi-synthetic tasks of one table, beside that of the exact posterior."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from llc_core.fields import whole
from llc_core.references.functions.mixture import SETTLED
from llc_core.studies.risk.predictors import (
    Effort,
    Said,
    descended,
    exact,
    infinitely_wide,
    mala_samplers,
    sampled,
)
from llc_core.studies.risk.task import SemiSynthetic, semi_synthetic

HMC, DESCENT, WIDE, EXACT = "HMC", "gradient descent", "infinitely wide", "exact posterior"


@dataclass(frozen=True)
class Risks:
    """risks, gaps, r_hats: method → [T], of T tasks.  noise: the risk of who knows the network that made the targets.

    A gap is what a method loses above the Bayes risk on average over the exact posterior, given the data of its task; so luck with
    the one network that made the targets is not in it, as it is in the risk.  bayes: [T], Bayes risks.
    """

    risks: Mapping[str, np.ndarray]
    gaps: Mapping[str, np.ndarray]
    r_hats: Mapping[str, np.ndarray]
    bayes: np.ndarray
    noise: float

    @classmethod
    def of(cls, found: Sequence[Mapping[str, Sequence[float]]], bayes: Sequence[float], noise: float) -> Risks:
        """found: for each task, method → (risk, gap, R-hat)."""
        columns = [{name: np.array([each[name][k] for each in found]) for name in found[0]} for k in range(3)]
        return cls(columns[0], columns[1], columns[2], np.array(bayes), noise)

    def mean(self, method: str) -> float:
        """Risk, on average over the tasks."""
        return float(self.risks[method].mean())

    def gap(self, method: str) -> float:
        """Gap to the Bayes risk, on average over the tasks."""
        return float(self.gaps[method].mean())

    @property
    def best_mala(self) -> str:
        """The way of MALA with the least gap."""
        return min((name for name in self.risks if name.startswith("MALA")), key=self.gap)

    @property
    def doubt(self) -> str:
        """Why the gaps are not exact; empty where the chains of the exact posterior agree on every task."""
        r_hat = self.r_hats[EXACT].max()
        if r_hat < SETTLED:
            return ""
        return f"The chains behind the exact posterior do not agree (R-hat {r_hat:.2f}): its gaps order methods at best. Use more moves."

    def __repr__(self) -> str:
        r_hat = self.r_hats[EXACT].max()
        lines = [f"noise {self.noise:.4f}, Bayes risk {self.bayes.mean():.4f} (R-hat of its chains {r_hat:.2f})"]
        for name in self.risks:
            lines.append(f"{name:30} risk {self.mean(name):.4f}, gap {self.gap(name):.4f}")
        lines += [self.doubt] if self.doubt else []
        return "\n".join(lines)


def semi_synthetic_risk(
    inputs: Any,
    tasks: int = 3,
    chains: int = 16,
    gradients: int = 1_000,
    moves: int = 1_500,
    seed: int = 0,
    **task: Any,
) -> Risks:
    """Compare MALA (three ways), HMC in prior coordinates, an ensemble of gradient descent and the infinitely wide network with
    the exact posterior, on `tasks` networks that make the targets.

    inputs, task: as of `llc_core.semi_synthetic`.  gradients: of each chain, the same for all methods.  moves: of the chains of
    hidden layers behind the exact posterior (collapsed pCN; under a Laplace likelihood its noise is a mixture of normal ones).
    Raises ValueError, one sentence, for what does not fit.
    """
    effort = Effort(
        whole("chains", chains, 2, 1_000), whole("gradients", gradients, 100, 10**6), whole("moves", moves, 100, 10**6)
    )
    found = [
        measured(one, effort, number)
        for number in range(seed, seed + whole("tasks", tasks, 1, 1_000))
        for one in [semi_synthetic(inputs, seed=number, **task)]
    ]
    return Risks.of([each for each, _ in found], [bayes for _, bayes in found], semi_synthetic(inputs, **task).noise)


def measured(task: SemiSynthetic, effort: Effort, seed: int) -> tuple[dict[str, tuple[float, float, float]], float]:
    """Method → (risk, gap, R-hat) on one task, and its Bayes risk."""
    truth = exact(task, effort, seed)
    bayes = task.expected_risk(task.best_of(truth.draws), truth.draws)
    rows = {}
    for name, said in [*each_method(task, effort, seed), (EXACT, truth)]:
        predicted = task.best_of(said.draws)
        rows[name] = task.risk(predicted), task.expected_risk(predicted, truth.draws) - bayes, said.r_hat
    return rows, bayes


def each_method(task: SemiSynthetic, effort: Effort, seed: int) -> Iterator[tuple[str, Said]]:
    """What each but the exact posterior says, one after the other."""
    ways: dict[str, Callable[[], Said]] = {
        name: partial(sampled, task, sampler, effort, seed) for name, sampler in mala_samplers(task.problem).items()
    }
    ways[HMC] = partial(sampled, task, {"name": "SplitHMC"}, effort, seed)
    ways[DESCENT] = partial(descended, task, effort, seed)
    ways[WIDE] = partial(infinitely_wide, task, seed)
    for name, way in ways.items():
        yield name, way()
