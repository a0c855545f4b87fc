"""λ̂ at every rest of a deep linear network that learns, at the weights as they are, beside exact draws at the learned directions alone.

    python -m lab.benchmarks.accuracy.stages        ten seeds of each network; eight minutes of one core for the first one

A seed is judged rightly where every λ̂ is within 3% or three errors of the reference, and trusted.
"""

from __future__ import annotations

import math

from lab.benchmarks.command import option, read_options
from lab.benchmarks.smoke import status
from llc_core import DeepLinearNetwork, gibbs_reference, stages

NETWORKS = ((10, 4, 10), (10, 4, 10, 4, 10))
NEAR = 0.03


def main() -> None:
    options = read_options(
        globals(),
        {"seeds": 1, "sweeps": 20, "NETWORKS": ((4, 2, 4),)},
        one_thread=True,
        seeds=10,
        widths=option(None, "of one network in place of all", type=int, nargs="+"),
        sweeps=option(2000, "of the reference"),
    )
    missed = False
    for widths in [tuple(options.widths)] if options.widths else NETWORKS:
        values = (4.0, 2.0, 1.0, 0.5)[: min(widths)]
        rows: dict[int, list[tuple[float, float, float, bool]]] = {}
        right = 0
        for seed in range(options.seeds):
            found = stages(widths, values, seed=seed)
            fine = True
            for stage, estimate in zip(found, found.estimate(seed=seed), strict=True):
                network = DeepLinearNetwork(stage.truncated)
                reference = gibbs_reference(network, sweeps=options.sweeps, seed=100 + seed)
                off = estimate.llc / reference.llc - 1
                error = math.hypot(estimate.llc_se, reference.llc_se) / reference.llc
                near = abs(off) <= max(NEAR, 3 * error)
                fine = fine and near and bool(estimate.converged)
                exact = float(stage.coefficient)
                rows.setdefault(stage.rank, []).append((exact, estimate.llc, off, bool(estimate.converged)))
            right += fine
            offs = ", ".join(f"{each[-1][2]:+.2%}" for _, each in sorted(rows.items()))
            print(f"seed {seed}: {offs}; {'right' if fine else 'not right'}", flush=True)
        print(f"\n{'-'.join(map(str, widths))}: {right} of {options.seeds} seeds judged rightly")
        print(f"{'rank':>4} {'exact λ':>8} {'mean λ̂':>8} {'mean off':>9} {'farthest':>9} {'trusted':>8}")
        for rank, each in sorted(rows.items()):
            exact, llc, off, trusted = zip(*each, strict=True)
            line = f"{rank:>4} {exact[0]:>8g} {sum(llc) / len(llc):>8.2f} {sum(off) / len(off):>+9.2%} {max(off, key=abs):>+9.2%}"
            print(f"{line} {sum(trusted):>5} of {len(trusted)}", flush=True)
        missed = missed or right < 0.9 * options.seeds
    raise SystemExit(status(missed))


if __name__ == "__main__":
    main()
