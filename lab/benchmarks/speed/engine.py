"""Engine beside a plain nn.Module + autograd loop: chain-steps per second and time to truth, in one run.

python -m lab.benchmarks.speed.engine
"""

from __future__ import annotations

import statistics
import time

from lab.benchmarks.command import option, read_options
from lab.benchmarks.speed.plain_loop import PlainLoop
from llc_core import DeepLinearNetwork, RunConfig
from llc_core.engine.run import Run

CHAINS, BATCH, STEP_SIZE = 4, 500, 1e-10
SHAPES = {"[100,80,120,60,100]": ([100, 80, 120, 60, 100], 200), "[400]*7": ([400] * 7, 6)}


def engine(problem: DeepLinearNetwork, gradient: str) -> Run:
    sampler = {"name": "SGLD", "step_size": STEP_SIZE}
    config = RunConfig(sampler=sampler, gradient=gradient, batch_size=BATCH, chains=CHAINS, steps=10**6)
    return Run(config, problem)


def throughput(rounds: int) -> None:
    """Same algorithm (batch-500 SGLD), blocks of both taken in turn; medians over the rounds."""
    print(f"chain-steps/s, {CHAINS} chains, batch {BATCH}, SGLD")
    for name, (widths, steps) in SHAPES.items():
        problem = DeepLinearNetwork.random(widths=widths, ranks="full", seed=0)
        loop = PlainLoop(problem, STEP_SIZE, CHAINS, BATCH)
        runs = {g: engine(problem, g) for g in ("minibatch", "control_variate", "full")}
        times: dict[str, list[float]] = {name: [] for name in ["loop", *runs]}
        loop.run(max(1, steps // 10))
        for current in runs.values():
            current.advance(max(2, steps // 10))
        for _ in range(rounds):
            times["loop"].append(loop.run(steps))
            for gradient, current in runs.items():
                start = time.perf_counter()
                current.advance(steps)
                times[gradient].append(time.perf_counter() - start)
        base = times["loop"]
        for label, seconds in times.items():
            ratio = statistics.median(b / s for b, s in zip(base, seconds, strict=True))
            rate = CHAINS * steps / statistics.median(seconds)
            print(f"  {name:22s} {label:16s} {rate:9.0f}   {ratio:5.2f} x the loop")


def time_to_truth(limit: float, problems: int) -> None:
    """Seconds until the running estimate is within 5% of expected_llc, engine defaults against the loop's SGLD.

    The loop gets a step size of 0.1 of its stability limit at w0 and, as it has no burn-in rule, averages the last
    half of what it has done at every look.
    """
    print(f"seconds to |λ̂/expected − 1| ≤ 5% and staying there until the end (limit {limit:.0f} s), 1K class")
    for seed in (5, 6, 7)[:problems]:
        problem = DeepLinearNetwork.random("1K", seed=seed)
        expected = problem.expected_llc()
        current = Run(RunConfig(sampler={"name": "UnderdampedLangevin"}), problem)
        start, hit = time.perf_counter(), None
        for _ in current:
            error = abs(current.llc_per_chain().mean() / expected - 1)
            hit = None if not error <= 0.05 else hit if hit is not None else time.perf_counter() - start
        total = time.perf_counter() - start
        limit_step = Run(RunConfig(sampler={"name": "SGLD"}, gradient="full", steps=2), problem)
        limit_step.advance(1)
        stable = float(limit_step.estimates()[0].diagnostics["stability_limit"])
        loop = PlainLoop(problem, 0.1 * stable, CHAINS, BATCH)
        begin, loop_hit, sums = time.perf_counter(), None, []
        while time.perf_counter() - begin < limit:
            loop.sum.zero_()
            loop.count = 0
            loop.run(100, measure=True)
            sums.append(loop.llc())
            value = statistics.fmean(sums[len(sums) // 2 :])
            if not abs(value / expected - 1) <= 0.05:
                loop_hit = None
            elif loop_hit is None:
                loop_hit = time.perf_counter() - begin
        print(
            f"  seed {seed} {problem.widths}: engine {hit if hit is None else round(hit, 2)} s of {total:.1f}; "
            f"loop {'not reached' if loop_hit is None else round(loop_hit, 1)} (at {value / expected - 1:+.1%} when stopped)"
        )


def main() -> None:
    shapes = {"[10,8,10]": ([10, 8, 10], 20)}
    options = read_options(
        globals(),
        {"rounds": 1, "problems": 1, "limit": 1.0, "SHAPES": shapes},
        rounds=5,
        problems=3,
        limit=option(60.0, "seconds of the loop for each problem"),
    )
    throughput(options.rounds)
    time_to_truth(options.limit, options.problems)


if __name__ == "__main__":
    main()
