"""A run of chains as a job of the run manager: functions, some weights and losses of all chains, at evenly spaced iterations.
Long, since the runs of all kinds of problems leave the same rows.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from torch import Tensor

from app.pages.functions.cases import Rivals
from app.pages.functions.config import ACROSS, POOLED, SHARES
from app.pages.functions.scene import WEIGHTS, Scene
from app.runs.threads import set_threads
from llc_core import Run
from llc_core.diagnostics.convergence import ess, r_hat
from llc_core.observables.base import Mean

DRAWN = 8
"""Chains whose functions are drawn as lines."""
RESTRAINT = 10
"""A band is made again when so many times as long has passed as it took."""
EDGES = tuple(sorted(edge for share in SHARES for edge in ((1 - share) / 2, (1 + share) / 2)))


@dataclass(frozen=True)
class Row:
    """All chains at one iteration. functions: [C, P].  weights: [C, W].  losses: [C], means per sample in nats."""

    iteration: int
    functions: np.ndarray
    weights: np.ndarray
    losses: np.ndarray


@dataclass(frozen=True)
class Edges:
    """Of f over some draws: mean [P], and the edges [P] of the bands that hold these shares of them."""

    mean: np.ndarray
    low: Mapping[float, np.ndarray]
    high: Mapping[float, np.ndarray]

    @classmethod
    def of(cls, draws: np.ndarray) -> Edges:
        """draws: [N, P]."""
        found = dict(zip(EDGES, np.quantile(draws, EDGES, axis=0), strict=True))
        low = {share: found[(1 - share) / 2] for share in SHARES}
        return cls(draws.mean(axis=0), low, {share: found[(1 + share) / 2] for share in SHARES})


@dataclass(frozen=True)
class Band:
    """What is drawn at an iteration. edges: "pooled" and "across".  lines: functions [DRAWN, P] of the first chains."""

    iteration: int
    edges: Mapping[str, Edges]
    lines: np.ndarray


@dataclass(frozen=True)
class Gauges:
    """R-hat (Vehtari et al. 2021) over the second half of the iterations so far; nan before there are enough.

    functions: the largest over the inputs.  weights: the median over the weights that are watched; most: their largest.
    loss: of the loss.  ess: effective sample size of f, its median over some inputs.
    mean, sd: of f over the same draws, [P].
    """

    iteration: int
    weights: float
    most: float
    loss: float
    functions: float
    ess: float
    mean: np.ndarray
    sd: np.ndarray


NO_ESTIMATE = Mean()


@dataclass(frozen=True)
class ChainsSeen:
    """All there is to see of the chains at an iteration."""

    band: Band
    gauges: Gauges
    llc: Mean = NO_ESTIMATE
    """λ̂ and its standard error, of a deep linear network's run so far."""


@dataclass(frozen=True)
class FunctionsProgress:
    """The chains after so many iterations. band: the newest that was made.  acceptance: of a Metropolis test, else nan.

    step_size: in use now, nan before the first step and for samplers that have none.
    apart: largest distance of the chain of functions from the functions of the weights, and crossings: changes of cell; only of
    a case in which both are known.  rival: see `Case.rival`.
    """

    steps: int
    total_steps: int
    band: Band | None
    acceptance: float
    step_size: float
    notes: tuple[str, ...] = ()
    apart: float | None = None
    crossings: int = 0
    rival: Rivals | None = None


class Path:
    """Rows of a run, which are only added. every: iterations between two of them."""

    def __init__(self, every: int, rows: tuple[Row, ...] = ()):
        self.every, self.rows = every, list(rows)

    def since(self, cursor: int) -> tuple[int, list[Row]]:
        """The new cursor and the rows after `cursor`."""
        return len(self.rows), self.rows[cursor:]

    def copy(self) -> Path:
        """The same rows, for a thread."""
        return Path(self.every, tuple(self.rows))

    def band(self, iteration: int) -> Band | None:
        """None before the first row. pooled: all chains over the second half of the iterations; across: at the last one."""
        now = self._at(iteration)
        if now is None:
            return None
        pooled = np.concatenate([row.functions for row in self._half(iteration) or [now]])
        return Band(iteration, {POOLED: Edges.of(pooled), ACROSS: Edges.of(now.functions)}, now.functions[:DRAWN])

    def gauges(self, iteration: int) -> Gauges | None:
        rows = self._half(iteration)
        if not rows:
            return None
        functions = np.stack([row.functions for row in rows])
        weights, losses = np.stack([row.weights for row in rows]), np.stack([row.losses for row in rows])
        of_weights = _each(r_hat, weights)
        draws = functions.reshape(-1, functions.shape[2])
        return Gauges(
            iteration,
            weights=_known(np.median, of_weights),
            most=_known(np.max, of_weights),
            loss=r_hat(losses),
            functions=_known(np.max, _each(r_hat, functions)),
            ess=_known(np.median, _each(ess, functions[:, :, ::4])),
            mean=draws.mean(axis=0),
            sd=draws.std(axis=0),
        )

    def see(self, iteration: int) -> ChainsSeen | None:
        """Band and gauges; takes about 0.1 s."""
        band, gauges = self.band(iteration), self.gauges(iteration)
        return None if band is None or gauges is None else ChainsSeen(band, gauges)

    def _at(self, iteration: int) -> Row | None:
        """The last row up to an iteration."""
        return next((row for row in reversed(self.rows) if row.iteration <= iteration), None)

    def _half(self, iteration: int) -> list[Row]:
        """The rows that an observable sees in a run of so many iterations whose first half is burn-in."""
        start = iteration // 2 // self.every * self.every
        return [row for row in self.rows if start <= row.iteration < iteration]


def see_apart(path: Path, iteration: int) -> ChainsSeen | None:
    """As `Path.see`, in a thread."""
    set_threads()
    return path.see(iteration)


def _each(measure: Callable[[np.ndarray], float], draws: np.ndarray) -> np.ndarray:
    """Of every column of draws [T, C, K]."""
    return np.array([measure(draws[:, :, k]) for k in range(draws.shape[2])])


def _known(what: Callable[[np.ndarray], float], values: np.ndarray) -> float:
    known = values[~np.isnan(values)]
    return float(what(known)) if len(known) else math.nan


class FunctionsJob:
    """Raises ValueError, in words for the user, for configurations that cannot be run."""

    def __init__(self, scene: Scene):
        assert scene.run is not None
        self.scene, self._run = scene, Run(scene.run)
        self._places = np.linspace(0, scene.dim - 1, min(WEIGHTS, scene.dim)).astype(int)
        self.log = Path(scene.every)
        self._fresh: list[Row] = []
        self._band: Band | None = None
        self._due, self._step_size = 0.0, math.nan
        self._look()

    @property
    def finished(self) -> bool:
        return self._run.finished

    def advance(self, steps: int) -> FunctionsProgress:
        """Step in short turns, and look at the chains whenever a row is due."""
        self._draw()
        notes: tuple[str, ...] = ()
        while steps > 0 and not self._run.finished:
            turn = min(self.scene.every - self._run.steps_done % self.scene.every, steps)
            snapshot = self._run.advance(turn)
            notes += snapshot.notes
            self._step_size = float(snapshot.step_size[0])
            steps -= turn
            if self._run.steps_done % self.scene.every == 0:
                self._look()
        accepted = self._run.state.get("accepted")
        acceptance = math.nan if accepted is None else float(accepted.mean())
        return FunctionsProgress(
            self._run.steps_done, self._run.total_steps, self._band, acceptance, self._step_size, notes
        )

    def judge(self) -> ChainsSeen | None:
        return self.log.see(self._run.steps_done)

    def record(self, snapshot: FunctionsProgress, estimate: ChainsSeen | None) -> None:
        self.log.rows += self._fresh
        self._fresh = []

    def _look(self) -> None:
        weights = self._run.displacements
        functions, losses = self.measure(torch.from_numpy(weights))
        self._fresh.append(Row(self._run.steps_done, functions, weights[:, self._places], losses))

    def measure(self, delta: Tensor) -> tuple[np.ndarray, np.ndarray]:
        """f [C, P] and the loss [C] of weights δ [C, D]."""
        problem = self.scene.network
        assert problem is not None
        functions = problem.predict(delta, self.scene.inputs).numpy()
        return functions, problem.per_sample_loss(delta, 0, problem.n).mean(dim=1).numpy()

    def _draw(self) -> None:
        """A new band of what is in the log, where one is due."""
        now = time.monotonic()
        if now >= self._due and self.log.rows:
            self._band = self.log.band(self.log.rows[-1].iteration)
            self._due = time.monotonic() + RESTRAINT * (time.monotonic() - now)


class DeepJob(FunctionsJob):
    """Chains on a deep linear network: its function is the product of its layers, entry by entry, less that at w0."""

    def measure(self, delta: Tensor) -> tuple[np.ndarray, np.ndarray]:
        problem, start = self.scene.deep, 0
        assert problem is not None
        product, before = None, None
        for layer in problem.weights:
            w0 = torch.as_tensor(layer).double()
            moved = w0 + delta[:, start : start + w0.numel()].view(-1, *w0.shape)
            product = moved if product is None else moved @ product
            before = w0 if before is None else w0 @ before
            start += w0.numel()
        assert product is not None and before is not None
        losses = problem.excess_loss_and_grad(delta)[0]
        return (product - before).flatten(1).numpy(), losses.numpy()

    def judge(self) -> ChainsSeen | None:
        seen = super().judge()
        if seen is None:
            return None
        found = self._run.estimates(0)[0]
        return replace(seen, llc=Mean(found.llc, found.llc_se))


class PairJob:
    """Both chains of a case, which take a second: they are made at once, and the manager shows them."""

    def __init__(self, scene: Scene):
        self.scene, config, case = scene, scene.config, scene.case
        assert case is not None
        self._step_size = float(config.sampler["step_size"])
        self._pair = case.pair(config.steps, self._step_size, config.chains, config.seed)
        weights, coordinates = self._pair.weights.numpy(), self._pair.functions.numpy()
        functions, losses = case.curve(coordinates), case.losses(coordinates)
        iterations = [min(i * config.every, config.steps) for i in range(len(weights))]
        self._rows = [Row(*row) for row in zip(iterations, functions, weights, losses, strict=True)]
        self._total, self._done = config.steps, 0
        self._rival = None if case.rival is None else case.rival(config.chains, config.seed)
        self._fresh: list[Row] = self._rows[:1]
        self.log = Path(config.every)

    @property
    def finished(self) -> bool:
        return self._done >= self._total

    def advance(self, steps: int) -> FunctionsProgress:
        before, self._done = self._done, min(self._done + steps, self._total)
        self._fresh += [row for row in self._rows if before < row.iteration <= self._done]
        pair = self._pair
        return FunctionsProgress(
            self._done,
            self._total,
            None,
            math.nan,
            self._step_size,
            apart=pair.difference,
            crossings=pair.moves,
            rival=self._rival,
        )

    def judge(self) -> ChainsSeen | None:
        return self.log.see(self._done)

    def record(self, snapshot: FunctionsProgress, estimate: ChainsSeen | None) -> None:
        self.log.rows += self._fresh
        self._fresh = []


def build(scene: Scene) -> Callable[[], FunctionsJob | PairJob]:
    """What makes the job, in a thread of the manager."""
    if scene.deep is not None:
        return partial(DeepJob, scene)
    return partial(PairJob if scene.case is not None else FunctionsJob, scene)
