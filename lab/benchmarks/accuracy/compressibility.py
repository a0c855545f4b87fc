"""Does the number of bits that a network needs follow λ? Random deep linear networks of one size, and digits over training.

    python -m lab.benchmarks.accuracy.compressibility        two hundred networks of each kind, and five trainings; ten minutes of one core

Every tensor is rounded to a grid, or cut to a rank, and of digits it may lose its smallest weights (`llc_core.compressibility`). Two kinds of layers of
random rank: "cut" ones are Xavier-normal matrices whose smaller singular values are set to 0, so that rank and size fall
together; "same norm" ones are scaled back to the norm that they had. Rounding moves every weight by an error of about step²/12, so that
the loss should rise by tr ∇²L·step²/24 whatever λ is: "curvature" are the bits at which it reaches the tolerance by this.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from lab.benchmarks.command import option, read_options
from llc_core import DeepLinearNetwork, compressibility
from llc_core.networks import build_model, digits, potential_at, train

WIDTHS = (16, 8, 16)
TOLERANCE = 0.01
KINDS = ("cut", "same norm")
RESAMPLES = 500
CHECKPOINTS, STEPS, SAMPLED = (30, 100, 300), 1000, 2000


def network(kind: str, seed: int) -> DeepLinearNetwork:
    random = np.random.default_rng(seed)
    layers = []
    for before, after in zip(WIDTHS, WIDTHS[1:], strict=False):
        w = random.standard_normal((after, before)) * math.sqrt(2 / (before + after))
        u, s, v = np.linalg.svd(w, full_matrices=False)
        rank = int(random.integers(1, len(s) + 1))
        scale = 1.0 if kind == "cut" else np.linalg.norm(s) / np.linalg.norm(s[:rank])
        layers.append(scale * (u[:, :rank] * s[:rank]) @ v[:rank])
    return DeepLinearNetwork(layers, n=10_000, seed=seed)


def bits_by_curvature(problem: DeepLinearNetwork) -> float:
    """Bits at which Σ tr ∇²L of each tensor · step²/24 is the tolerance."""
    zero = torch.zeros(1, problem.dim, dtype=torch.float64)
    diagonal = problem.hessian_diagonal(zero, None, torch.Generator()).squeeze(0)
    traces = [float(part.sum()) for part in torch.split(diagonal, [w.size for w in problem.weights])]
    whole = sum(t * float(np.abs(w).max()) ** 2 for t, w in zip(traces, problem.weights, strict=True))
    return 1 + math.log2(1 + math.sqrt(whole / (24 * TOLERANCE)))


def ranked(x: Sequence[float]) -> np.ndarray:
    from scipy.stats import rankdata

    return np.asarray(rankdata(x))


def correlations(table: np.ndarray) -> np.ndarray:
    """Of λ, bits and curvature [3, K]: ranks of λ and bits, of curvature and bits, and of λ and bits with curvature's taken out."""
    r = np.corrcoef([ranked(row) for row in table])
    lam, bent, both = r[0, 1], r[1, 2], r[0, 2]
    return np.array([lam, bent, (lam - bent * both) / math.sqrt((1 - bent**2) * (1 - both**2))])


def with_error(table: np.ndarray) -> list[str]:
    random = np.random.default_rng(0)
    drawn = [correlations(table[:, random.integers(0, table.shape[1], table.shape[1])]) for _ in range(RESAMPLES)]
    return [f"{value:+.3f} ± {se:.3f}" for value, se in zip(correlations(table), np.nanstd(drawn, axis=0), strict=True)]


def linear(kind: str, networks: int) -> None:
    rows = []
    for seed in range(networks):
        problem = network(kind, seed)
        found = compressibility(problem, shares=[1], tolerance=TOLERANCE, llc=False)
        assert found.exact is not None
        rows.append((float(found.exact), found.critical_bits, bits_by_curvature(problem), found.critical_rank))
    lam, bits, curvature, rank = np.array(rows).T
    name = "-".join(map(str, WIDTHS))
    print(
        f"\n{networks} networks {name}, {kind}: λ from {lam.min():g} to {lam.max():g}, bits from {bits.min():.2f} to {bits.max():.2f}"
    )
    print(
        f"  bits less those by curvature: {np.mean(bits - curvature):+.2f} on average, at most {np.abs(bits - curvature).max():.2f}"
    )
    for label, kept in (("bits", bits), ("rank", rank)):
        of_lam, of_bent, alone = with_error(np.array([lam, kept, curvature]))
        print(
            f"  {label}: rank correlation with λ {of_lam}, with curvature {of_bent}, with λ at equal curvature {alone}",
            flush=True,
        )


def trained(seeds: int) -> None:
    data = digits()
    found = []
    print(f"\ndigits, 64-32-10, γ = 100, a rise of {TOLERANCE:g}")
    print(f"{'seed':>4} {'step':>5} {'loss':>7} {'λ̂':>7} {'±':>6} {'bits':>5} {'rank':>4} {'share':>6}  verdict")
    for seed in range(seeds):
        model = build_model({"kind": "mlp", "widths": [64, 32, 10]}, seed)
        training = train(model, data, steps=STEPS, checkpoints=list(CHECKPOINTS), seed=seed + 1)
        for point in training.checkpoints:
            options: dict[str, Any] = {"localization": 100.0, "steps": SAMPLED}
            each = compressibility(potential_at(model, point, data), tolerance=TOLERANCE, **options)
            e = each.estimate
            assert e is not None
            row = (e.baseline_loss, e.llc, each.critical_bits, each.critical_rank, each.critical_share)
            found.append((seed, point.step, *row))
            line = f"{seed:>4} {point.step:>5} {row[0]:>7.4f} {row[1]:>7.2f} {e.llc_se:>6.2f} {row[2]:>5.2f}"
            print(f"{line} {row[3]:>4g} {row[4]:>6.1%}  {e.converged}", flush=True)
    table = np.array(found).reshape(seeds, -1, 7)
    print(f"mean and spread over {seeds} trainings")
    for of_step in table.swapaxes(0, 1):
        means, spread = of_step[:, 2:].mean(axis=0), of_step[:, 2:].std(axis=0, ddof=min(1, seeds - 1))
        cells = (f"{m:>8.4g} ± {s:.2g}" for m, s in zip(means, spread, strict=True))
        print(f"{of_step[0, 1]:>5.0f} {' '.join(cells)}", flush=True)
    for first, last in zip(table.swapaxes(0, 1), table.swapaxes(0, 1)[1:], strict=False):
        up, down = (last[:, 3] > first[:, 3]).sum(), (last[:, 4] < first[:, 4]).sum()
        print(f"from step {first[0, 1]:.0f} to {last[0, 1]:.0f} λ̂ rises in {up} of {seeds}, bits fall in {down}")


def main() -> None:
    options = read_options(
        globals(),
        {"networks": 8, "seeds": 2, "RESAMPLES": 5, "CHECKPOINTS": (), "STEPS": 10, "SAMPLED": 40},
        one_thread=True,
        networks=200,
        seeds=option(5, "trainings of digits"),
    )
    for kind in KINDS:
        linear(kind, options.networks)
    trained(options.seeds)


if __name__ == "__main__":
    main()
