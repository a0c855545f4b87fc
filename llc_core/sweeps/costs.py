"""What a sweep will cost: operations are counted, and hours follow from short trials on this device."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from llc_core.compute.cores import available_cores
from llc_core.engine.adapting.schedule import COORDINATE_CHANGES, SHORTEST_ADAPTATION, WATCH_EVERY, coordinate_looks
from llc_core.potentials import price
from llc_core.samplers import build
from llc_core.sweeps.spec import SweepSpec
from llc_core.sweeps.unit import Unit

TRIALS = 12
TRIAL_SECONDS = 0.4
LARGEST_TRIAL = 3_000_000
"""A problem with more parameters is not made just to be timed; its time follows from the fit to smaller ones."""
TRIAL_BURN_IN = 200
"""Steps of burn-in in a trial. Coordinates are first changed at step 10, so that the trial is timed with them."""
LOOK = 1 / 3
"""Cost of a look at the curvature in units of a change of coordinates: it takes 3 iterations instead of 12, and no decomposition."""


def operations(unit: Unit) -> float:
    """Floating-point operations of the matrix products in all steps of a unit.

    The class of problems knows those of a gradient and of the batches. Where the coordinates are adapted, each chain's
    place is turned by two products a layer, and so is its gradient, from the first change on.
    """
    problems, work = unit.problem_class, unit.workload
    seed, steps = unit.problems[0], work.steps
    turned = 4.0 * sum(a * b * (a + b) for a, b in problems.layers(seed)) if adapts(unit) else 0.0
    first = math.ceil(COORDINATE_CHANGES[0] * unit.config.burn_in_steps(steps) / WATCH_EVERY) * WATCH_EVERY
    each = steps * problems.step_operations(seed, work) + (steps - first) * turned
    chains = work.chains * len(unit.problems)
    return each * chains * evaluations(unit) * work.settings + problems.batch_operations(unit.problems, work)


def adapts(unit: Unit) -> bool:
    """Whether its sampler changes the coordinates during burn-in."""
    burn_in = unit.config.burn_in_steps(unit.settings["steps"])
    sampler = build(unit.sampler).complete(unit.gradient == "full")
    return sampler.adapts_coordinates and burn_in >= SHORTEST_ADAPTATION


def evaluations(unit: Unit) -> int:
    """Gradients in one step of its sampler."""
    return int(getattr(build(unit.sampler), "leapfrog_steps", 1))


def parameters(unit: Unit) -> int:
    """Of one of its problems."""
    return sum(a * b for a, b in unit.problem_class.layers(unit.problems[0]))


@dataclass(frozen=True)
class Costs:
    """What a sweep costs.

    units, rows: how many.  operations: floating-point operations of all units.  hours: expected for one worker on this device.
    spread: standard deviation of log(measured / fitted) over the trials.  rate: fitted operations per second.  trials: how many.
    """

    units: int
    rows: int
    operations: float
    hours: float
    spread: float
    rate: float
    trials: int

    def hours_on(self, workers: int) -> float:
        return self.hours / max(workers, 1)


def measure_costs(spec: SweepSpec, units: Sequence[Unit] | None = None) -> Costs:
    """Time a few units, spread over the sweep, for a moment each, and fit seconds = steps·a + steps·chains·D·b + operations/rate.

    units: those that are left to do; None: all.
    """
    left = list(spec.units()) if units is None else list(units)
    if not left:
        return Costs(0, 0, 0.0, 0.0, 0.0, float("nan"), 0)
    features = np.array([_features(unit) for unit in left])
    small = [i for i, unit in enumerate(left) if parameters(unit) <= LARGEST_TRIAL] or [
        min(range(len(left)), key=lambda i: parameters(left[i]))
    ]
    order = sorted(small, key=lambda i: features[i][2])
    picked = [order[i] for i in np.unique(np.linspace(0, len(order) - 1, TRIALS).round().astype(int))]
    trials = [_trial(left[i]) for i in picked]
    measured = np.array([seconds for seconds, _ in trials])
    problems = len({(unit.size_class, unit.ranks, seed) for unit in left for seed in unit.problems})
    making = float(np.mean([made for _, made in trials])) * problems
    coefficients = _fit(features[picked], measured)
    fitted = features[picked] @ coefficients
    spread = float(np.std(np.log(measured / fitted))) if len(picked) > 1 else 0.0
    rate = float("inf") if coefficients[2] <= 0 else 1.0 / float(coefficients[2])
    return Costs(
        units=len(left),
        rows=sum(len(unit.rows) for unit in left),
        operations=float(features[:, 2].sum()),
        hours=(float((features @ coefficients).sum()) + making) / 3600,
        spread=spread,
        rate=rate,
        trials=len(picked),
    )


def rough_seconds(spec: SweepSpec) -> tuple[float, float]:
    """(seconds with all cores of this machine, megabytes with all of them) of a sweep that has not begun.

    From its counts and three short timings of this device, so that nothing of it is made: within a factor of three or so.
    `measure_costs` is closer and takes seconds to minutes.
    """
    units = list(spec.units())
    steps, elements, products = np.array([_features(unit) for unit in units]).sum(axis=0)
    call, element, product = _rates()
    largest = max(units, key=parameters)
    described = {name: spec.to_dict()[name] for name in ("batch_size", "dtype")}
    made = price(largest.description, gradient=largest.gradient, **described)
    chains = spec.chains * len(largest.rows) * largest.levels
    workers = min(available_cores(), len(units))
    held = made.peak + STATE_BYTES * float(chains) * made.parameters
    alone = float(steps * call + elements * element + products * product)
    return OVER * alone / workers, held * workers / 1e6


OVER = 4.0
"""What a run takes over its calls, updates and products by themselves: 356 s for 90 of the class 1K with minibatches, 1,764 hours for
430 of the class 100K."""


STATE_BYTES = 32
"""For each parameter of a chain: the state of an adaptive sampler, gradient, noise and what is between."""
STEP_CALL = 1.5e-4
"""Seconds of one processor that a step takes however small the network is."""


@lru_cache(maxsize=1)
def _rates() -> tuple[float, float, float]:
    """Seconds of a step's calls, of a parameter's update, and of an operation in matrix products, on one core here."""
    import torch

    def best(work: Callable[[], Any]) -> float:
        found = []
        for _ in range(3):
            started = time.perf_counter()
            work()
            found.append(time.perf_counter() - started)
        return min(found)

    square, threads = torch.randn(256, 256), torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        product = best(lambda: square @ square) / (2 * 256**3)
        element = best(lambda: torch.randn(100_000)) / 100_000
    finally:
        torch.set_num_threads(threads)
    return STEP_CALL, 2 * element, product


def _features(unit: Unit) -> tuple[float, float, float]:
    steps = unit.settings["steps"] * evaluations(unit)
    chains = unit.settings["chains"] * len(unit.rows) * unit.levels
    return float(steps), float(steps) * chains * parameters(unit), operations(unit)


def _trial(unit: Unit) -> tuple[float, float]:
    """Expected seconds of all steps of a unit, from its first steps; and seconds to make the data of one problem."""
    from llc_core.engine.run import Run

    if adapts(unit):
        return _trial_in_coordinates(unit)
    before = time.perf_counter()
    run = Run(unit.config)
    run.advance(5)
    started, steps = time.perf_counter(), run.steps_done
    while time.perf_counter() - started < TRIAL_SECONDS and not run.finished:
        run.advance(20)
    done = run.steps_done - steps
    making = (started - before) / len(unit.problems)
    if not done:  # the whole run is as short as that
        return started - before, making
    return (time.perf_counter() - started) / done * unit.settings["steps"], making


def _trial_in_coordinates(unit: Unit) -> tuple[float, float]:
    """The same if coordinates are adapted: steps and looks at the curvature are timed apart, because looks become rarer."""
    from llc_core.engine.run import Run

    steps = unit.settings["steps"]
    burn_in = unit.config.burn_in_steps(steps)
    before = time.perf_counter()
    run = Run(unit.config.replace(burn_in=min(burn_in, TRIAL_BURN_IN)))
    run.advance(WATCH_EVERY)
    started = time.perf_counter()
    run.advance(1)  # begins with a change
    change = time.perf_counter() - started
    spent, done, limit = 0.0, 0, time.perf_counter() + TRIAL_SECONDS
    while not done or (time.perf_counter() < limit and not run.finished):
        if run.steps_done % WATCH_EVERY == 0:
            run.advance(1)
            continue
        since, at = time.perf_counter(), run.steps_done
        run.advance(WATCH_EVERY - at % WATCH_EVERY)
        spent, done = spent + time.perf_counter() - since, done + run.steps_done - at
    step = spent / done
    looks, changes = coordinate_looks(burn_in)
    looking = max(change - step, 0.0) * (changes + LOOK * (looks - changes))
    making = max(started - before - WATCH_EVERY * step, 0.0)
    return step * steps + looking, making / len(unit.problems)


def _fit(features: np.ndarray, seconds: np.ndarray) -> np.ndarray:
    """Non-negative coefficients with the least relative error."""
    from scipy.optimize import nnls

    scaled = features / seconds[:, None]
    size = np.maximum(scaled.max(axis=0), 1e-300)
    found, _ = nnls(scaled / size, np.ones(len(seconds)))
    return found / size
