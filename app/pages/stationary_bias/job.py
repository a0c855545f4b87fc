"""Two samplers on one target as a job of the run manager: histograms and their distances to target and prediction."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from app.pages.stationary_bias.config import SIDES, BiasConfig
from app.pages.stationary_bias.scene import Prediction, Scene, get_scene
from app.runs.threads import computing_threads
from llc_core import stationary
from llc_core.line import LineRun, LineSnapshot

RECORD_EVERY = 8
"""Steps between two counts: neighbouring states are nearly the same."""
MAX_ROWS = 600
FIRST_ROWS = 60
"""Rows in the first tenth of the averaging, where the curves fall fastest; evenly spaced later."""


@dataclass(frozen=True)
class BiasProgress:
    """Both samplers after the same number of steps."""

    left: LineSnapshot
    right: LineSnapshot
    notes: tuple[str, ...] = ()

    @property
    def steps(self) -> int:
        return self.left.steps

    @property
    def total_steps(self) -> int:
        return self.left.total_steps

    @property
    def burn_in(self) -> int:
        return self.left.burn_in

    def side(self, side: str) -> LineSnapshot:
        return self.left if side == "left" else self.right


@dataclass(frozen=True)
class HistogramMeasures:
    """What one histogram says. All distances are between masses of bins, tails included; nan before the first count.

    to_target, to_prediction: total variation.  kl: of the histogram from the target.  wasserstein: W₁ to the target, in
    units of x.  mean_abs: E|x|, from the histogram.  second: E x².
    samples: states counted.  floor: total variation that as many chains would show if they sampled the distribution perfectly.
    """

    steps: int
    samples: float
    to_target: float
    to_prediction: float
    kl: float
    wasserstein: float
    mean_abs: float
    second: float
    diverged: int
    chains: int
    speed: float
    floor: float


@dataclass(frozen=True)
class BiasEstimate:
    left: HistogramMeasures
    right: HistogramMeasures

    def side(self, side: str) -> HistogramMeasures:
        return self.left if side == "left" else self.right


class DistanceLog:
    """Rows (step, then to_target and to_prediction of left and of right, then the floor), thinned to a bounded number."""

    def __init__(self, total_steps: int, burn_in: int):
        self._burn_in, self._span = burn_in, max(1, total_steps - burn_in)
        self._rows: list[tuple[float, ...]] = []
        self._next = burn_in + 1

    def add(self, steps: int, row: tuple[float, ...]) -> None:
        if steps < self._next or len(self._rows) >= MAX_ROWS + FIRST_ROWS:
            return
        self._rows.append((float(steps), *row))
        share = 0.1 / FIRST_ROWS if steps - self._burn_in < self._span / 10 else 1 / MAX_ROWS
        self._next = steps + max(1, int(share * self._span))

    def since(self, cursor: int) -> tuple[int, np.ndarray]:
        """The new cursor and the rows after `cursor`, [T, 6]."""
        return len(self._rows), np.array(self._rows[cursor:]).reshape(-1, 6)


class BiasJob:
    """Raises ValueError, in words for the user, for configurations that cannot be run."""

    def __init__(self, config: BiasConfig):
        self.config, self.scene = config, get_scene(config)
        self._runs = {side: line_run(config, self.scene, side) for side in SIDES}
        first = self._runs["left"]
        self.log = DistanceLog(first.total_steps, first.burn_in)
        self._last: BiasProgress | None = None

    @property
    def finished(self) -> bool:
        return all(run.finished for run in self._runs.values())

    def advance(self, steps: int) -> BiasProgress:
        self._last = BiasProgress(**{side: run.advance(steps) for side, run in self._runs.items()})
        return self._last

    def judge(self) -> BiasEstimate:
        if self._last is None:
            self.advance(0)
        assert self._last is not None
        return BiasEstimate(**{side: measure(self.config, self.scene, side, self._last.side(side)) for side in SIDES})

    def record(self, snapshot: BiasProgress, estimate: BiasEstimate | None) -> None:
        row: list[float] = []
        for side in SIDES:
            counts = snapshot.side(side).counts
            row += [
                stationary.total_variation(counts, self.scene.masses),
                stationary.total_variation(counts, self.scene.side(side).masses),
            ]
        if math.isfinite(row[0]):
            row.append(floor(self.config, self.scene.left, snapshot.left))
            self.log.add(snapshot.steps, tuple(row))


def line_run(config: BiasConfig, scene: Scene, side: str) -> LineRun:
    """The run of one side, as the page makes it."""
    return LineRun(
        config.sampler(side),
        scene.target,
        chains=config.chains,
        steps=config.steps,
        burn_in=config.burn_in_steps,
        bins=scene.bins,
        seed=config.seed,
        step_decay=config.step_decay,
        threads=computing_threads(),
        record_every=RECORD_EVERY,
    )


def measure(config: BiasConfig, scene: Scene, side: str, snapshot: LineSnapshot) -> HistogramMeasures:
    """Numbers of one side, from its counts."""
    prediction, counts = scene.side(side), snapshot.counts
    masses = snapshot.masses()
    places = np.abs(np.concatenate([[scene.bins.low], scene.bins.centers, [scene.bins.high]]))
    return HistogramMeasures(
        steps=snapshot.steps,
        samples=samples(config, snapshot),
        to_target=stationary.total_variation(counts, scene.masses),
        to_prediction=stationary.total_variation(counts, prediction.masses),
        kl=stationary.kl_divergence(counts, scene.masses),
        wasserstein=stationary.wasserstein(counts, scene.masses, scene.bins),
        mean_abs=float((masses * places).sum()),
        second=float(snapshot.moments[1]),
        diverged=snapshot.diverged,
        chains=config.chains,
        speed=snapshot.element_steps_per_second,
        floor=floor(config, prediction, snapshot),
    )


def samples(config: BiasConfig, snapshot: LineSnapshot) -> float:
    """States counted so far. With shrinking steps the counts are weighted by them, and their number is worked out."""
    if config.step_decay == 0:
        return float(snapshot.counts.sum())
    return float(max(0, snapshot.steps - snapshot.burn_in) // RECORD_EVERY * (config.chains - snapshot.diverged))


def floor(config: BiasConfig, prediction: Prediction, snapshot: LineSnapshot) -> float:
    """Total variation that chance alone leaves between a histogram and its law: a rough value, within a factor of 2.

    x forgets where it was in about 4·Var(x)/E G units of time (exact under a constant metric on the normal distribution), and
    the k-th of the K details that K bins can show k times as fast: on the average over k a new independent draw comes
    every (1 + log K)/K of that. n independent draws differ from their distribution by Σ√(p(1 − p)/(2πn)) over the bins.
    """
    if snapshot.steps <= snapshot.burn_in or prediction.trouble:
        return math.nan
    share = (1 - config.step_decay) ** -1
    steps = snapshot.steps ** (1 - config.step_decay) - snapshot.burn_in ** (1 - config.step_decay)
    time = float(prediction.sampler.to_dict()["step_size"]) * share * steps
    variance = prediction.moments["second"] - prediction.moments["mean"] ** 2
    masses = prediction.masses
    between = 4 * variance / prediction.mean_metric * (1 + math.log(len(masses))) / len(masses)
    draws = config.chains * (1 + time / between)
    return float(np.sqrt(masses * (1 - masses) / (2 * math.pi * draws)).sum())
