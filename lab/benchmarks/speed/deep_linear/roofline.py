"""How near a step of RMSProp-SGLD on a large deep linear network comes to what the device can do.

`python -m lab.benchmarks.speed.deep_linear.roofline --size-class 100M --device cuda`. Every way to step (`llc_core.engine.stepping.recorded`) and every
precision of products (`llc_core.compute.precision`) is measured in turn. Two ceilings are measured in the same run: products of
the network's own shapes (operations/s) and a fused multiply-add over vectors of its size (bytes/s). A step must do the
products, and read and write each parameter's state: 24 bytes for RMSProp-SGLD in float32 (δ, gradient, v read; δ, v written;
W made for the products). The roofline is operations/ceiling + bytes/ceiling, since the update waits for the gradient. Of minibatches
a step must also make the rows, write and read them, and so their moments: once for all step sizes, which share them.

The first steps of a run record and compile. Their seconds are printed, and for each precision the number of steps after which
another way has overtaken the plain one. torch keeps compiled code on the disk; here it is made anew for each run, and the
first that compiles also starts the compiler. The last line has the noise of a step alone: as a generator makes it, and by
place (`llc_core.compute.philox`), uncompiled, compiled, by a kernel that makes four at once, and on a CPU by its compiled loop.

Everything is measured --rounds times; `--steps 10 --rounds 3` suffices for a first look.

The last figure is the time that 50,000 steps of one step size take when --settings of them run as one batch. Gradients are full: what
Hitchcock & Hoogland run has minibatches, and `lab.benchmarks.gpu` times that beside their hours.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import NamedTuple

import torch

from lab.benchmarks.command import option, read_options
from llc_core import DeepLinearNetwork, Run, SweepSpec
from llc_core.compute import gpu as ways
from llc_core.compute import precision as products
from llc_core.compute.gpu import makes_normals
from llc_core.compute.philox import normals
from llc_core.engine.stepping.noise import NoiseByPlace
from llc_core.potentials.deep_linear.virtual_data import VirtualData
from llc_core.studies.papers.items import FOLDER, read_item
from llc_core.studies.papers.local_sampling.step_sizes import StepSizes
from llc_core.sweeps.unit import Unit

BYTES = {"SGLD": 16, "RMSPropSGLD": 24}
"""A step moves so many for each parameter and chain: W made for the products, δ and the gradient read, δ written; v read and written."""
MAKING = 20
"""Operations that make a number of a row, about: Philox's seven rounds of eight serve four of them, and each is then brought to its
law. They count at the rate of products, which is more than a card has for them, so that the floor is one."""
FIRST = 10
"""Steps in which recordings are made and code is compiled."""
PAPER_HOURS = {"100K": 0.9, "1M": 3.5, "10M": 5.0, "100M": 7.0}
"""GPU hours of 100 problems of 50,000 steps in Hitchcock & Hoogland."""
PAPER_STEPS = 50_000


def main() -> None:
    options = read_options(
        globals(),
        {"size_class": "1K", "settings": 1, "steps": 2, "rounds": 1, "products": None, "ways": None},
        size_class="1M",
        problem=0,
        chains=4,
        settings=option(1, "step sizes that run as one batch"),
        steps=option(20, "steps of a round"),
        rounds=option(7, "the fastest counts"),
        device="cuda" if torch.cuda.is_available() else "cpu",
        ways=option(nargs="+", choices=ways.WAYS),
        products=option(nargs="+", choices=products.PRECISIONS),
    )
    on_gpu = options.device != "cpu"
    unit = unit_of(options.size_class, "RMSPropSGLD", options.settings, options.chains, options.device, options.problem)
    torch.compiler.config.force_disable_caches = True
    chosen = options.ways or (ways.WAYS if on_gpu else ("plain",))
    os.environ[ways.VARIABLE] = "plain"
    run = Run(unit.config)
    run.advance(FIRST)  # what a process does only once is in no way's figures
    for precision in options.products or (products.PRECISIONS if on_gpu else ("float32",)):
        found = {}
        for way in chosen:
            os.environ[products.VARIABLE], os.environ[ways.VARIABLE] = precision, way
            found[way] = measure(unit, options.steps, options.rounds, precision)
            print(described(unit, found[way], precision, way), flush=True)
        plain = found.pop("plain", None)
        for way, other in found.items() if plain is not None else ():
            print(f"products {precision}: {way} {overtaking(plain, other)}", flush=True)
    noise_alone((1, run.count, run.problem.dim), run.device, options.rounds, "fused" in chosen)


def overtaking(plain: Figure, other: Figure) -> str:
    """When another way has taken less time in all than the plain one."""
    behind, gain = other.first - plain.first, plain.seconds - other.seconds
    if gain <= 0:
        return "does not overtake plain" if behind > 0 else "is ahead of plain in the first steps, and falls behind"
    return f"overtakes plain after {FIRST + max(0, behind) / gain:,.0f} steps"


class Figure(NamedTuple):
    """What a step of one unit took.

    rate, bandwidth: the ceilings, in operations/s and bytes/s.  work, moved: operations and bytes of a step.
    first, seconds: of the first FIRST steps, and of a later one.  settings, rows, dim: step sizes, chains of all of them, parameters.
    made: numbers of the data that are made in a step.
    """

    rate: float
    bandwidth: float
    work: float
    moved: float
    first: float
    seconds: float
    settings: int
    rows: int
    dim: int
    made: int

    @property
    def roof(self) -> float:
        """Seconds that the ceilings leave: the update waits for the gradient."""
        return self.work / self.rate + self.moved / self.bandwidth

    @property
    def hours(self) -> float:
        """Hours of one setting's 50,000 steps."""
        return PAPER_STEPS * self.seconds / self.settings / 3600


def unit_of(size_class: str, sampler: str, settings: int, chains: int, device: str, problem: int = 0) -> Unit:
    spec = SweepSpec.from_dict(
        {
            "size_class": size_class, "problems": [problem], "samplers": [sampler], "chains": chains, "steps": 10**6,
            "step_sizes": [1e-10 * 0.9**i for i in range(settings)], "device": device,
        }
    )  # fmt: skip
    (unit,) = spec.units()
    return unit


def printed(size_class: str, sampler: str, device: str) -> tuple[str, Unit]:
    """The item of paper 000 on this class, and what its paper size runs as one batch on the network nearest to the mean size.

    Of a class that the paper has not, the first such item has the settings.
    """
    found = {path.stem: read_item(path).sizes["paper"] for path in sorted((FOLDER / "000").glob("figure-*.toml"))}
    sweeps = {name: study.sweep for name, study in found.items() if isinstance(study, StepSizes)}
    name = next((name for name, sweep in sweeps.items() if sweep.size_class == (size_class,)), next(iter(sweeps)))
    spec = sweeps[name].replace(size_class=[size_class], device=device, together=1)
    units = [unit for unit in spec.units() if unit.sampler["name"] == sampler]
    sizes = [sum(a * b for a, b in unit.problem_class.layers(unit.problems[0])) for unit in units]
    mean = sum(sizes) / len(sizes)
    return f"000/{name}", min(zip(sizes, units, strict=True), key=lambda each: abs(each[0] - mean))[1]


def measure(unit: Unit, steps: int, rounds: int, precision: str) -> Figure:
    """A unit by the way to step and the precision that the environment asks for."""
    torch.compiler.reset()
    run = Run(unit.config)
    problem = run.problem
    assert isinstance(problem, DeepLinearNetwork)
    device, rows = run.device, run.count
    with products.tf32_if_asked():
        rate = product_rate(problem, rows, device, precision == "bf16", rounds)
    bandwidth = copy_rate(rows * problem.dim, device, rounds)
    first = best(lambda: run.advance(FIRST), device, rounds=1, warm=False)
    seconds = best(lambda: run.advance(steps), device, rounds) / steps
    made, work, moved = floors(unit, problem)
    return Figure(rate, bandwidth, work, moved, first, seconds, len(run.settings), rows, problem.dim, made)


def floors(unit: Unit, problem: DeepLinearNetwork) -> tuple[int, float, float]:
    """Numbers of the data that a step makes, and the operations and bytes that it cannot do without, in single precision."""
    asked, data = unit.workload, problem.data
    chains = asked.chains * asked.settings
    work = unit.problem_class.step_operations(unit.problems[0], asked) * chains
    moved = float(BYTES[unit.sampler["name"]] * chains * problem.dim)
    if asked.gradient == "full":
        return 0, work, moved
    size, row = asked.batch_size or problem.batch_size, data.inputs + data.outputs
    moments = 4.0 * asked.chains * data.inputs * row
    if data.kept_count(size, asked.on_gpu):
        return 0, work, moved + moments  # read from their table
    numbers = asked.chains * size * row
    made = numbers if isinstance(data, VirtualData) else 0
    work, moved = work + MAKING * made, moved + 4.0 * (numbers + made)
    if size < data.inputs:  # products go through the rows
        return made, work, moved
    return made, work + 2.0 * numbers * data.inputs, moved + 2 * moments


def described(unit: Unit, found: Figure, precision: str, way: str) -> str:
    return (
        f"{unit.size_class} problem {unit.problems[0]}, {found.dim:,} parameters × {found.rows} chains, products {precision}, steps {way}\n"
        f"ceilings {found.rate / 1e12:.3g} TFLOP/s, {found.bandwidth / 1e9:.4g} GB/s; a step {1000 * found.seconds:.4g} ms: "
        f"{found.work / found.seconds / 1e12:.3g} TFLOP/s, {found.moved / found.seconds / 1e9:.4g} GB/s, "
        f"{found.roof / found.seconds:.0%} of the roofline ({1000 * found.roof:.4g} ms); the first {FIRST} steps {found.first:.3g} s\n"
        f"{PAPER_STEPS:,} steps of one setting take {3600 * found.hours:.4g} s"
    )


def noise_alone(shape: tuple[int, int, int], device: torch.device, rounds: int, compiled: bool) -> None:
    """Print what the normals of one step cost by themselves."""
    step = torch.tensor(1, device=device)
    makers: dict[str, Callable[[], object]] = {
        "torch.randn": lambda: torch.randn(shape, device=device),
        "by place": lambda: normals(1, step, shape, torch.float32),
    }
    if compiled:
        kernel = torch.compile(normals, dynamic=False)
        makers["by place, compiled"] = lambda: kernel(1, step, shape, torch.float32)
    numbers = torch.empty(shape, device=device)
    if makes_normals(numbers):
        from llc_core.compute.philox_triton import fill_normals

        makers["by place, four at once"] = lambda: fill_normals(numbers, 1, step)
    if device.type == "cpu":
        noise = NoiseByPlace(*shape[1:], numbers, 1)
        makers["by place, compiled loop"] = lambda: noise.normals(shape[0], 0)
    found = [f"{name} {1000 * best(make, device, rounds):.4g} ms" for name, make in makers.items()]
    print(f"noise {list(shape)} alone: " + ", ".join(found), flush=True)


def product_rate(problem: DeepLinearNetwork, chains: int, device: torch.device, short: bool, rounds: int) -> float:
    """Operations per second of the batched products [H_l × H_{l−1}]·[H_{l−1} × H_0], the forward ones of the network."""
    widths = problem.widths
    shapes = list(zip(widths[1:], widths[2:], strict=False)) or [(widths[0], widths[1])]
    left = [torch.randn(chains, b, a, device=device) for a, b in shapes]
    right = [torch.randn(chains, a, widths[0], device=device) for a, _ in shapes]

    if short:
        left, right = ([x.bfloat16() for x in side] for side in (left, right))

    def multiply() -> None:
        for one, other in zip(left, right, strict=True):
            torch.bmm(one, other)

    work = sum(2.0 * chains * a * b * widths[0] for a, b in shapes)
    return work / best(multiply, device, rounds)


def copy_rate(numbers: int, device: torch.device, rounds: int) -> float:
    """Bytes per second of a ← a + s·b, which reads two vectors and writes one."""
    one, other = (torch.randn(numbers, device=device) for _ in range(2))
    return 12.0 * numbers / best(lambda: one.add_(other, alpha=1e-9), device, rounds)


def best(call: Callable[[], object], device: torch.device, rounds: int, warm: bool = True) -> float:
    """Least seconds of a few calls, after one that warms up."""
    if warm:
        call()
    found = []
    for _ in range(rounds):
        synchronize(device)
        started = time.perf_counter()
        call()
        synchronize(device)
        found.append(time.perf_counter() - started)
    return min(found)


def synchronize(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


if __name__ == "__main__":
    main()
