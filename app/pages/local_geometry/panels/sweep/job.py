"""A sweep: one field of a run at several values, all in one batched run, as a job of the run manager.

The shape is that of Hitchcock & Hoogland's figure 3: the relative error of λ̂ against the step size.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from app.pages.local_geometry.panels.sweep.points import SweepPoints
from app.pages.local_geometry.panels.sweep.values import (
    COMMON,
    COUNT,
    Ends,
    Values,
    about_field,
    check_ends,
    evenly_in_logarithm,
    step_sizes,
    sweepable,
    values_around,
    values_between,
)
from app.runs.account import account
from app.runs.allowance import check_allowance
from app.runs.tasks import NewestJob
from llc_core import Potential, Run, RunConfig
from llc_core.engine.resolve import resolve

MAX_CHAINS, MAX_STEPS = 8, 5_000
"""A sweep is a dozen runs at once: it is kept shorter than a run that is meant to be exact."""
PROBE_CHAINS, PROBE_STEPS, PROBE_BURN_IN = 4, 800, 0.9
"""A short automatic run finds the engine's step size and the stability limit."""
FEWEST_CHAINS = 4
"""With fewer chains their spread is no error bar while they run. At the end the engine takes the error from their traces."""
RECENT = 0.5
"""Weight of the newest block in the level that is shown during burn-in."""


class SweepJob(NewestJob):
    """Finds where to look if that is needed, then runs all values at once.

    config: of the run whose field is swept (its own grid and histogram are left out).  field: a key of `sweepable`.
    ends: first and last value, each None where it is automatic.
    around: the automatic step size and the largest stable one, where a run of this configuration has found them.

    Raises ValueError for a field that cannot be swept, for ends that are none, and when the automatic run finds no step size.
    """

    def __init__(
        self,
        config: RunConfig,
        problem: Potential,
        field: str,
        count: int = COUNT,
        ends: Ends = (None, None),
        around: tuple[float, float] | None = None,
    ):
        config = config.replace(grid={}, histogram=None, observables=[]).begun_anew()
        resolved = resolve(config, problem)
        self._config, self._problem, sampler = resolved.config, resolved.problem, resolved.sampler
        known = sweepable(sampler)
        if field not in known:
            raise ValueError(f"field is {field!r}; for {sampler.name} choose one of {', '.join(known)}.")
        self._field, self._count, self._sampler = field, count, sampler
        self._about = about_field(sampler, field)
        self._ends = check_ends(field, self._about, ends)
        self._default = self._limit = math.nan
        self._probe: Run | None = None
        self._run: Run | None = None
        assert self._config.steps is not None
        self._steps = min(self._config.steps, MAX_STEPS)
        self._chains = min(self._config.chains, MAX_CHAINS)
        self._recent: np.ndarray | None = None
        if field == "step_size" and around is not None:
            self._begin_around(*around)
        elif field == "step_size":
            automatic = sampler.replace(step_size=None).to_dict()
            probe = {"chains": PROBE_CHAINS, "steps": PROBE_STEPS, "burn_in": PROBE_BURN_IN}
            self._probe = Run(self._config.replace(sampler=automatic, **probe), problem)
        else:
            values = values_around(self._about, self._current(), count)
            self._start(values)
        self._before = 0 if self._probe is None else PROBE_STEPS
        """Steps of the automatic run."""

    @property
    def finished(self) -> bool:
        return self._run is not None and self._run.finished

    def advance(self, steps: int) -> SweepPoints:
        if self._probe is not None:
            self._probe.advance(steps)
            done = self._probe.steps_done
            if self._probe.finished:
                self._look_at_probe(self._probe)
                self._probe = None
            return self._points(done)
        assert self._run is not None
        snapshot = self._run.advance(steps)
        return self._points(self._before + snapshot.steps, snapshot)

    def _current(self) -> float | None:
        if self._field in COMMON:
            return float(getattr(self._config, self._field))
        value = getattr(self._sampler, self._field)
        return None if value is None else float(value)

    def _look_at_probe(self, probe: Run) -> None:
        found = probe.estimates(0)[0].diagnostics  # exact draws that confirm its λ̂ would take a second for nothing
        self._begin_around(found["step_size"], found["stability_limit"])

    def _begin_around(self, default: float, limit: float) -> None:
        self._default, self._limit = default, limit
        if not (math.isfinite(self._default) and self._default > 0):
            raise ValueError("No stable step size was found for this sampler here; try another sampler.")
        if not (math.isfinite(self._limit) and self._limit > 0):
            self._limit = math.nan
        self._start(step_sizes(self._about, self._default, self._limit, self._count))

    def _start(self, values: Values) -> None:
        values = values_between(self._field, self._about, values, self._ends, self._count)
        config = self._config.replace(grid={self._field: values}, chains=self._chains, steps=self._steps)
        need = check_allowance(config, self._problem)
        self._claim = account(config.device).claim(need, "This sweep")  # as long as the job
        self._run = Run(config, self._problem)

    def _points(self, steps: int, snapshot: Any = None) -> SweepPoints:
        values = self._run.config.grid[self._field] if self._run is not None else ()
        size = len(values)
        n_betas = values if self._field == "n_beta" else [self._config.n_beta] * size
        gammas = values if self._field == "localization" else [self._config.localization] * size
        llc, se, dead = np.full(size, math.nan), np.full(size, math.nan), np.zeros(size)
        averaging, verdicts = False, ("",) * size
        if snapshot is not None:
            averaging = snapshot.steps > snapshot.burn_in
            shown = snapshot.llc if averaging else self._level(snapshot)
            llc, se = mean_over_living(shown.reshape(-1, size))
            if self.finished and self._run is not None:
                estimates = self._run.estimates()
                llc = np.array([estimate.llc for estimate in estimates])
                se = np.array([estimate.llc_se for estimate in estimates])
                verdicts = tuple("trust it" if e.converged else e.converged.reason for e in estimates)
            dead = 1 - snapshot.alive.reshape(-1, size).mean(axis=0)
        expected = [
            self._problem.expected_llc_at(float(n_beta), float(gamma))
            for n_beta, gamma in zip(n_betas, gammas, strict=True)
        ]
        return SweepPoints(
            steps=steps,
            total_steps=self._before + self._steps,
            field=self._field,
            values=np.array(values, dtype=float),
            llc=llc,
            se=se,
            expected=np.array([math.nan if value is None else value for value in expected]),
            dead=dead,
            averaging=averaging,
            log=evenly_in_logarithm(self._field, self._about),
            default=self._default,
            limit=self._limit,
            chains=self._chains,
            chain_steps=self._steps,
            verdicts=verdicts,
        )

    def _level(self, snapshot: Any) -> np.ndarray:
        """[C] recent level of nβ·ΔL of each chain."""
        rows = snapshot.excess_loss * snapshot.n_beta
        if not len(rows):
            return np.full(len(snapshot.alive), math.nan) if self._recent is None else self._recent
        with np.errstate(over="ignore", invalid="ignore"):
            mean = rows.mean(axis=0)
            self._recent = mean if self._recent is None else (1 - RECENT) * self._recent + RECENT * mean
        return self._recent


def mean_over_living(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard error over the living chains of each setting [S], from [C, S]; nan where most are dead."""
    living = np.isfinite(values)
    count = living.sum(axis=0)
    usable = (2 * count >= len(values)) & (count > 0)
    safe = np.maximum(count, 1)
    filled = np.where(living, values, 0.0)
    mean = filled.sum(axis=0) / safe
    spread = np.where(living, (values - mean) ** 2, 0.0).sum(axis=0) / np.maximum(count - 1, 1)
    se = np.sqrt(spread / safe)
    return np.where(usable, mean, math.nan), np.where(usable & (count >= FEWEST_CHAINS), se, math.nan)


def same_question(one: Mapping[str, Any], other: Mapping[str, Any], field: str) -> bool:
    """Whether two configurations (as dictionaries) differ in nothing but `field`, so that a sweep of it holds for both."""
    return _without(one, field) == _without(other, field)


def _without(config: Mapping[str, Any], field: str) -> dict[str, Any]:
    rest = {name: value for name, value in config.items() if name not in (field, "seed")}
    sampler = rest.get("sampler")
    if isinstance(sampler, Mapping):
        rest["sampler"] = {name: value for name, value in sampler.items() if name != field}
    return rest
