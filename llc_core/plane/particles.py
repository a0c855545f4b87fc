"""Groups of particles that push each other on a surface over the plane: SVGD and SPOS."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from llc_core.compute.streams import numpy_stream
from llc_core.fields import number, short, whole
from llc_core.interactions import build
from llc_core.interactions.stein_variational import SteinVariational
from llc_core.plane.pushing import pusher
from llc_core.plane.run import CELLS, MAX_STEPS, PlaneSnapshot
from llc_core.potentials.plane.surfaces import Surface, surface
from llc_core.samplers.sgld import SGLD

CHUNK = 64
"""Steps whose normals are drawn at once, so that numbers do not depend on how a run is cut."""
ABOVE_ZERO = 1e-6
"""Added to the root of AdaGrad's mean, as in the program of Liu & Wang 2016."""


class ParticleRun:
    """R independent trials of P particles w ← w − (ε/2)·φ(w) + √(ετ)·N(0, 1), φ of `SteinVariational.force`; `advance` by hand.

    As `PlaneRun`, whose arguments it takes and whose snapshots it gives: every particle costs a gradient at each step, and all
    of them are counted. Where the interaction has `members`, a trial is of groups that do not see each other.
    starts: None: at w0 plus `spread` of a standard normal, within the box; "box": uniform over it.
    memory: of AdaGrad: φ is divided by the root of a mean of φ² that keeps this share of itself at each step; 0: φ as it is.
    ValueError says what does not fit.
    """

    def __init__(
        self,
        sampler: SGLD,
        target: Surface | Mapping[str, Any] | str,
        interaction: SteinVariational | Mapping[str, Any] | str,
        *,
        chains: int = 100,
        trials: int = 1,
        steps: int,
        count_from: int = 0,
        starts: str | None = None,
        memory: float = 0.0,
        cells: int = CELLS,
        seed: int = 0,
    ):
        self.target = target if isinstance(target, Surface) else surface(target)
        made = build(interaction)
        if not isinstance(made, SteinVariational):
            raise ValueError(f"{made.name} has no particles; use PlaneRun.")
        if not isinstance(sampler, SGLD) or sampler.step_size is None:
            raise ValueError("Particles move by the steps of SGLD with a number for step_size, for example 0.05.")
        if starts not in (None, "box"):
            raise ValueError(f"starts is {short(starts)}; particles begin around w0, or give 'box'.")
        self.sampler, self.interaction = sampler, made
        self.step_size = number("step_size", sampler.step_size)
        self.chains = whole("chains", chains, 2, 10_000)
        self.members = made.members_of(self.chains, 1)
        self.memory = number("memory", memory, 0, below=1)
        self.trials, self.cells = whole("trials", trials, 1, 10_000), whole("cells", cells, 1, 1000)
        self.total_steps = whole("steps", steps, 1, MAX_STEPS)
        self.count_from = whole("count_from", count_from, 0, self.total_steps)
        self.steps_done, self.seconds = 0, 0.0
        self._random = [numpy_stream(seed, f"plane/particles/{k}") for k in range(self.trials)]
        self.half = 2.5 if self.target.box is None else self.target.box
        self._delta = torch.from_numpy(self._first(uniform=starts == "box"))
        self._square: torch.Tensor | None = None
        self._counts = np.zeros((self.trials, self.cells, self.cells))
        self._used = CHUNK
        self._trail: list[np.ndarray] = []
        self._loss: list[np.ndarray] = []

    def _first(self, uniform: bool) -> np.ndarray:
        """[R, P, 2], seen from w0."""
        shape, half = (self.chains, 2), self.half
        if uniform:
            return np.stack([random.uniform(-half, half, shape) for random in self._random]) - self.target.w0
        spread = np.stack([random.standard_normal(shape) for random in self._random]) * self.interaction.spread
        if self.target.box is not None:
            spread = np.clip(spread, -half - self.target.w0, half - self.target.w0)
        return spread

    @property
    def finished(self) -> bool:
        return self.steps_done >= self.total_steps

    def advance(self, steps: int) -> PlaneSnapshot:
        """Do up to `steps` more steps of every trial and report them."""
        started = time.perf_counter()
        self._trail, self._loss = [], []
        for _ in range(min(whole("steps", steps, 0), self.total_steps - self.steps_done)):
            self._step()
        self.seconds += time.perf_counter() - started
        return self.snapshot()

    def _step(self) -> None:
        if self._used == CHUNK:
            drawn = [random.standard_normal((CHUNK, self.chains, 5)) for random in self._random]
            self._normals, self._used = torch.from_numpy(np.stack(drawn, axis=1)), 0
        normals = self._normals[self._used]
        self._used += 1
        delta, target = self._delta, self.target
        loss, grad = target.excess_loss_and_grad(delta.reshape(-1, 2))
        loss = loss.reshape(self.trials, self.chains) + target.noise * normals[..., 0]
        grad = grad.reshape(delta.shape) + target.noise * normals[..., 1:3]
        self._look(delta.numpy() + target.w0, loss.numpy())
        apart, own = (-1, self.members, 2), self.interaction
        slopes = (target.n_beta * grad).reshape(apart).numpy()
        pushed = pusher()(delta.reshape(apart).numpy(), slopes, float(own.bandwidth), float(own.temperature))
        force = torch.from_numpy(pushed).reshape(delta.shape)
        if self.memory:
            now = force.square()
            self._square = now if self._square is None else torch.lerp(now, self._square, self.memory)
            force = force / (ABOVE_ZERO + self._square.sqrt())
        moved = delta - self.step_size / 2 * force
        if self.interaction.temperature:
            moved = moved + (self.step_size * self.interaction.temperature) ** 0.5 * normals[..., 3:]
        inside = target.inside(moved.reshape(-1, 2))
        if inside is not None:
            moved = torch.where(inside.reshape(self.trials, self.chains, 1), moved, delta)
        self._delta = moved
        self.steps_done += 1

    def _look(self, places: np.ndarray, loss: np.ndarray) -> None:
        self._trail.append(places)
        self._loss.append(loss)
        if self.steps_done < self.count_from:
            return
        n = self.cells
        cell = np.floor((places + self.half) * (n / (2 * self.half)))
        inside = np.all((cell >= 0) & (cell < n), axis=2)
        for trial in range(self.trials):
            kept = cell[trial][inside[trial]].astype(int)
            row, column = kept[:, 0], kept[:, 1]
            self._counts[trial] += np.bincount(row * n + column, minlength=n * n).reshape(n, n)

    def snapshot(self) -> PlaneSnapshot:
        """What there is to see now, copied."""
        empty = np.zeros((self.trials, 0, self.chains))
        trail = np.stack(self._trail, axis=1) if self._trail else np.zeros((*empty.shape, 2))
        loss = np.stack(self._loss, axis=1) if self._loss else empty
        same = np.broadcast_to(np.arange(self.chains), loss.shape)
        return PlaneSnapshot(
            self.steps_done,
            self.total_steps,
            self.steps_done * self.chains,
            self._counts.copy(),
            trail,
            np.ones_like(loss),
            loss,
            np.ones_like(loss),
            same,
            np.zeros((self.trials, 0)),
            self.seconds,
        )
