"""√KSD of an ensemble of chains against iterations, with the score of the exact posterior at a few inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch

from app.pages.functions.scene import Scene, effort
from app.runs.account import account
from app.runs.allowance import check_allowance
from app.runs.tasks import Results
from llc_core import Mixture, Run, kernel_stein_discrepancy
from llc_core.engine.resolve import resolve
from llc_core.references.functions.finite_width import CHAINS, EVERY, FiniteWidth

MEMBERS = 200
"""Chains of the ensemble: so many independent draws of the posterior itself have a √KSD of about 0.2."""
SEEN = 3
"""Inputs of the data at which functions are compared; one more lies in the widest gap between data."""
MOST_EVALUATIONS, FEWEST = 200_000, 20
"""Of all chains together, to bound the time; iterations, however long each is."""
MARKS, TURN = 12, 20
"""Iterations at which it is measured, evenly on a logarithmic scale; iterations between two looks at whether to stop."""


@dataclass(frozen=True)
class DistanceAt:
    """iteration: of the chains; 0 for their starts, draws of the prior.  root: √KSD."""

    iteration: int
    root: float


@dataclass(frozen=True)
class EnsembleProgress:
    """steps: iterations of the chains so far; before the first the exact answer is made.  floor: √KSD of exact draws, None before."""

    steps: int
    floor: float | None = None
    notes: tuple[str, ...] = ()


def places_of(scene: Scene) -> np.ndarray:
    """Up to three inputs of the data, evenly chosen, and the middle of the widest gap; sorted."""
    x = np.unique(scene.x)
    chosen = x[np.linspace(0, len(x) - 1, min(SEEN, len(x))).round().astype(int)]
    gap = int(np.argmax(np.diff(x))) if len(x) > 1 else 0
    between = (x[gap] + x[gap + 1]) / 2 if len(x) > 1 else x[0] + 1.0
    return np.sort(np.append(chosen, between))


class EnsembleJob:
    """Raises ValueError, in words for the user, where there is no exact answer or no room."""

    def __init__(self, scene: Scene):
        network = scene.network
        if network is None:
            raise ValueError("Only a network has an exact posterior at its width; choose a preset with a network.")
        if network.likelihood != "gaussian":
            raise ValueError(
                f"likelihood is {network.likelihood!r}; the exact score is known for 'gaussian' alone: choose that."
            )
        resolved = resolve(scene.config.run.replace(chains=MEMBERS), network)
        self._network, self._places = network, places_of(scene)
        wanted = effort(network)
        members = max(CHAINS * wanted["moves"] // EVERY, wanted["draws"])
        need = check_allowance(resolved.config, network) + 8 * members * len(self._places) ** 2
        self._claim = account(resolved.config.device).claim(need, "This measurement")  # as long as the job
        self._pieces: FiniteWidth | None = FiniteWidth(network, self._places, **wanted)
        self._run = Run(resolved)
        each = MEMBERS * float(scene.config.sampler.get("leapfrog_steps", 1.0))
        total = min(scene.config.steps, max(FEWEST, int(MOST_EVALUATIONS / each)))
        self._marks = [0, *sorted(set(np.geomspace(1, total, MARKS).round().astype(int).tolist()))]
        self._mixture: Mixture | None = None
        self._floor: float | None = None
        self._fresh: list[DistanceAt] = []
        self.log = Results()

    @property
    def finished(self) -> bool:
        return not self._marks

    def advance(self, steps: int) -> EnsembleProgress:
        for _ in range(steps):
            if self._pieces is not None:
                self._work_out(self._pieces)
            elif self._marks:
                self._go_on(self._marks[0])
        return EnsembleProgress(self._run.steps_done, self._floor)

    def _work_out(self, pieces: FiniteWidth) -> None:
        if not pieces.finished:
            pieces.advance()
            return
        self._mixture = pieces.mixture()
        self._pieces = None
        if self._mixture.doubt:
            raise ValueError(self._mixture.doubt)
        self._floor = self._root(self._mixture.sample(MEMBERS))

    def _go_on(self, mark: int) -> None:
        if self._run.steps_done < mark:
            self._run.advance(min(TURN, mark - self._run.steps_done))
        if self._run.steps_done >= mark:
            f = self._network.predict(torch.from_numpy(self._run.displacements), self._places).numpy()
            self._fresh.append(DistanceAt(mark, self._root(f)))
            self._marks.pop(0)
        elif self._run.finished:  # all chains diverged
            self._marks.clear()

    def _root(self, f: np.ndarray) -> float:
        assert self._mixture is not None
        return kernel_stein_discrepancy(f, self._mixture.score(f), self._mixture.covariance).root

    def judge(self) -> None:
        return None

    def record(self, snapshot: EnsembleProgress, estimate: None) -> None:
        self.log.items += self._fresh
        self._fresh = []


def build(scene: Scene) -> Callable[[], EnsembleJob]:
    """What makes the job, in a thread of the manager."""
    return partial(EnsembleJob, scene)
