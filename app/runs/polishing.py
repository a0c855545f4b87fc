"""Polishing w0 before a visitor's run, in the thread that builds it: as many passes over the data as others can wait for."""

from __future__ import annotations

import time

import torch

from llc_core import Potential
from llc_core.engine.resolve import Resolved
from llc_core.potentials.polishing import PASSES

SECONDS = 45.0
"""Of one of the few threads that build everybody's runs."""
LEAST = 20
"""Passes that are made however long they take."""


def polished(resolved: Resolved) -> Resolved:
    """The run at the local minimum where its configuration asks for that; ValueError where its w0 cannot be moved."""
    if not resolved.config.polish or resolved.polish is not None:
        return resolved
    return resolved.polished(passes_that_fit(resolved.problem))


def passes_that_fit(problem: Potential) -> int:
    """From the time of one pass; the first one also makes what the others use."""
    zero = torch.zeros(1, problem.dim, dtype=torch.float64)
    problem.prepare(zero)
    for _ in range(2):
        started = time.perf_counter()
        problem.excess_loss_and_grad(zero)
        seconds = time.perf_counter() - started
    return max(LEAST, min(PASSES, int(SECONDS / max(seconds, 1e-9))))
