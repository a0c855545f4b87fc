"""The tests whose numbers matter, run as on other processors: green on each, whatever kernels the libraries choose.

python -m lab.benchmarks.accuracy.processors [tests/llc_core/potentials …] [--every]

OpenBLAS (numpy's products) takes the kernels of OPENBLAS_CORETYPE, torch's own loops those of ATEN_CPU_CAPABILITY, and numba
compiles for NUMBA_CPU_NAME. Three kinds of processor cover every value once; --every crosses the first two. A kind this
machine cannot play is named and left out. The OpenBLAS in numpy's wheels holds few kernels: to Zen it gives Haswell's, and
the table says so.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from xml.etree import ElementTree

from lab.benchmarks.command import option, read_options

ROOT = Path(__file__).resolve().parents[3]
TESTS = tuple(
    f"tests/llc_core/{room}" for room in ["potentials", "theory", "compute", "engine", "observables", "references"]
)
CORES = ("Haswell", "Zen", "SkylakeX")
CAPABILITIES = ("default", "avx2", "avx512")
ASK = """
import numpy, threadpoolctl, torch
blas = [pool["architecture"] for pool in threadpoolctl.threadpool_info() if pool["internal_api"] == "openblas"]
print(",".join(sorted(set(blas))) or "none", torch.backends.cpu.get_cpu_capability().lower())
"""


def kinds(every: bool) -> list[dict[str, str]]:
    """Environments of the runs; the plainest processor also compiles without fused multiplications."""
    pairs = product(CORES, CAPABILITIES) if every else zip(CORES, CAPABILITIES, strict=True)
    result = [{"OPENBLAS_CORETYPE": core, "ATEN_CPU_CAPABILITY": capability} for core, capability in pairs]
    for kind in result:
        if kind["ATEN_CPU_CAPABILITY"] == "default":
            kind |= {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    return result


def taken(kind: Mapping[str, str]) -> list[str] | None:
    """The kernels that OpenBLAS and torch say they took; None where the libraries cannot even be loaded."""
    asked = subprocess.run([sys.executable, "-c", ASK], env={**os.environ, **kind}, capture_output=True, text=True)
    return asked.stdout.split() if asked.returncode == 0 else None


def run(kind: Mapping[str, str], tests: list[str]) -> tuple[dict[str, int], list[str], float, float]:
    """How many tests passed, failed and were skipped; those that failed; seconds of the processor and of the clock."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", f"--junit-xml={report}", *tests]
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        # torch gives code that it compiled for one kind of processor to another, from its cache.
        own = {"OMP_NUM_THREADS": "1", "TORCHINDUCTOR_CACHE_DIR": folder}
        environment = {**os.environ, **own, **kind}
        subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
        after, ended = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        cases = list(ElementTree.parse(report).iter("testcase"))
    failed = [
        f"{c.get('classname')}::{c.get('name')}"
        for c in cases
        if c.find("failure") is not None or c.find("error") is not None
    ]
    skipped = sum(c.find("skipped") is not None for c in cases)
    counts = {"passed": len(cases) - len(failed) - skipped, "failed": len(failed), "skipped": skipped}
    return counts, failed, after.ru_utime - before.ru_utime, ended - began


def main() -> None:
    options = read_options(
        globals(),
        {"tests": ["tests/llc_core/theory/test_coefficients.py"], "every": False},
        tests=option(list(TESTS), nargs="*", place=True),
        every=option(False, "all nine pairs of OpenBLAS's and torch's kernels"),
    )
    print("\n| OpenBLAS | torch | kernels OpenBLAS took | result | passed | failed | skipped | processor s | clock s |")
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    red = []
    for kind in kinds(options.every):
        names = f"| {kind['OPENBLAS_CORETYPE']} | {kind['ATEN_CPU_CAPABILITY']} |"
        kernels = taken(kind)
        if kernels is None or kernels[1] != kind["ATEN_CPU_CAPABILITY"]:
            print(f"{names} not on this machine | | | | | | |", flush=True)
            continue
        counts, failed, processor, clock = run(kind, options.tests)
        colour = "red" if failed or not counts["passed"] else "green"
        numbers = " | ".join(str(n) for n in counts.values())
        print(f"{names} {kernels[0]} | {colour} | {numbers} | {processor:.0f} | {clock:.0f} |", flush=True)
        red += [f"{kind['OPENBLAS_CORETYPE']}, {kind['ATEN_CPU_CAPABILITY']}: {test}" for test in failed]
    print("\n".join(["", *red]))
    sys.exit(bool(red))


if __name__ == "__main__":
    main()
