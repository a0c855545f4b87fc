"""Data sets one after the other, as a job of the run manager."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from app.runs.account import account
from app.runs.allowance import allowance
from app.runs.job import Job
from app.runs.tasks import TaskJob
from llc_core import DeepLinearNetwork
from llc_core.studies.data_errors import bytes_needed, data_errors, prior_free_energy

DATA_SETS = 24
MOST_WEIGHTS, MOST_FOR_FREE_ENERGY = 500, 60
"""Weights: the exact draws of larger networks take minutes, and a ladder from the prior takes a hundred times as long as one posterior."""


def work(problem: DeepLinearNetwork, n: int) -> Callable[[], Job]:
    """What makes the job, in a thread of the manager. Raises ValueError, one sentence, for networks that take too much."""
    need = bytes_needed(problem.widths, n)
    if problem.dim > MOST_WEIGHTS:
        raise ValueError(
            f"This network has {problem.dim:,} weights; this section takes up to {MOST_WEIGHTS:,}. Choose smaller layers."
        )
    if need > allowance() * 2**20:
        raise ValueError(
            f"This needs {need / 2**20:,.0f} MB, but this server gives each run {allowance():,.0f} MB. Choose smaller layers."
        )
    return partial(ErrorsJob, problem, n, need)


class ErrorsJob(TaskJob):
    """One data set after the other; of small networks a ladder from the prior at the end."""

    def __init__(self, problem: DeepLinearNetwork, n: int, need: float):
        self._claim = account().claim(need, "This comparison")  # as long as the job
        tasks: list[Callable[[], Any]] = [partial(data_errors, problem, n, seed) for seed in range(DATA_SETS)]
        if problem.dim <= MOST_FOR_FREE_ENERGY:
            tasks.append(partial(prior_free_energy, problem, n, 0))
        super().__init__(tasks)
