"""One trial of a run on the plane: what its compiled loop changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from llc_core.compute.streams import numpy_stream
from llc_core.interactions.replica_exchange import CORRECTED_EVERY
from llc_core.plane.columns import first_state

CHUNK = 512
"""Steps whose normals are drawn at once, so that numbers do not depend on how a run is cut."""


class PlaneGroup:
    """Places, memories and what is shared of one trial; run: its `PlaneRun`."""

    def __init__(self, run: Any, seed: int, trial: int, places: np.ndarray):
        self.run, self.places = run, places
        self.random, self._energies = (numpy_stream(seed, f"{name}/{trial}") for name in ("plane", "energies"))
        self._samples = getattr(run.interaction, "energy_samples", 0)
        self.columns = run.columns
        state = first_state(run.sampler, self.random.standard_normal(places.shape))
        memories = [state[name].numpy().copy() for name in self.columns.memories]
        self.a, self.b = [*memories, np.zeros_like(places), np.zeros_like(places)][:2]
        self.turns = self.columns.memories.index("momentum") if "momentum" in self.columns.memories else -1
        self.counts = np.zeros((run.cells, run.cells))
        self.q = np.zeros(1) if run.twin is None else run.twin.q
        self.vector = np.zeros(1) if run.twin is None else run.twin.vector.copy()
        self.counted = np.zeros(run.chains, bool)
        self.counted[: 1 if run.by_levels else None] = True
        self.trail, self.heat = np.zeros((0, run.chains, 2)), np.zeros((0, run.chains))
        self.loss, self.weights, self.order = self.heat, self.heat, self.heat.astype(np.int64)
        self._used = CHUNK

    def _draw(self) -> None:
        chains = self.run.chains
        self._normals = self.random.standard_normal((CHUNK, chains, 2))
        noise = self.run.target.noise
        self._noise = noise * self.random.standard_normal((CHUNK, chains, 3)) if noise else np.zeros((CHUNK, chains, 3))
        self._uniform = 1 - self.random.random((CHUNK, chains)) if self.run.by_levels else np.ones((CHUNK, chains))
        self._used = 0

    def advance(self, done: int, steps: int) -> None:
        run = self.run
        while steps > 0:
            if self._used == CHUNK:
                self._draw()
            count = min(steps, CHUNK - self._used)
            self.trail, self.heat, self.loss, self.weights = (
                np.empty((count, run.chains, *more)) for more in ((2,), (), (), ())
            )
            self.order = np.empty((count, run.chains), np.int64)
            for piece in self._pieces(done, count):
                self._move(done, piece)
            self._used += count
            done += count
            steps -= count

    def _pieces(self, done: int, count: int) -> Iterator[slice]:
        """The next steps, cut before those at which energies are drawn again, which is done there."""
        if not self._samples:
            yield slice(0, count)
            return
        first = 0
        while first < count:
            if (done + first) and (done + first) % CORRECTED_EVERY == 0:
                self._estimate((done + first) // CORRECTED_EVERY)
            last = min(count, first + CORRECTED_EVERY - (done + first) % CORRECTED_EVERY)
            yield slice(first, last)
            first = last

    def _estimate(self, look: int) -> None:
        """From energies drawn again at each place but the hottest's; what they have in common cancels in their variance."""
        noise = self.run.target.noise * self._energies.standard_normal((self.run.chains - 1, self._samples))
        self.vector[1] = self.run.interaction.learned(self.vector[1], self.run.n_beta[0] * noise, look)

    def _move(self, done: int, piece: slice) -> None:
        """Through the compiled loop."""
        target, run = self.run.target, self.run
        half = 2.5 if target.box is None else target.box
        part = slice(self._used + piece.start, self._used + piece.stop)
        run.kernel(
            target.parameters,
            target.bottom,
            target.w0,
            np.inf if target.box is None else target.box,
            self.columns.fixed,
            self.columns.per_heat,
            self.places,
            self.a,
            self.b,
            self.turns,
            self._normals[part],
            self._noise[part],
            self._uniform[part],
            run.n_beta,
            self.q,
            self.vector,
            self.columns.table,
            done + piece.start,
            run.count_from,
            self.counted,
            -half,
            2 * half / run.cells,
            self.counts,
            self.trail[piece],
            self.heat[piece],
            self.loss[piece],
            self.weights[piece],
            self.order[piece],
        )
