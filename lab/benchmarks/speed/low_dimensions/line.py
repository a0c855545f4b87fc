"""One-dimensional PSGLD: the compiled kernel beside the engine and a plain vectorised numpy loop, in one run.

python -m lab.benchmarks.speed.low_dimensions.line
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable

import numpy as np

from lab.benchmarks.command import read_options
from llc_core.compute.cores import available_cores
from llc_core.config import RunConfig
from llc_core.engine.run import Run
from llc_core.line import LineRun, warm_up
from llc_core.potentials import landscape
from llc_core.samplers import PSGLD

CHAINS, STEPS, ROUNDS = 20_000, 40_000, 3
SHORT = 400
SAMPLER = PSGLD(step_size=1e-3, alpha=0.9, stability=0.1)


cpu_seconds: list[float] = []
"""What the kernel's runs took of the processors: the same on a busy machine, where the wall time is not."""


def kernel(threads: int | None) -> float:
    """Seconds for CHAINS × STEPS element-steps, histogram and moments included."""
    run = LineRun(SAMPLER, "normal", chains=CHAINS, steps=STEPS, threads=threads)
    before = time.process_time()
    seconds = run.advance(STEPS).seconds
    cpu_seconds.append(time.process_time() - before)
    return seconds


def numpy_loop() -> float:
    """Seconds for CHAINS × SHORT element-steps of the update as one would write it, float32, no histogram."""
    alpha, stability, size = (np.float32(v) for v in (SAMPLER.alpha, SAMPLER.stability, 1e-3))
    random = np.random.default_rng(0)
    x = random.standard_normal(CHAINS, dtype=np.float32)
    v = np.zeros_like(x)
    start = time.perf_counter()
    for _ in range(SHORT):
        g = x
        v = alpha * v + (1 - alpha) * g * g
        root = np.sqrt(v)
        metric = 1 / (stability + root)
        drift = -metric * g - (1 - alpha) * g * metric * metric / (root + np.float32(1e-18))
        x = x + size / 2 * drift + np.sqrt(size * metric) * random.standard_normal(CHAINS, dtype=np.float32)
    return time.perf_counter() - start


def engine() -> float:
    """Seconds for CHAINS × SHORT element-steps of the engine, which also keeps losses and checks its chains."""
    config = RunConfig(sampler=SAMPLER.to_dict(), chains=CHAINS, steps=SHORT + 10, dtype="float32")
    run = Run(config, landscape("normal"))
    run.advance(10)
    start = time.perf_counter()
    run.advance(SHORT)
    return time.perf_counter() - start


def main() -> None:
    read_options(globals(), {"CHAINS": 200, "STEPS": 400, "ROUNDS": 1, "SHORT": 40})
    warm_up(SAMPLER, "normal")
    cores = available_cores()
    print(f"1-D PSGLD on the normal target, {CHAINS:,} chains, {cores} cores")
    print(f"load average before: {os.getloadavg()[0]:.2f} (other work on the machine makes all figures smaller)")
    rows: dict[str, tuple[Callable[[], float], int]] = {
        "numpy loop, 1 core": (numpy_loop, SHORT),
        "engine": (engine, SHORT),
        "kernel, 1 core": (lambda: kernel(1), STEPS),
        f"kernel, {cores} cores": (lambda: kernel(None), STEPS),
    }
    times: dict[str, list[float]] = {name: [] for name in rows}
    for _ in range(ROUNDS):
        for name, (measure, _steps) in rows.items():
            times[name].append(measure())
    rates = {name: CHAINS * rows[name][1] / statistics.median(times[name]) for name in rows}
    base = rates["numpy loop, 1 core"]
    for name, rate in rates.items():
        print(f"  {name:20s} {rate / 1e6:8.1f} M element-steps/s   {rate / base:6.1f} x the numpy loop")
    wall = times[f"kernel, {cores} cores"]
    print(
        f"  8·10⁸ element-steps on {cores} cores: {statistics.median(wall):.2f} s median, {min(wall):.2f} s best of {ROUNDS}, "
        f"{statistics.median(cpu_seconds):.2f} s of processor time ({statistics.median(cpu_seconds) / cores:.2f} s a core); "
        f"{rates[f'kernel, {cores} cores'] / rates['engine']:.0f} x the engine; load average after: {os.getloadavg()[0]:.2f}"
    )


if __name__ == "__main__":
    main()
