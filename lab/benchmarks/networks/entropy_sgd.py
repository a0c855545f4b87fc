"""Does entropy-SGD find more degenerate networks than SGD? Digits, two hidden layers of 64, ten seeds, pairwise.

    python -m lab.benchmarks.networks.entropy_sgd              # about 14 minutes on one core; writes lab/results/entropy_sgd.json
    python -m lab.benchmarks.networks.entropy_sgd --seeds 8 9 --output /tmp/two.json

The constants are those of Lau, Murfet & Wei 2023, γ = 100 among them, with their rate η = 0.01 for both optimisers. The
comparison is done in several ways, since it turns out to depend on which one is meant:

same steps       both take STEPS steps at η = 0.01, as in the paper; entropy-SGD then sees five times as many minibatches
same loss, η     entropy-SGD with outer rate η until L_n ≤ LOSS; SGD with η = 0.01 until it has reached the same L_n

A pair starts at the same parameters. λ̂ is measured by UnderdampedLangevin with exact gradients: 400 steps of SGLD at
ε = 1e-5, as in the paper, end long before the chains have reached their stationary distribution.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from lab.benchmarks.command import read_options
from lab.benchmarks.machine import machine
from llc_core import UnderdampedLangevin, estimate
from llc_core.networks import Checkpoint, EntropySGD, MomentumSGD, Split, build_model, digits, potential_at, train

OUTPUT = Path(__file__).resolve().parents[2] / "results" / "entropy_sgd.json"
MODEL = {"kind": "mlp", "widths": [64, 64, 64, 10], "activation": "relu"}
GAMMA, CHAINS, DRAWS = 100.0, 4, 800
STEPS, LOSS, LONGEST = 1000, 0.05, 8000
RATES = (0.01, 0.1, 1.0)
"""Outer rates η of entropy-SGD. 0.01 is the paper's; with 1, w moves to the mean μ itself, as Chaudhari et al. 2017 do."""


def measured(checkpoint: Checkpoint, data: Split, draws: int = DRAWS) -> dict[str, Any]:
    """λ̂ of one network, and whether to trust it."""
    result = estimate(
        potential_at(build_model(MODEL), checkpoint, data),
        UnderdampedLangevin(),
        localization=GAMMA,
        chains=CHAINS,
        steps=draws,
        burn_in=draws // 4,
        progress=False,
    )
    size = sum(float(v.square().sum()) for v in checkpoint.state.values()) ** 0.5
    return {
        "llc": result.llc,
        "se": result.llc_se,
        "r_hat": result.r_hat,
        "ess": result.ess,
        "dead": result.diverged,
        "steps": checkpoint.step,
        "train_loss": checkpoint.train_loss,
        "test_loss": checkpoint.test_loss,
        "test_accuracy": checkpoint.test_accuracy,
        "norm": size,
    }


def trained(data: Split, optimizer: EntropySGD | MomentumSGD, seed: int, **until: Any) -> Checkpoint:
    return train(build_model(MODEL, seed), data, optimizer, seed=seed, **{"steps": LONGEST, **until}).last


def same_loss(data: Split, rate: float, seed: int, loss: float = LOSS) -> tuple[Checkpoint, Checkpoint]:
    """Entropy-SGD until L_n ≤ `loss`, and SGD until it has reached what entropy-SGD did."""
    entropy = trained(data, EntropySGD(learning_rate=rate), seed, until_loss=loss)
    return entropy, trained(data, MomentumSGD(), seed, until_loss=entropy.train_loss)


def same_steps(data: Split, seed: int) -> tuple[Checkpoint, Checkpoint]:
    return trained(data, EntropySGD(), seed, steps=STEPS), trained(data, MomentumSGD(), seed, steps=STEPS)


def pair(way: str, seed: int, entropy: Checkpoint, sgd: Checkpoint, data: Split) -> dict[str, Any]:
    row = {"way": way, "seed": seed, "entropy": measured(entropy, data), "sgd": measured(sgd, data)}
    e, s = row["entropy"], row["sgd"]
    print(
        f"{way:18s} seed {seed}: entropy-SGD {e['llc']:6.2f} ± {e['se']:.2f} (loss {e['train_loss']:.4f}, R-hat "
        f"{e['r_hat']:.3f}, dead {e['dead']}), SGD {s['llc']:6.2f} ± {s['se']:.2f} (loss {s['train_loss']:.4f}, R-hat "
        f"{s['r_hat']:.3f}, dead {s['dead']})",
        flush=True,
    )
    return row


def main() -> None:
    arguments = read_options(
        globals(),
        {"seeds": [0], "STEPS": 20, "LONGEST": 40, "DRAWS": 10, "RATES": (0.1,)},
        seeds=list(range(10)),
        output=OUTPUT,
    )
    data, started, rows = digits(), time.perf_counter(), []
    for seed in arguments.seeds:
        rows.append(pair("same steps", seed, *same_steps(data, seed), data))
        for rate in RATES:
            rows.append(pair(f"same loss, η = {rate:g}", seed, *same_loss(data, rate, seed), data))
    seconds = time.perf_counter() - started
    for way in dict.fromkeys(row["way"] for row in rows):
        gaps = np.array([r["entropy"]["llc"] / r["sgd"]["llc"] - 1 for r in rows if r["way"] == way])
        spread = gaps.std(ddof=1) / len(gaps) ** 0.5 if len(gaps) > 1 else float("nan")
        print(
            f"{way:18s} entropy-SGD below SGD on {int((gaps < 0).sum())} of {len(gaps)}; {gaps.mean():+.1%} ± {spread:.1%}"
        )
    print(f"{seconds:.0f} s")
    settings = {
        "model": MODEL,
        "gamma": GAMMA,
        "chains": CHAINS,
        "draws": DRAWS,
        "steps": STEPS,
        "loss": LOSS,
        "rates": RATES,
    }
    report = {"machine": machine(), "seconds": round(seconds), **settings, "rows": rows}
    arguments.output.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
