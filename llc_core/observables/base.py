"""What an observable is: it is shown the chains every few steps, keeps little of what it saw, and is read out at any time.

A new observable is one new file in this folder. Where a mean along the chains is wanted, derive from `Average` and write
`measure`; the weighted means, their errors and the memory are then cared for:

    @register
    @dataclass
    class SquareDistance(Average):
        \"\"\"‖w − w0‖², the square of the distance from w0.\"\"\"

        every: int = 10

        def measure(self, seen: Look) -> Tensor:
            return seen.delta.square().sum(dim=1)

    estimate(problem, observables=[{"name": "SquareDistance", "every": 5}]).observables["SquareDistance"]["mean"]

What is no mean derives from `Observable` and writes `begin`, `look` and `read` (`visits.py` is an example). The fields of
the dataclass are its options: they are part of the configuration, so they must be JSON.

Shapes: C chains in the run, row c·S + s being chain c of setting s; C' chains shown at once, D parameters. Chains are shown
before a step, after the burn-in alone. Displacements are in the coordinates of the parameters; losses are means per sample
in nats, less those at w0, on the step's batch.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from llc_core.config import MAX_STEPS
from llc_core.fields import Family, Named, hyper
from llc_core.observables.look import Group, Look, RunShape
from llc_core.potentials.base import Potential


@dataclass(frozen=True)
class Mean:
    """A value, its standard error over independent chains (or data sets), and the parts it is the mean of."""

    value: float = math.nan
    se: float = math.nan
    parts: np.ndarray | None = None

    @classmethod
    def of(cls, parts: np.ndarray) -> Mean:
        """From parts [C'], of which those that are not finite are left out."""
        good = parts[np.isfinite(parts)]
        if len(good) == 0:
            return cls(parts=parts)
        se = float(np.std(good, ddof=1) / math.sqrt(len(good))) if len(good) > 1 else math.nan
        return cls(float(good.mean()), se, parts)

    def arrays(self) -> dict[str, np.ndarray]:
        found = {"mean": np.array(self.value), "se": np.array(self.se)}
        return found if self.parts is None else {**found, "parts": self.parts}


@dataclass
class Observable(Named):
    """Base of all observables. The fields of a derived dataclass are its options.

    every: steps between looks, the first of which is at the end of burn-in.
    """

    needs_energy: ClassVar[bool] = False
    """Whether `look` reads `seen.energy` or `seen.losses`. Chains may then be shown one at a time (`seen.rows`), and in
    threads: sums that several chains share need a lock. Without it all chains are shown together."""
    needs_samples: ClassVar[bool] = False
    """Whether `look` reads `seen.sample_losses()`."""
    needs_living: ClassVar[bool] = False
    """Whether `look` reads `seen.living`; what is kept for each chain can leave dead ones out in `read` instead. Chains are
    then shown as with `needs_energy`."""

    every: int = hyper(10, 1, MAX_STEPS)

    @property
    def period(self) -> int:
        """Steps between the looks that it wants now: a multiple of `every`, larger once it looks less often."""
        return self.every

    @property
    def in_step(self) -> bool:
        """Whether it looks when the step's energy is known; else before that, at all chains together."""
        return self.needs_energy or self.needs_living

    def check(self, problem: Potential, second: Potential | None) -> None:
        """ValueError, in one sentence, where it cannot be watched in a run of `problem`."""
        if self.needs_samples and not gives_samples(problem):
            raise ValueError(
                f"{self.name} needs the losses of single samples, which a problem of kind {problem.kind} does not give: "
                "leave it out of observables."
            )

    def kept(self, chains: int, problem: Potential) -> int:
        """About how many numbers of the states' precision it keeps, for the check of the memory."""
        return 0

    def kept_of_second(self, chains: int, second: Potential) -> int:
        """How many it keeps besides, of the run's second potential."""
        return 0

    def begin(self, setup: RunShape) -> None:
        """Forget all that was seen and make room: called before a run, and again where more of it becomes burn-in."""
        raise NotImplementedError

    def look(self, seen: Look) -> None:
        """Take in the chains `seen.rows`. Memory must not grow with the number of looks."""
        raise NotImplementedError

    def read(self, group: Group) -> Mapping[str, np.ndarray]:
        """Arrays by name, from what was seen of the chains of a group so far; changes nothing."""
        raise NotImplementedError


def gives_samples(problem: Potential) -> bool:
    """Whether the problem knows the losses of single samples."""
    return type(problem).per_sample_loss is not Potential.per_sample_loss and problem.samples > 0


_FAMILY: Family[Observable] = Family(Observable, "observable", "TermSizes()")
register = _FAMILY.register


def observables() -> Mapping[str, type[Observable]]:
    """All registered observables by name."""
    return dict(_FAMILY)


def build(description: Observable | Mapping[str, Any] | str) -> Observable:
    """An observable that has seen nothing, from its name, {"name": …, options…} or another one; ValueError names what is
    wrong."""
    return _FAMILY.build(description.to_dict() if isinstance(description, Observable) else description)


@dataclass
class Average(Observable):
    """The weighted mean along every chain of what `measure` returns, and its mean and standard error over chains."""

    def measure(self, seen: Look) -> Tensor:
        """[C', …] one number or array for each chain that is shown."""
        raise NotImplementedError

    def begin(self, setup: RunShape) -> None:
        self._setup = setup
        self._sums: Tensor | None = None
        self._weight = setup.zeros(setup.chains)
        self._lock = threading.Lock()

    def look(self, seen: Look) -> None:
        values = self.measure(seen).to(self._setup.wide)
        with self._lock:  # chains that are shown one by one come from several threads
            if self._sums is None:
                self._sums = self._setup.zeros(self._setup.chains, *values.shape[1:])
        weights = seen.weights.view(-1, *[1] * (values.dim() - 1))
        # A state that weighs nothing adds nothing, even where what is measured is not finite.
        self._sums[seen.rows] += torch.where(weights > 0, weights * values, 0.0)
        self._weight[seen.rows] += seen.weights

    def read(self, group: Group) -> dict[str, np.ndarray]:
        """mean […] and se […] over the living chains (se: nan for a single one), per_chain [C', …], nan for chains that are
        dead or weigh nothing; empty before the first look."""
        if self._sums is None:
            return {}
        weight = self._weight[group.rows].cpu().numpy()
        good = group.living & (weight > 0)
        per_chain = np.full(self._sums[group.rows].shape, np.nan)
        sums = self._sums[group.rows].double().cpu().numpy()
        per_chain[good] = sums[good] / weight[good].reshape(-1, *[1] * (sums.ndim - 1))
        count = int(good.sum())
        nothing = np.full(per_chain.shape[1:], np.nan)
        return {
            "mean": per_chain[good].mean(axis=0) if count else nothing,
            "se": per_chain[good].std(axis=0, ddof=1) / math.sqrt(count) if count > 1 else nothing,
            "per_chain": per_chain,
        }
