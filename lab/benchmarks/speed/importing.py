"""How long `import llc_core` takes, beside `import torch`: fresh processes, one after the other in turn.

python -m lab.benchmarks.speed.importing [--rounds 15]
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from pathlib import Path

from lab.benchmarks.command import read_options
from lab.benchmarks.smoke import status

ROOT = Path(__file__).resolve().parents[3]
LARGEST_RATIO = 1.3
CHILD = """
import time
wall, processor = time.perf_counter(), time.process_time()
import {module}
print(time.perf_counter() - wall, time.process_time() - processor)
"""


def seconds(module: str) -> tuple[float, float]:
    """Wall and processor seconds that a fresh process takes to import `module`."""
    # Compiled bytecode is written and read, as on a user's machine.
    around = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", CHILD.format(module=module)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, env=around)
    wall, processor = map(float, done.stdout.split())
    return wall, processor


def main() -> int:
    """Exit status 1 where `import llc_core` takes more than LARGEST_RATIO × the processor time of `import torch`."""
    rounds = read_options(globals(), {"rounds": 1}, rounds=15).rounds
    modules = ("torch", "llc_core")
    for module in modules:
        seconds(module)  # writes the bytecode, and brings the files into memory
    times: dict[str, list[tuple[float, float]]] = {module: [] for module in modules}
    for _ in range(rounds):
        for module in modules:
            times[module].append(seconds(module))
    medians = {m: [statistics.median(pair[i] for pair in times[m]) for i in range(2)] for m in modules}
    for module, (wall, processor) in medians.items():
        print(f"import {module:8s} {wall:6.2f} s, {processor:6.2f} s of processor time (medians of {rounds})")
    wall, processor = (ours / theirs for ours, theirs in zip(medians["llc_core"], medians["torch"], strict=True))
    print(f"ratio           {wall:6.2f} ×, {processor:6.2f} × of processor time; at most {LARGEST_RATIO} × is the goal")
    return status(processor > LARGEST_RATIO)


if __name__ == "__main__":
    sys.exit(main())
