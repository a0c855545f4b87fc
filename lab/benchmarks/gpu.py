"""All that a borrowed GPU is asked, in one call: checks first, times next, and a table that grows as they come in. Long, since it has
every part of that call.

`python -m lab.benchmarks.gpu [--minutes 8] [--out gpu.md]`. Without a GPU it runs on the processor, where the checks compare it
with itself; a test does so at the smallest size, so that the script works when a card is there.

Checks: the kernel of normals against `llc_core.compute.philox` in float64, the tests of a GPU, and λ̂ of two samplers beside a
processor's, by the way to step that long runs take by default. Times: a step of SGLD and of RMSProp-SGLD by default settings, in
classes of 100,000, a million and 100 million parameters, beside the roofline of ceilings that are measured in the same call
(`lab.benchmarks.speed.deep_linear.roofline`: 16 bytes a parameter for SGLD, 24 for RMSProp-SGLD). Of each there is a line for full
gradients, and one for what the paper's size of paper 000's item on this class runs: minibatches of rows that are made in the step. The
paper's hours stand beside the second. Then the ways to step side by side at 100,000 and a million parameters, a loop written by hand in
torch, and blackjax where it is installed: if JAX has the kind of device that torch has.
The parts are asked in a process of their own (`lab.benchmarks.parts`), which ends when --minutes are over: what is left out then is named.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import torch

from lab.benchmarks.machine import machine
from lab.benchmarks.parts import Part, ask, work
from lab.benchmarks.peers.linear_files import save
from lab.benchmarks.smoke import ROOT, parse, running
from lab.benchmarks.speed.deep_linear.roofline import PAPER_HOURS, Figure, best, measure, printed, unit_of
from lab.benchmarks.speed.plain_loop import PlainLoop
from llc_core import DeepLinearNetwork, estimate
from llc_core.compute.gpu import VARIABLE, WAYS, WORTH_STEPS, makes_normals, way_of
from llc_core.compute.philox import normals
from llc_core.sweeps.unit import Unit

CLASSES = ("100K", "1M", "100M")
COMPARED = ("100K", "1M")
"""Classes at which each way to step is timed."""
SAMPLERS = ("SGLD", "RMSPropSGLD")
PEERS_ON = ([100, 80, 120, 60, 100], 4, 500)
"""Widths, chains and rows of a batch in the race with loops of others."""
TESTS = ("tests/llc_core/engine/test_gpu.py", "tests/llc_core/compute")
TESTS_TAKE = 150
PYTEST = ("-o", "addopts=--import-mode=importlib -p no:cacheprovider", "-v", "--tb=no", "-m", "not slow")
"""As pyproject.toml has it, without what a borrowed machine does not have."""
PLACES = (2, 4, 250_001)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--minutes", type=float, default=8.0)
    parser.add_argument("--classes", nargs="+", default=list(CLASSES))
    parser.add_argument("--settings", type=int, default=10, help="step sizes that run as one batch; one from 100M on")
    parser.add_argument("--steps", type=int, default=20, help="steps of a round")
    parser.add_argument("--rounds", type=int, default=3, help="the fastest counts")
    parser.add_argument("--chain-steps", type=int, default=4000, help="steps of the chains behind λ̂")
    parser.add_argument("--out", type=Path, default=Path("gpu.md"))
    parser.add_argument("--parts", nargs="+", help="print these parts alone, without a limit and without a table")
    options = parse(
        parser,
        globals(),
        classes=["1K"],
        settings=1,
        steps=2,
        rounds=1,
        chain_steps=300,
        COMPARED=("1K",),
        PEERS_ON=([6, 5, 4], 2, 50),
    )
    parts = parts_of(options)
    if options.parts:
        return work(parts, options.parts)
    begun, table = time.monotonic(), Table(options.out)
    table.add(f"Machine: {machine()}. `python -m lab.benchmarks.gpu {' '.join(sys.argv[1:])}`.", "")
    table.add("| question | answer |", "|---|---|")
    command = [sys.executable, "-m", "lab.benchmarks.gpu", *sys.argv[1:], "--parts"]
    ask(list(parts), lambda names: [*command, *names], 60 * options.minutes, table.add)
    print(f"{time.monotonic() - begun:.0f} s; written to {options.out}")


def parts_of(options: argparse.Namespace) -> dict[str, Part]:
    """By their names: checks first, then the sampler that is asked to be fast, the other one last."""
    device, fast, other = torch.device(options.device), SAMPLERS[-1], SAMPLERS[0]
    steps: dict[str, dict[str, Part]] = {
        name: {
            f"{size} {name}, {kind}": lambda size=size, name=name, timed=timed: timed(size, name, options)
            for size in options.classes
            for kind, timed in (("as in the paper", as_printed), ("full gradients", full))
        }
        for name in SAMPLERS
    }
    return {
        "normals": lambda: check_normals(device),
        "tests of a GPU": run_tests,
        **{f"λ̂ of {name}": lambda name=name: check_llc(name, device, options.chain_steps) for name in SAMPLERS},
        **steps[fast],
        "loops of others": lambda: peers(device, 10 * options.steps, options.rounds),
        **{f"{size} {fast}, ways to step": lambda size=size: side_by_side(size, options) for size in COMPARED},
        **steps[other],
    }


class Table:
    """Lines that are printed and in the file as soon as they are known: a machine may be taken away at any time."""

    def __init__(self, path: Path):
        self.path = path
        path.write_text("", encoding="utf-8")

    def add(self, *lines: str) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            for line in lines:
                print(line, flush=True)
                print(line, file=file)


def check_normals(device: torch.device) -> Iterator[str]:
    seed, count = 2**63 - 5, torch.tensor(2**33 + 7)
    right = normals(seed, count, PLACES, torch.float64)
    made = normals(seed, count.to(device), PLACES, torch.float32)
    yield f"torch's way is off by at most {float((made.cpu() - right).abs().max()):.1e} at {right.numel():,} places"
    if not makes_normals(torch.empty(0, device=device)):
        yield "no kernel here"
        return
    from llc_core.compute.philox_triton import fill_normals

    made = fill_normals(torch.full(PLACES, math.nan, device=device), seed, count.to(device))
    yield f"the kernel is off by at most {float((made.cpu() - right).abs().max()):.1e} there"


def run_tests() -> Iterator[str]:
    if running() or importlib.util.find_spec("pytest") is None:
        yield "not asked"
        return
    asked = [sys.executable, "-m", "pytest", *PYTEST, *TESTS]
    around = {**os.environ, "COLUMNS": "300"}  # so that a reason is not cut off
    try:
        done = subprocess.run(
            asked, cwd=ROOT, env=around, capture_output=True, text=True, timeout=TESTS_TAKE, check=False
        )
        text, end = done.stdout, f"ended with {done.returncode}"
    except subprocess.TimeoutExpired as late:
        text = late.stdout.decode() if isinstance(late.stdout, bytes) else late.stdout or ""
        end = f"not over after {TESTS_TAKE} s"
    lines = text.splitlines()
    yield from [line for line in lines if line.startswith(("FAILED", "ERROR"))] or [x for x in lines if " FAILED " in x]
    counts = {word: text.count(f" {word} ") for word in ("PASSED", "SKIPPED", "FAILED")}
    yield ", ".join(f"{count} {word.lower()}" for word, count in counts.items() if count) + f"; {end}"


def check_llc(name: str, device: torch.device, steps: int) -> Iterator[str]:
    """By the same sampler and settings on both; chance is not the same, since their generators differ.

    So small a network would be stepped plainly on the device: there it goes as long runs of linear networks go by default.
    """
    problem = DeepLinearNetwork.random(widths=[10, 8, 10], n=100_000, seed=5)
    way, found = way_of(torch.empty(0, device=device), problem.dim, WORTH_STEPS, known=True), []
    for place, taken in (("cpu", "plain"), (str(device), way)):
        with stepping(taken):
            found.append(
                estimate(problem, name, chains=8, steps=steps, gradient="full", seed=0, device=place, progress=False)
            )
    here, there = found
    apart = abs(here.llc - there.llc) / math.hypot(here.llc_se, there.llc_se)
    expected = f"{there.expected:.4g}" if there.expected is not None else "not known"
    yield (
        f"{there.llc:.4g} ± {there.llc_se:.2g} by {way} steps, a processor {here.llc:.4g} ± {here.llc_se:.2g}: {apart:.1f} errors apart; "
        f"expected {expected}"
    )


def full(size: str, name: str, options: argparse.Namespace) -> Iterator[str]:
    """By the default way to step and precision of products."""
    settings = 1 if size == "100M" else options.settings
    free()
    found = measure(unit_of(size, name, settings, 4, options.device), options.steps, options.rounds, "float32")
    yield described(found)


def as_printed(size: str, name: str, options: argparse.Namespace) -> Iterator[str]:
    """What the paper's size of an item runs, by default; with one step size where memory is too small for all."""
    item, unit = printed(size, name, options.device)
    found = fitting(unit, options)
    if found is None:  # the error has gone, and with it what it held
        yield f"{len(unit.step_sizes)} step sizes as one batch take more memory than there is; one:"
        unit = unit.of(unit.problems, unit.step_sizes[:1])
        free()
        found = measure(unit, options.steps, options.rounds, "float32")
    hours = PAPER_HOURS.get(size) if name == "RMSPropSGLD" else None
    rows = f"{found.made:,} numbers of rows made in a step" if found.made else "moments of batches kept"
    beside = f"; {hours / 100 / found.hours:.3g} × the paper's speed" if hours else ""
    yield f"as {item}, network {unit.problems[0]}, minibatches, {rows}; {described(found)}{beside}"


def fitting(unit: Unit, options: argparse.Namespace) -> Figure | None:
    """None where there is too little memory."""
    free()
    try:
        return measure(unit, options.steps, options.rounds, "float32")
    except torch.OutOfMemoryError:
        return None


def described(found: Figure) -> str:
    speed = found.rows * found.dim / found.seconds
    return (
        f"{found.dim:,} parameters × {found.rows} chains: {1000 * found.seconds:.4g} ms, {speed:.3g} chain-parameters/s, "
        f"{found.roof / found.seconds:.0%} of the roofline (operations {1000 * found.work / found.rate:.3g} ms, memory "
        f"{1000 * found.moved / found.bandwidth:.3g} ms); first steps {found.first:.2g} s"
    )


def free() -> None:
    """What earlier runs took of the card's memory."""
    gc.collect()
    torch.cuda.empty_cache()


@contextmanager
def stepping(way: str) -> Iterator[None]:
    """Runs that begin in here do their steps in this way."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = way
    try:
        yield
    finally:
        del os.environ[VARIABLE]
        if before is not None:
            os.environ[VARIABLE] = before


def side_by_side(size: str, options: argparse.Namespace) -> Iterator[str]:
    """A step in each way, of the same unit; which ways are slower than plain."""
    device = torch.device(options.device)
    if device.type != "cuda":
        yield f"not asked: steps are recorded as graphs on a CUDA device alone, and this is {device.type}"
        return
    unit, found = unit_of(size, SAMPLERS[-1], options.settings, 4, options.device), {}
    for way in WAYS:
        with stepping(way):
            found[way] = measure(unit, options.steps, options.rounds, "float32")
        yield f"{way}: {1000 * found[way].seconds:.4g} ms; first steps {found[way].first:.2g} s"
    yield slower({way: each.seconds for way, each in found.items()})


def slower(seconds: Mapping[str, float]) -> str:
    """A sentence on which ways take longer than plain steps, of the seconds of a step by each."""
    times = {way: each / seconds["plain"] for way, each in seconds.items() if way != "plain"}
    late = [way for way, time in times.items() if time > 1]
    said = ", ".join(f"{way} takes {time:.2f} times as long as plain" for way, time in times.items())
    return f"{said}; slower than plain: {' and '.join(late) or 'none'}"


def peers(device: torch.device, steps: int, rounds: int) -> Iterator[str]:
    """Minibatch SGLD on one network: chain-steps a second."""
    widths, chains, rows = PEERS_ON
    problem = DeepLinearNetwork.random(widths=widths, n=100_000, ranks="full", seed=0)
    from llc_core import Run, RunConfig

    sampler = {"name": "SGLD", "step_size": 1e-10}
    config = RunConfig(
        sampler=sampler, chains=chains, steps=10**6, batch_size=rows, gradient="minibatch", device=str(device)
    )
    ours = Run(config, problem)
    mine = chains * steps / best(lambda: ours.advance(steps), device, rounds)
    yield f"the engine: {mine:,.0f} chain-steps/s on {'-'.join(map(str, widths))}, {chains} chains"
    loop = PlainLoop(problem, 1e-10, chains, rows, device=device)
    other = chains * steps / best(lambda: loop.run(steps), device, rounds)
    yield f"by hand in torch, chain after chain: {other:,.0f}; the engine is {mine / other:.3g} times as fast"
    if importlib.util.find_spec("jax") is None:
        yield "blackjax: JAX is not installed"
        return
    free()
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # else it takes three quarters of a card
    from lab.benchmarks.peers.blackjax_linear import Chains as JaxChains
    from lab.benchmarks.peers.blackjax_linear import blackjax

    with tempfile.TemporaryDirectory() as folder:
        file = str(save(problem, Path(folder) / "race.npz"))
        order = {"load": file, "batch": rows, "step_size": 1e-10, "chains": chains, "steps": steps, "seed": 0}
        race = JaxChains(order)
    race.run(1, math.inf)
    seconds = race.run(rounds, math.inf)["wall"]
    each = min(b - a for a, b in zip([0.0, *seconds], seconds, strict=False))
    whose = "blackjax" if blackjax else "blackjax's step by hand in JAX"
    yield beside(mine, device.type, chains * steps / each, whose, {"gpu": "cuda"}.get(race.platform, race.platform))


def beside(mine: float, here: str, theirs: float, whose: str, there: str) -> str:
    """Chain-steps a second on devices of the kinds `here` and `there`; a ratio only where these are the same."""
    ratio = (
        f"the engine is {mine / theirs:.3g} times as fast" if here == there else f"no ratio: the engine ran on {here}"
    )
    return f"{whose} on {there}: {theirs:,.0f}; {ratio}"


if __name__ == "__main__":
    main()
