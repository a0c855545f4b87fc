"""What it costs to keep the losses of 1,000 rows along the chains of a network of a million parameters, and how often a look is worth it.

    OMP_NUM_THREADS=1 python -m lab.benchmarks.speed.row_losses        seven minutes of one core

Runs with and without looks advance in turns: processor time, ratios within a round. How often a look is worth it is said by one run
that looks often and is thinned: the spacing up to which few effective draws are lost.
"""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from lab.benchmarks.command import read_options
from lab.benchmarks.peers.module_cases import clock, mlp
from lab.benchmarks.smoke import status
from llc_core import NetworkPotential, RunConfig, influence, with_rows
from llc_core.engine.run import Run
from llc_core.studies.covariances.draws import row_draws

WIDTHS = (784, 900, 320, 10)
SAMPLES, ROWS, PROBES = 5000, 1000, 1000
CHAINS = 2
BATCHES = (64, 256)
SPACINGS = (10, 25, 50)
BLOCK = 50
"""Steps of a run in a round: a multiple of each spacing."""
SETTLE = 100
"""Steps of burn-in, in which nobody looks."""
FINEST = 5
THINNED = (1, 2, 5, 10, 20)
QUERIES = 100
LONG = 2100
"""Steps of the run that is thinned."""
BAR = 1.3


def main() -> None:
    small = {
        "rounds": 1,
        "WIDTHS": (20, 8, 3),
        "SAMPLES": 60,
        "ROWS": 20,
        "PROBES": 20,
        "LONG": 200,
        "BATCHES": (16,),
        "QUERIES": 5,
    }
    options = read_options(globals(), small, one_thread=True, rounds=5)
    problem, probes = network()
    print(f"{problem.dim:,} parameters, {SAMPLES:,} rows, {CHAINS} chains of SGLD, float32")
    fine = [costs(problem, probes, batch, options.rounds) for batch in BATCHES]
    worth(problem)
    raise SystemExit(status(not all(fine)))


def network() -> tuple[NetworkPotential, NetworkPotential]:
    """A network whose labels are drawn from what it says itself, and probe rows."""
    torch.manual_seed(0)
    module: nn.Module = mlp(*WIDTHS)

    def rows(count: int) -> tuple[torch.Tensor, torch.Tensor]:
        x = torch.randn(count, WIDTHS[0])
        return x, torch.distributions.Categorical(logits=module(x)).sample()

    problem = NetworkPotential(module, "cross_entropy", rows(SAMPLES), batch_size=min(BATCHES))
    return problem, with_rows(problem, rows(PROBES))


def run(
    problem: NetworkPotential, batch: int, steps: int, second: Any = None, observables: Any = (), every: int = 10
) -> Run:
    config = RunConfig(
        sampler={"name": "SGLD"}, gradient="minibatch", batch_size=batch, chains=CHAINS, localization=100.0, steps=steps,
        burn_in=SETTLE, observables=list(observables), observe_every=every,
    )  # fmt: skip
    return Run(config, problem, observable=second)


def looks(every: int, **options: Any) -> list[dict[str, Any]]:
    return [{"name": "RowLosses", "rows": list(range(ROWS)), "every": every, "most": 1024, **options}]


def costs(problem: NetworkPotential, probes: NetworkPotential, batch: int, rounds: int) -> bool:
    """Whether 1,000 rows cost no more than the bar at some spacing that is offered, and 1,000 probe rows beside them too."""
    steps = SETTLE + (1 + rounds) * BLOCK
    runs = {"alone": run(problem, batch, steps)}
    for every in SPACINGS:
        runs[f"{ROWS:,} rows, every {every}"] = run(problem, batch, steps, None, looks(every))
        runs[f"{ROWS:,} and {PROBES:,} probe rows, every {every}"] = run(
            problem, batch, steps, probes, looks(every), every
        )
    times: dict[str, list[float]] = {name: [] for name in runs}
    for each in runs.values():
        each.advance(SETTLE + BLOCK)
    for _ in range(rounds):
        for name, each in runs.items():
            begin = clock()
            each.advance(BLOCK)
            times[name].append(clock() - begin)
    print(f"\nBatches of {batch}, {rounds} rounds of {BLOCK} steps")
    least = {}
    for name, seconds in times.items():
        ratios = [b / a for a, b in zip(times["alone"], seconds, strict=True)]
        least[name] = statistics.median(ratios)
        rate = 1000 * statistics.median(seconds) / BLOCK
        print(f"  {name:<44} {rate:>7.1f} ms a step, × {least[name]:.2f} ({min(ratios):.2f} to {max(ratios):.2f})")
    return all(least[name] <= BAR for name in least if name.endswith(f" {max(SPACINGS)}"))


def worth(problem: NetworkPotential) -> None:
    """One run that looks at every few steps, and the same run as if it had looked less often."""
    finest = run(problem, max(BATCHES), LONG, None, looks(FINEST))
    begin = clock()
    finest.advance(LONG)
    took, kept = clock() - begin, row_draws(finest.estimates()[0])
    assert kept.steps is not None
    print(
        f"\nBatches of {max(BATCHES)}: {len(kept.steps):,} looks, {FINEST} steps apart; influence of {ROWS:,} rows on {QUERIES}"
    )
    for apart in THINNED:
        some = slice(None, None, apart)
        part = replace(kept, losses=kept.losses[some], weights=kept.weights[some] * apart, steps=kept.steps[some])
        begin = clock()
        found = influence(part, list(range(QUERIES)))
        print(
            f"  every {apart * FINEST:>3} steps: {len(part.losses):>4} looks, {found.effective_draws:>6,.0f} effective draws, "
            f"error {found.relative_error:.1%}; influence took {clock() - begin:.1f} s, the run {took:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
