"""Both sides of a comparison as a job of the run manager: chains on the plane, stepped to equal numbers of gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from app.pages.many_modes.config import CELLS, FINE, SIDES, TWO_BASINS, ModesConfig
from app.pages.many_modes.scene import BETWEEN, get_scene
from llc_core.interactions import ReplicaExchange, SteinVariational
from llc_core.plane import PlaneRun
from llc_core.plane.exact import kl_of_cells
from llc_core.plane.group import CHUNK
from llc_core.plane.particles import ParticleRun
from llc_core.samplers import SGLD

TRAIL, THIN, MOST_SHOWN = 160, 3, 1600
"""Places of each chain that are shown, every third step; and those of all chains."""
INDEX = 120
"""Steps of the index process that are shown."""
GROWTH = 1.025
"""Between two rows of the log, so that they lie evenly on a logarithmic axis."""
FIRST_ROW = 2000


@dataclass(frozen=True)
class SideProgress:
    """One side so far. R trials of P chains; the first trial is the one that is watched.

    line: [R, P] on the surface of two basins: share of each level's counted places with x > ½; else empty.
    order: [N, P] of a ladder: which copy was at each level at each of its last N steps; else empty.
    gradients: spent by one trial.  kl: [R], nan before the first count.  counts: [50, 50] weights of the watched trial, first index along x.
    trail: [T, P, 2] its last places.  heat: [T, P] their multipliers.  shared: [R, ·] see `llc_core.interactions.base.Twin`.
    kish: [R] the weights' (Σw)²/(nΣw²).  turned: share of all chains' steps whose multiplier was below 0.
    """

    gradients: int
    kl: np.ndarray
    counts: np.ndarray
    trail: np.ndarray
    heat: np.ndarray
    shared: np.ndarray
    order: np.ndarray
    line: np.ndarray
    kish: np.ndarray
    turned: float

    def masses(self) -> np.ndarray:
        """[5, 5] of the watched trial; nan before the first count."""
        cells = coarse(self.counts[None])[0]
        with np.errstate(invalid="ignore"):
            return cells / cells.sum()


@dataclass(frozen=True)
class ModesProgress:
    """steps: gradients of one trial on each side, but for less than one step of its chains."""

    steps: int
    total_steps: int
    left: SideProgress
    right: SideProgress
    notes: tuple[str, ...] = ()

    def side(self, side: str) -> SideProgress:
        return self.left if side == "left" else self.right


def coarse(counts: np.ndarray) -> np.ndarray:
    """[R, 5, 5] of counts [R, 50, 50]."""
    each = FINE // CELLS
    return counts.reshape(len(counts), CELLS, each, CELLS, each).sum(axis=(2, 4))


def plane_run(config: ModesConfig, side: str, trials: int | None = None) -> PlaneRun | ParticleRun:
    """The run of one side, as the page makes it."""
    own, made = getattr(config, side), config.made(side)
    common: dict[str, Any] = {
        "chains": config.chains(side),
        "trials": config.trials if trials is None else trials,
        "steps": config.steps(side),
        "count_from": config.first_counted(side),
        "starts": config.starts(side),
        "cells": FINE,
        "seed": config.seed,
    }
    sampler = SGLD(step_size=own["step_size"])
    if isinstance(made, SteinVariational):
        return ParticleRun(sampler, config.target, made, **common)
    return PlaneRun(sampler, config.target, made, **common)


def warm_up(config: ModesConfig) -> None:
    """Compile what both sides need; numbers of a run do not change."""
    for side in SIDES:
        plane_run(config, side, trials=1).advance(2)


class SideRun:
    """One side, stepped in pieces whose every step is seen, so that sums over weights leave none out."""

    def __init__(self, config: ModesConfig, side: str, masses: np.ndarray):
        self._masses = masses
        self.run = plane_run(config, side)
        self._ladder = isinstance(self.run.interaction, ReplicaExchange)
        trials = config.trials
        self._sum, self._squares, self._number = np.zeros(trials), np.zeros(trials), 0
        self._turned = self._seen = 0
        self._kept = max(2, min(TRAIL, MOST_SHOWN // self.run.chains))
        self._two = config.surface["name"] == TWO_BASINS
        self._line, self._looks = np.zeros((trials, self.run.chains)), 0
        self._copies = np.arange(self.run.chains)
        self._order = np.zeros((0, self.run.chains), np.int64)
        self._trail, self._heat = np.zeros((0, self.run.chains, 2)), np.ones((0, self.run.chains))
        self._last = self.run.snapshot()

    def advance_to(self, gradients: int) -> SideProgress:
        run = self.run
        goal = min(gradients // run.chains, run.total_steps)
        while run.steps_done < goal:
            done = run.steps_done
            self._last = run.advance(min(goal - done, CHUNK - done % CHUNK))
            self._add(done)
        return self.progress()

    def _add(self, done: int) -> None:
        """done: steps before this piece."""
        seen, run = self._last, self.run
        counted = seen.weights[:, max(0, run.count_from - done) :, : 1 if self._ladder else None]
        self._sum += counted.sum(axis=(1, 2))
        self._squares += (counted**2).sum(axis=(1, 2))
        self._number += counted[0].size
        self._turned += int((seen.heat < 0).sum())
        self._seen += seen.heat.size
        if self._two:
            places = seen.trail[:, max(0, run.count_from - done) :, :, 0]
            self._line += (places > BETWEEN).sum(axis=1)
            self._looks += places.shape[1]
        if self._ladder:
            self._follow(seen.order[0])
        every = (-done) % THIN
        self._trail = np.concatenate([self._trail, seen.trail[0, every::THIN]])[-self._kept :]
        self._heat = np.concatenate([self._heat, seen.heat[0, every::THIN]])[-self._kept :]

    def _follow(self, order: np.ndarray) -> None:
        """Which copy is at each level after each step of a piece [T, P]."""
        path = np.empty_like(order)
        for t, row in enumerate(order):
            self._copies = path[t] = self._copies[row]
        self._order = np.concatenate([self._order, path])[-INDEX:]

    def progress(self) -> SideProgress:
        seen = self._last
        cells = coarse(seen.counts)
        with np.errstate(invalid="ignore"):
            kl = kl_of_cells(self._masses, cells / cells.sum(axis=(1, 2), keepdims=True))
            kish = self._sum**2 / (self._number * self._squares)
        line = self._line / self._looks if self._looks else self._line[:, :0]
        turned = self._turned / self._seen if self._seen else 0.0
        return SideProgress(
            seen.gradients, kl, seen.counts[0], self._trail, self._heat, seen.shared, self._order, line, kish, turned
        )


class KlLog:
    """Rows (gradients, then median, lower and upper quartile of KL on the left, and on the right), evenly in log gradients."""

    def __init__(self) -> None:
        self._rows: list[tuple[float, ...]] = []

    def add(self, rows: list[tuple[float, ...]]) -> None:
        self._rows += rows

    def since(self, cursor: int) -> tuple[int, np.ndarray]:
        """The new cursor and the rows after `cursor`, [T, 7]."""
        return len(self._rows), np.array(self._rows[cursor:]).reshape(-1, 7)


class ModesJob:
    """Raises ValueError, in words for the user, for configurations that cannot be run."""

    def __init__(self, config: ModesConfig):
        self.config, self.scene = config, get_scene(config)
        warm_up(config)  # here and not at the first block, which all runs would wait for
        self._sides = {side: SideRun(config, side, self.scene.masses) for side in SIDES}
        self._done, self._next = 0, FIRST_ROW
        self._rows: list[tuple[float, ...]] = []
        self.log = KlLog()

    @property
    def finished(self) -> bool:
        return self._done >= self.config.gradients

    def advance(self, steps: int) -> ModesProgress:
        """steps: gradients of one trial on each side."""
        goal = min(self._done + steps, self.config.gradients)
        while True:
            self._done = min(goal, max(self._next, self._done))
            sides = {name: side.advance_to(self._done) for name, side in self._sides.items()}
            seen = ModesProgress(self._done, self.config.gradients, **sides)
            if self._done >= self._next or self.finished:
                self._rows.append(row_of(seen))
                self._next = int(self._done * GROWTH) + 1
            if self._done >= goal:
                return seen

    def judge(self) -> ModesProgress:
        sides = {name: side.progress() for name, side in self._sides.items()}
        return ModesProgress(self._done, self.config.gradients, **sides)

    def record(self, snapshot: ModesProgress, estimate: Any) -> None:
        self.log.add(self._rows)
        self._rows = []


def row_of(seen: ModesProgress) -> tuple[float, ...]:
    """Of the log."""
    return float(seen.steps), *(value for side in SIDES for value in quartiles(seen.side(side).kl))


def quartiles(values: np.ndarray) -> tuple[float, float, float]:
    """Median, lower and upper quartile."""
    low, middle, high = np.quantile(values, (0.25, 0.5, 0.75))
    return float(middle), float(low), float(high)
