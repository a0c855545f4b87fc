"""Draws of the losses of single rows: what covariances of losses are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from llc_core.fields import hyper, short, whole
from llc_core.observables.base import gives_samples, register
from llc_core.observables.draws.kept_rows import MOST_DRAWS, KeptRows
from llc_core.observables.look import ROWS, Group, Look, RunShape
from llc_core.potentials.base import Potential
from llc_core.potentials.module.network import NetworkPotential
from llc_core.potentials.module.other_rows import of_rows

Losses = Callable[[Tensor], Tensor]
SCATTERED = 16
"""Rows in more runs than this are picked from all: so many calls would cost more."""


def _numbers(label: str, value: Any) -> list[int]:
    if not isinstance(value, list | tuple):
        raise ValueError(f"{label} is {short(value)}; give a list of numbers of rows.")
    found = [whole(f"{label}[{at}]", each, 0) for at, each in enumerate(value)]
    if len(set(found)) < len(found):
        raise ValueError(f"{label} names a row twice; name each once.")
    return found


@register
@dataclass
class RowLosses(KeptRows):
    """Losses of single rows along every chain, not less those at w0: draws [T, C, R + P] in nats, all of a draw at the same weights.

    rows: R numbers of rows, as the data that were given count them; empty: all.  probes: whether the P rows of the run's second
    potential come behind them (`estimate(observable=with_rows(problem, batch))` for networks); without one P is 0.
    A row with tokens has one loss. Probe rows that repeat it, each with one label that counts, keep the losses of its tokens.

    `read` gives beside draws and steps: rows [R], and beta = nβ/(number of rows), with which the loss of one row enters the potential.
    """

    needs_samples = True

    every: int = 10
    most: int = hyper(1024, 16, MOST_DRAWS)
    rows: Sequence[int] = hyper((), read=_numbers)
    probes: bool = hyper(True)

    def check(self, problem: Potential, second: Potential | None) -> None:
        super().check(problem, second)
        if problem.data_sets > 1:
            raise ValueError(f"{self.name} needs one data set, and the problem has {problem.data_sets}; give one.")
        if self.rows and max(self.rows) >= problem.samples:
            raise ValueError(
                f"{self.name}.rows names row {max(self.rows)}, but the data have {problem.samples:,}; count from 0."
            )
        if self.probes and second is not None and (not gives_samples(second) or second.data_sets > 1):
            raise ValueError(
                f"{self.name} cannot keep single rows of a second problem of kind {second.kind}; set probes to False."
            )

    def numbers(self, problem: Potential) -> int:
        return len(self.rows) or problem.samples

    def kept_of_second(self, chains: int, second: Potential) -> int:
        return self.room(chains) * second.samples if self.probes else 0

    def begin(self, setup: RunShape) -> None:
        super().begin(setup)
        self._samples = setup.problem.samples
        self._losses = [losses_of(setup.problem, self.rows)]
        if self.probes and setup.second is not None:
            self._losses.append(losses_of(setup.second, ()))

    def measure(self, seen: Look) -> Tensor:
        return torch.cat([each(seen.delta) for each in self._losses], dim=1)

    def read(self, group: Group) -> dict[str, np.ndarray]:
        found = super().read(group)
        if found:
            found["rows"] = np.array(self.rows or range(self._samples))
            found["beta"] = np.array(group.n_beta / self._samples)
        return found


def losses_of(problem: Potential, rows: Sequence[int]) -> Losses:
    """δ [C, D] → losses [C, R] of these rows, or of all, in the order in which the data were given."""
    order = None
    if isinstance(problem, NetworkPotential):
        # Its rows lie in a drawn order, so that chosen ones are scattered: taken out once, they are one pass.
        if rows:
            problem, rows = of_rows(problem, rows), ()
        order = torch.argsort(problem.data.order)
    runs = _runs(np.array(rows or range(problem.samples)))
    pick = None
    if len(runs) > SCATTERED:
        pick, runs = torch.tensor(list(rows), device="cpu"), [(0, problem.samples)]

    def losses(delta: Tensor) -> Tensor:
        each = max(64, ROWS // len(delta))
        parts = [
            problem.per_sample_loss(delta, at, min(at + each, stop))
            for start, stop in runs
            for at in range(start, stop, each)
        ]
        found = torch.cat(parts, dim=1)
        chosen = order if pick is None else pick
        return found if chosen is None else found[:, chosen.to(found.device)]

    return losses


def _runs(numbers: np.ndarray) -> list[tuple[int, int]]:
    """(start, stop) of consecutive numbers."""
    return [(int(run[0]), int(run[-1]) + 1) for run in np.split(numbers, np.flatnonzero(np.diff(numbers) != 1) + 1)]
