"""Runs of the engine that the page without a server plays again: what eight chains met, and where the first one was.

python -m lab.page.record [FILE]        writes lab/page/runs.json; takes seconds
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from llc_core import DeepLinearNetwork, RunConfig
from llc_core.engine.run import Run

TARGET = Path(__file__).parent / "runs.json"
WIDTHS = (5, 5, 5, 5)
LAYER_RANKS = ((5, 5, 5), (3, 3, 3), (1, 1, 1))
"""Three solutions of one network: the same weights in number, and fewer and fewer of them used."""
CHAINS, STEPS, FRAMES, BURN_IN = 8, 480, 80, 0.25
SAMPLER = "Gibbs"
"""Draws a layer at a time from its exact distribution. Langevin chains would need a hundred thousand steps here."""
SEED = 3
WALKED = (3, 3, 3)
"""The solution whose first chain is drawn weight by weight."""
PLACES = 40


def recorded(layer_ranks: Sequence[int], steps: int = STEPS, frames: int = FRAMES) -> dict[str, Any]:
    """One run on a network whose data have no noise, so that λ̂ tends to λ.

    met: [frames, chains], nβ·ΔL, the mean over the steps of a frame.  hat: [frames, chains], running λ̂; null during burn-in.
    now: [PLACES, d], where the first chain is, next to w0 [d]; empty but for WALKED.
    lambda, estimate, error: the exact local coefficient as [top, bottom], and the run's own λ̂ with its standard error.
    """
    problem = DeepLinearNetwork.random(widths=WIDTHS, layer_ranks=layer_ranks, noise_std=0.0, seed=SEED)
    sampler = {"name": SAMPLER}
    run = Run(
        RunConfig(sampler=sampler, gradient="full", chains=CHAINS, steps=steps, burn_in=BURN_IN, seed=SEED), problem
    )
    w0 = np.concatenate([w.ravel() for w in problem.weights])
    met, hats, places = [], [], []
    for _ in range(frames):
        snapshot = run.advance(steps // frames)
        met.append(snapshot.n_beta * np.mean(snapshot.excess_loss, axis=0))
        hats.append(snapshot.llc)
        places.append(w0 + run.displacements[0])
    found, exact = run.estimates(largest_drawn=0)[0], problem.local_learning_coefficient.value
    walked = places[:: max(1, frames // PLACES)] if tuple(layer_ranks) == WALKED else []
    return {
        "widths": list(WIDTHS),
        "ranks": list(layer_ranks),
        "sampler": SAMPLER,
        "steps": steps,
        "burn_in": run.burn_in,
        "lambda": [exact.numerator, exact.denominator],
        "estimate": digits(found.llc, 4),
        "error": digits(found.llc_se, 2),
        "w0": shortened(w0),
        "met": shortened(met),
        "hat": shortened(hats),
        "now": shortened(walked, 2),
    }


def digits(value: float, count: int = 3) -> float | None:
    return float(f"{value:.{count}g}") if math.isfinite(value) else None


def shortened(values: Any, count: int = 3) -> Any:
    """Nested lists of numbers with as many digits as a picture shows."""
    if np.ndim(values):
        return [shortened(each, count) for each in values]
    found = digits(float(values), count)
    return int(found) if found is not None and found == int(found) else found


def main(words: Sequence[str]) -> None:
    target = Path(words[0]) if words else TARGET
    runs = [recorded(ranks) for ranks in LAYER_RANKS]
    target.write_text(json.dumps(runs, separators=(",", ":")) + "\n", encoding="utf-8")
    for run in runs:
        top, bottom = run["lambda"]
        print(f"{run['widths']}, ranks {run['ranks']}: λ = {top / bottom:g}, λ̂ = {run['estimate']} ± {run['error']}")
    print(f"{target}: {target.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
