"""Risks of all methods on some semi-synthetic tasks of one table, beside that of the exact posterior."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from llc_core.fields import whole
from llc_core.references.functions.mixture import SETTLED
from llc_core.studies.risk.predictors import (
    Effort,
    Pieces,
    descended,
    exact,
    infinitely_wide,
    mala_samplers,
    sampled,
)
from llc_core.studies.risk.task import SemiSynthetic, semi_synthetic

HMC, DESCENT, WIDE, EXACT = "HMC", "gradient descent", "infinitely wide", "exact posterior"
Found = tuple[float, float, float]
"""Of one method on one task: risk, gap, R-hat."""


@dataclass(frozen=True)
class Risks:
    """risks, gaps, r_hats: method → [T], of T tasks.  noise: the risk of who knows the network that made the targets.

    A gap is what a method loses above the Bayes risk on average over the exact posterior, given the data of its task; so luck with
    the one network that made the targets is not in it, as it is in the risk. Averaged over networks drawn from the prior both
    differ from method to method by the same.  bayes: [T], Bayes risks.
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

    def gap_se(self, method: str) -> float:
        """Its standard error over the networks that made the targets; nan for one task."""
        return standard_error(self.gaps[method])

    def over(self, method: str, other: str, of_gaps: bool = True) -> tuple[float, float]:
        """How much more one loses than the other, on average over the tasks, and its standard error: task by task, so that what is
        hard about a task is in neither. of_gaps: False for the risks."""
        values = self.gaps if of_gaps else self.risks
        apart = values[method] - values[other]
        return float(apart.mean()), standard_error(apart)

    @property
    def malas(self) -> list[str]:
        return [name for name in self.risks if name.startswith("MALA")]

    @property
    def best_mala(self) -> str:
        """The way of MALA with the least gap."""
        return min(self.malas, key=self.gap)

    @property
    def doubt(self) -> str:
        """Why the gaps are not exact; empty where the chains of the exact posterior agree on every task."""
        r_hat = self.r_hats[EXACT].max()
        if r_hat < SETTLED:
            return ""
        return f"The chains behind the exact posterior do not agree (R-hat {r_hat:.2f}): its gaps order methods at best. Use more moves."

    def __repr__(self) -> str:
        r_hat = self.r_hats[EXACT].max()
        lines = [
            f"{len(self.bayes)} networks, noise {self.noise:.4f}, Bayes risk {self.bayes.mean():.4f} ± "
            f"{standard_error(self.bayes):.4f} (R-hat of its chains {r_hat:.2f})"
        ]
        for name in self.risks:
            lines.append(f"{name:30} risk {self.mean(name):.4f}, gap {self.gap(name):.4f} ± {self.gap_se(name):.4f}")
        lines += [self.doubt] if self.doubt else []
        return "\n".join(lines)


def standard_error(values: np.ndarray) -> float:
    """Of the mean of independent values; nan for one."""
    return float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan


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
    hidden layers behind the exact posterior (collapsed pCN; under a Laplace likelihood its noise is a mixture of normal ones), up
    to four times as many where they do not agree before.
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
    return Risks.of([each.rows for each in found], [each.bayes for each in found], found[0].task.noise)


def measured(task: SemiSynthetic, effort: Effort, seed: int) -> TaskRisks:
    """All of one task."""
    work = TaskRisks(task, effort, seed)
    while not work.finished:
        work.advance()
    return work


class TaskRisks:
    """Risks of all methods on one task, worked out in pieces.

    rows: method → risk, gap, R-hat, as they become known.  bayes: the Bayes risk, nan before it is known, which is first.
    """

    def __init__(self, task: SemiSynthetic, effort: Effort, seed: int):
        self.task, self.rows, self.bayes, self.finished = task, dict[str, Found](), math.nan, False
        self._pieces = self._all(effort, seed)

    def advance(self) -> None:
        """One piece: ten iterations, or moves."""
        self.finished = next(self._pieces, False) is False

    def _all(self, effort: Effort, seed: int) -> Iterator[None]:
        task = self.task
        truth = yield from exact(task, effort, seed)
        self.bayes = task.expected_risk(task.best_of(truth.draws), truth.draws)
        for name, method in each_method(task, effort, seed).items():
            said = yield from method
            predicted = task.best_of(said.draws)
            self.rows[name] = (
                task.risk(predicted),
                task.expected_risk(predicted, truth.draws) - self.bayes,
                said.r_hat,
            )
        self.rows[EXACT] = task.risk(task.best_of(truth.draws)), 0.0, truth.r_hat


def each_method(task: SemiSynthetic, effort: Effort, seed: int) -> dict[str, Pieces]:
    """All but the exact posterior; a generator does nothing before it is asked."""
    return {
        **{name: sampled(task, sampler, effort, seed) for name, sampler in mala_samplers(task.problem).items()},
        HMC: sampled(task, {"name": "SplitHMC"}, effort, seed),
        DESCENT: descended(task, effort, seed),
        WIDE: infinitely_wide(task, seed),
    }
