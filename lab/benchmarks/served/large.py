"""What does a network of a large size class take, as "Local geometry" runs it?

    LLC_LAB_VISITOR_MEMORY=5900 python -m lab.benchmarks.served.large --size-class 10M --seed 2 --step-size 1e-9

Memory and time that the page says, beside what one chain takes from its link to the first steps, with the threads of the app. Memory is
that of the process at its peak, less what it had before. The first step also measures the loss around w0.
"""

from __future__ import annotations

import argparse
import resource
import time
from functools import partial

from app.estimates.networks import link_config
from app.pages.local_geometry.config import class_price
from app.pages.local_geometry.scene import scene_of
from app.runs.llc_job import LlcJob
from app.runs.threads import set_threads
from lab.benchmarks.smoke import parse

STEPS = 4
SIZE_CLASS = "10M"


def peak() -> float:
    """MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size-class", help=f"default {SIZE_CLASS}")
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--step-size", type=float, help="default automatic")
    options = parse(parser, globals(), SIZE_CLASS=lambda name: "1K")
    set_threads()
    problem = {"kind": "dln", "size_class": options.size_class or SIZE_CLASS, "ranks": "equal", "seed": options.seed}
    link_config({"problem": {"kind": "dln", "widths": [2, 2]}})  # imports
    said, before = class_price(problem), peak()
    print(f"{said.parameters:,} parameters; said: {said.memory / 2**20:,.0f} MB, {said.step:.2g} s a step")
    print("seconds  MB    what")
    sampler = {"name": "UnderdampedLangevin", "step_size": options.step_size}
    link = {"problem": problem, "chains": 1, "sampler": sampler}
    config = timed("its link, with the network", partial(link_config, link), before)
    timed("what the page draws at once", partial(scene_of, config), before)
    job = timed("the run", partial(LlcJob, config.resolved), before)
    for step in range(1, STEPS + 1):
        timed(f"step {step}", partial(job.advance, 1), before)
    timed("an estimate", job.judge, before)


def timed(what: str, do, before: float):  # type: ignore[no-untyped-def]
    start = time.perf_counter()
    found = do()
    print(f"{time.perf_counter() - start:7.2f}  {peak() - before:5,.0f} {what}", flush=True)
    return found


if __name__ == "__main__":
    main()
