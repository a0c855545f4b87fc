"""A step of a run here beside the same step in another checkout of this project, in turn.

`git worktree add --detach ../before 5631ed7; chrt -r 5 taskset -c 1 python -m lab.benchmarks.speed.beside ../before [--rounds 3]
[--without-measures]`. Deep linear networks of 816 and 12,884 parameters on one thread, four chains, a given step size. Blocks of steps
after burn-in are timed in processor seconds; of all blocks of all rounds the least and the median are printed, in µs a step, and the
ratio of each. --without-measures leaves out the measure of the chains' distribution, which older checkouts do not have.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

SIZES = {"1K": 200, "10K": 50}
"""Class: steps in a block."""
BLOCKS = 40
CASES = [
    (size, name, kind) for size in SIZES for name in ("SGLD", "UnderdampedLangevin") for kind in ("full", "minibatch")
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path, nargs="?", help="the other checkout")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--without-measures", action="store_true")
    parser.add_argument("--alone", action="store_true", help="time the checkout that is imported, and print JSON")
    parser.add_argument("--blocks", type=int, default=BLOCKS, help="of each case, in a round")
    if "--alone" in sys.argv:
        options = parser.parse_args()
        print(json.dumps([blocks(*case, options.without_measures, options.blocks) for case in CASES]))
        return
    from lab.benchmarks.machine import machine  # the other checkout may lack these
    from lab.benchmarks.smoke import parse

    options = parse(parser, globals(), other=Path.cwd(), rounds=1, blocks=1)
    if options.other is None:
        parser.error("name the other checkout")
    print(machine())
    sides = options.other.resolve(), Path.cwd()
    found: list[list[list[float]]] = [[[] for _ in CASES] for _ in sides]
    for _ in range(options.rounds):
        for side, rows in zip(sides, found, strict=True):
            for row, more in zip(rows, alone(side, options.without_measures, options.blocks), strict=True):
                row.extend(more)
    print(
        "| class, sampler, gradient | other, µs a step: least, median | here | ratio of the least, of the medians |\n|---|---|---|---|"
    )
    for case, other, mine in zip(CASES, *found, strict=True):
        numbers = [(min(row), statistics.median(row)) for row in (other, mine)]
        ratios = ", ".join(f"{b / a:.2f}" for a, b in zip(*numbers, strict=True))
        print(f"| {', '.join(case)} | {' | '.join(f'{a:.1f}, {b:.1f}' for a, b in numbers)} | {ratios} |")


def alone(side: Path, without: bool, count: int) -> list[list[float]]:
    """µs a step in every block of every case, by the checkout at `side`."""
    environment = {**os.environ, "PYTHONPATH": str(side), "OMP_NUM_THREADS": "1"}
    command = [
        sys.executable,
        "-P",
        str(Path(__file__).resolve()),
        "--alone",
        *("--blocks", str(count)),
        *(["--without-measures"] if without else []),
    ]
    done = subprocess.run(command, env=environment, cwd=side, check=True, capture_output=True, text=True)
    rows: list[list[float]] = json.loads(done.stdout.splitlines()[-1])
    return rows


def blocks(size: str, sampler: str, gradient: str, without: bool, count: int) -> list[float]:
    """µs a step in `count` blocks of one run. What is imported is the other checkout's too, so only old names are used."""
    import torch

    from llc_core import DeepLinearNetwork, RunConfig

    try:
        from llc_core.engine.run import Run
    except ImportError:
        from llc_core.engine import Run  # type: ignore[no-redef, attr-defined]
    if without and Path("llc_core/engine/record.py").exists():
        import llc_core.engine.record as record

        record.law_bias = record.spread_count = lambda setup: None  # type: ignore[assignment]
    torch.set_num_threads(1)
    steps, network = SIZES[size], DeepLinearNetwork.random(size, seed=1)
    more = {"batch_size": 50} if gradient == "minibatch" else {}
    config = RunConfig(
        problem=network.to_dict(),
        sampler={"name": sampler, "step_size": 1e-9},
        gradient=gradient,
        steps=2 * steps * max(count, 10),
        burn_in=100,
        seed=5,
        **more,
    )
    run = Run(config)
    run.advance(300)
    found = []
    for _ in range(count):
        before = time.process_time()
        run.advance(steps)
        found.append((time.process_time() - before) / steps * 1e6)
    return found


if __name__ == "__main__":
    main()
