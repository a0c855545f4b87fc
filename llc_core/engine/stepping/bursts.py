"""Chains that an automatic step throws out are put back.

A step size is frozen after burn-in. A chain may later come to places much steeper than those where the step was measured.
The integrator is unstable there: the loss doubles at every step, until the chain is so far out that it comes back. A few
dozen such steps have raised λ̂ of a run by half. R-hat, which reads ranks, hardly sees them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from llc_core.types import State

Array = np.ndarray[Any, Any]

WINDOW = 100
"""Steps between the places that a chain may be put back to."""
UNDONE_STEPS = 1.5 * WINDOW
"""Steps that a chain loses when it is put back, on average."""
SHORTEST = 5 * WINDOW
"""In runs with a shorter burn-in the loss may still be rising fast: nothing is put back."""
ROOM, TIMES = 100.0, 10.0
CALM = 0.1
"""Share of the way to the ceiling that a window must stay below for its beginning to be a place to come back to."""
TRIES = 20
"""A chain goes back to one place at most so often; after that it is left alone."""
NOTES = 10


def ceiling(level: Array, dim: int) -> Array:
    """A value that nβ·ΔL of a sound chain does not reach, if it is mostly near `level`.

    At equilibrium nβ·ΔL varies as a gamma distribution does; where w0 is no minimum, as one whose mean is below `dim`. The steps of a
    burst that lie below the ceiling stay in λ̂ and add about 3·ceiling/(chains·steps) to it.
    """
    return level + ROOM + TIMES * np.maximum(level, math.sqrt(dim))


class Bursts:
    """Looks at every chain's loss from step `first` on, and puts a chain back whose loss is above its `ceiling`.

    The chain goes back to where it was at least WINDOW steps before, mostly one to two windows. It starts there at rest, and
    meets other noise.

    n_beta: [C, 1].  counted_from: step from which on `count` counts how often each chain was put back, [C].
    notes: sentences for the user are added to it.
    """

    def __init__(self, n_beta: Tensor, dim: int, first: int, counted_from: int, notes: list[str]):
        self.n_beta, self.dim, self.first, self.notes = n_beta.squeeze(1).double().numpy(), dim, first, notes
        chains = len(n_beta)
        self.counted_from = counted_from
        self.count = np.zeros(chains, dtype=int)
        self._window = np.zeros((WINDOW, chains))
        self._level = np.full(chains, -np.inf)
        self._ceiling = np.full(chains, np.inf)
        self._proven: State | None = None
        self._candidate: State | None = None
        self._has_proven = np.zeros(chains, dtype=bool)
        self._thrown = np.zeros(chains, dtype=bool)
        self._tries = np.zeros(chains, dtype=int)
        self._noted = 0

    def count_from(self, step: int) -> None:
        """Count anew, from this step on."""
        self.counted_from = step
        self.count[:] = 0

    def look(self, step: int, state: State, loss: Tensor) -> State:
        """loss: ΔL [C] at `state`, before step number `step`. Returns the state to go on from. Where a chain was put back it is
        another one, whose loss must be evaluated anew."""
        if step < self.first:
            return state
        place = (step - self.first) % WINDOW
        energy = np.multiply(self.n_beta, loss.numpy(), out=self._window[place])
        if not (energy <= self._ceiling).all():  # a loss that is not a number is not below either
            state = self._put_back(step, state, energy)
        if place == WINDOW - 1:
            self._mark(state)
        return state

    def _mark(self, state: State) -> None:
        """The end of a window. A chain may be put back to where a calm window began: an end may be the beginning of a burst."""
        # A burst is short, so the median does not see it. A chain that was dead before has no level, and is not put back.
        level = np.median(self._window, axis=0)
        self._level = np.where(np.isfinite(level), np.maximum(self._level, level), self._level)
        self._ceiling = ceiling(self._level, self.dim)
        with np.errstate(invalid="ignore"):
            calm = self._window.max(axis=0) < self._level + CALM * (self._ceiling - self._level)
        calm &= ~self._thrown
        self._thrown[:] = False
        if self._proven is None or self._candidate is None:
            self._proven = self._candidate = {name: value.clone() for name, value in state.items()}
            return
        self._proven = _choose(calm, self._candidate, self._proven)
        self._candidate = _choose(calm, state, self._proven)
        self._has_proven |= calm
        self._tries[calm] = 0

    def _put_back(self, step: int, state: State, energy: Array) -> State:
        thrown = ~(energy <= self._ceiling) & self._has_proven & (self._tries < TRIES)
        if self._proven is None or not thrown.any():
            return state
        self._thrown |= thrown
        self._tries += thrown
        if step >= self.counted_from:
            self.count += thrown
        if self._noted < NOTES:
            self._noted += 1
            worst = float(np.nan_to_num(energy[thrown], nan=math.inf).max())
            self.notes.append(
                f"Step {step}: nβ·ΔL of a chain burst to {worst:.3g}, which no posterior has. The chain was reset."
            )
        energy[thrown] = self._level[thrown]
        at_rest = {name: torch.zeros_like(v) if name == "momentum" else v for name, v in self._proven.items()}
        return _choose(thrown, at_rest, state)


def _choose(rows: Array, yes: State, no: State) -> State:
    """The chains of `rows` from one state, the others from another; new tensors."""
    chosen = torch.from_numpy(rows)
    return {n: torch.where(chosen.view(-1, *[1] * (v.dim() - 1)), yes[n], v) for n, v in no.items()}
