"""What a run leaves behind for the screen: two tables of bounded length, written by one thread and read by many."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from llc_core import Snapshot

MAX_ROWS = 1500
"""Two or three rows for each pixel of a figure; more would only cost time in the browser."""
RECENT_ROWS = 75
"""Rows in the moving average: 5% of a whole run."""


@dataclass(frozen=True)
class Cursor:
    """How far a reader has got."""

    losses: int = 0
    estimates: int = 0
    generation: int = 0


@dataclass(frozen=True)
class NewRows:
    """Rows that a reader has not seen yet (copies).

    steps [T], losses [T, C]: nβ·ΔL of every chain.  recent [T]: moving average over steps and living chains.
    at [K], llc [K], se [K]: running λ̂ with its standard error, from the first step after burn-in on.
    again: they replace all rows that the reader has, because the run was made longer.
    place: w − w0 of the first chain now [D], where it is kept.
    """

    cursor: Cursor
    steps: np.ndarray
    losses: np.ndarray
    recent: np.ndarray
    at: np.ndarray
    llc: np.ndarray
    se: np.ndarray
    again: bool = False
    place: np.ndarray | None = None


class History:
    """Rows are only added, except in `go_on`. They are evenly thinned, so that they cover a run of any length."""

    def __init__(self, chains: int, total_steps: int):
        self._generation = 0
        self.place: np.ndarray | None = None
        self._make(chains, total_steps)

    def _make(self, chains: int, total_steps: int) -> None:
        self.stride = max(1, math.ceil(total_steps / MAX_ROWS))
        rows = total_steps // self.stride + 2
        self._steps = np.zeros(rows, dtype=np.int64)
        self._losses = np.full((rows, chains), np.nan)
        self._recent = np.full(rows, np.nan)
        self._estimates = np.full((rows, 3), np.nan)
        self._count = 0
        self._estimate_count = 0
        self._last_slot = -1
        self._next_estimate = 0

    def go_on(self, total_steps: int, burn_in: int) -> None:
        """The run will have so many steps in all: keep rows for a picture of the whole, and estimates from after burn-in."""
        steps, losses, recent = (a[: self._count] for a in (self._steps, self._losses, self._recent))
        estimates = self._estimates[: self._estimate_count]
        self._make(losses.shape[1], total_steps)
        self._generation += 1
        slots = steps // self.stride
        kept = np.diff(slots, prepend=-1) > 0
        self._count = int(kept.sum())
        for table, rows in ((self._steps, steps), (self._losses, losses), (self._recent, recent)):
            table[: self._count] = rows[kept]
        if self._count:
            self._last_slot = int(slots[-1])
        for row in estimates[estimates[:, 0] > burn_in]:
            if row[0] >= self._next_estimate:
                self._estimates[self._estimate_count] = row
                self._estimate_count += 1
                self._next_estimate = int(row[0]) + self.stride

    def add(self, snapshot: Snapshot, se: float = math.nan) -> None:
        """Take a snapshot. se: the standard error to show when there are too few chains to see it from their spread."""
        self._add_losses(snapshot)
        # The first few averages jump about and would only stretch the axis.
        shown_from = snapshot.burn_in + (snapshot.total_steps - snapshot.burn_in) // 50
        # The last estimate is always kept, because the verdict is about it.
        due = max(self._next_estimate, shown_from)
        last = snapshot.steps == snapshot.total_steps and not self._shows(snapshot.steps)
        if (snapshot.steps >= due or last) and self._estimate_count < len(self._estimates):
            living = snapshot.llc[np.isfinite(snapshot.llc)]
            if len(living) and 2 * len(living) >= len(snapshot.llc):
                if len(living) >= 4:
                    se = float(np.std(living, ddof=1) / math.sqrt(len(living)))
                self._estimates[self._estimate_count] = snapshot.steps, living.mean(), se
                self._estimate_count += 1
                self._next_estimate = snapshot.steps + self.stride

    def judged(self, steps: int, se: float) -> None:
        """The run was judged after so many steps: where the last average is from there, its error is the verdict's."""
        if self._shows(steps) and self._estimates[self._estimate_count - 1, 0] == steps:
            self._estimates[self._estimate_count - 1, 2] = se

    def _shows(self, steps: int) -> bool:
        return bool(self._estimate_count) and self._estimates[self._estimate_count - 1, 0] >= steps

    def _add_losses(self, snapshot: Snapshot) -> None:
        slots = snapshot.recorded // self.stride
        fresh = np.diff(slots, prepend=self._last_slot) > 0
        room = len(self._steps) - self._count
        chosen = np.flatnonzero(fresh)[:room]
        if not len(chosen):
            return
        self._last_slot = int(slots[chosen[-1]])
        new = slice(self._count, self._count + len(chosen))
        self._steps[new] = snapshot.recorded[chosen]
        self._losses[new] = snapshot.excess_loss[chosen] * snapshot.n_beta
        self._count = new.stop
        for row in range(new.start, new.stop):
            self._recent[row] = _mean(self._losses[max(0, row + 1 - RECENT_ROWS) : row + 1])

    def since(self, cursor: Cursor) -> NewRows:
        again = cursor.generation != self._generation
        if again:
            cursor = Cursor()
        new, late = slice(cursor.losses, self._count), slice(cursor.estimates, self._estimate_count)
        return NewRows(
            cursor=Cursor(self._count, self._estimate_count, self._generation),
            steps=self._steps[new].copy(),
            losses=self._losses[new].copy(),
            recent=self._recent[new].copy(),
            at=self._estimates[late, 0].copy(),
            llc=self._estimates[late, 1].copy(),
            se=self._estimates[late, 2].copy(),
            again=again,
            place=self.place,
        )


def _mean(values: np.ndarray) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if len(finite) else math.nan
