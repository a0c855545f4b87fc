"""Weights and functions: how far finite widths are from the Gaussian process, what an effective draw costs, how fast an ensemble's distribution is
right, and what weights and λ̂ do meanwhile.

    python -m lab.benchmarks.networks.functions
    python -m lab.benchmarks.networks.functions --only gap --only stein

Seven points of the curve x·sin(1.5x) + x³/8, two hidden SELU layers, noise variance .05. Every part prints its bar and whether it is met.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

import lab
from lab.benchmarks.command import option, read_options
from lab.benchmarks.machine import machine
from llc_core import (
    BayesianNetwork,
    DeepLinearNetwork,
    RunConfig,
    estimate,
    finite_width,
    kernel_stein_discrepancy,
    nngp_posterior,
)
from llc_core.diagnostics.convergence import r_hat
from llc_core.engine.run import Run

INPUTS = np.array([-2.0, -1.0, 0.0, 0.5, 1.2, 1.8])
SIX = (-2.0, -1.0, 0.0, 0.5, 1.0, 1.5)
"""Six of the inputs of the bands."""
RESULTS = Path(lab.__file__).parent / "results" / "functions.json"
DRAWS = {80: 60_000, 160: 24_000, 320: 10_000}
"""Of the prior, by width: each is worth 400 to 2,000 of the posterior."""
REPEATS = 5
FOUND = {
    (7, 2, 50, 0.05, 1.0): 0.53,
    (7, 3, 50, 0.05, 1.0): 0.33,
    (3, 2, 100, 0.1, 1.0): 0.84,
    (7, 2, 50, 0.01, 0.1): 0.75,
    (7, 2, 50, 0.01, 1.0): 0.0,
}
"""Points, hidden layers, width, noise variance, share of the printed step → acceptance."""
Row = dict[str, Any]


def network(width: int, **other: Any) -> BayesianNetwork:
    return BayesianNetwork((1, width, width, 1), **other)


def acceptance() -> Row:
    """Acceptance of 16 chains of MALA from the prior in the second half of 400 iterations, at the printed step h = .025/(nH) or a share of
    it. Bars: what an independent prototype measured (FOUND), ±.05; at a noise variance of .01 below .005."""
    found: Row = {}
    for (points, layers, width, variance, share), wanted in FOUND.items():
        data = {"name": "wave", "n": points}
        problem = BayesianNetwork((1, *[width] * layers, 1), data, noise_variance=variance)
        sampler = {"name": "MALA", "step_size": 2 * 0.025 / (points * width) * share}
        run = Run(RunConfig(sampler=sampler, chains=16, steps=400, burn_in=0.5, seed=1), problem)
        run.advance(200)
        before = float(run.state["accepted"].mean())
        run.advance(200)
        rate = 2 * float(run.state["accepted"].mean()) - before  # of the second half alone
        met = rate < 0.005 if not wanted else abs(rate - wanted) < 0.05
        name = f"n = {points}, {layers} layers of {width}, variance {variance:g}, step {share:g} h"
        found[name] = {"acceptance": round(rate, 4), "wanted": wanted, "met": met}
        print(f"{name}: {found[name]}", flush=True)
    return {**found, "met": all(row["met"] for row in found.values())}


def bands() -> Row:
    """Mean, sd and 80% bands of the exact posterior at two widths, by long chains of the hidden layers. Bar: their R-hat below 1.05."""
    inputs = np.linspace(-3.0, 2.5, 12)
    found: Row = {"inputs": inputs.tolist()}
    for width, moves in ((20, 10_000), (80, 1_500)):
        exact = finite_width(network(width), inputs, method="chains", moves=moves, seed=1)
        found[f"H = {width}"] = {
            "mean": exact.mean.round(4).tolist(),
            "sd": exact.sd.round(4).tolist(),
            "low": exact.quantile(0.1).round(4).tolist(),
            "high": exact.quantile(0.9).round(4).tolist(),
            "r_hat": exact.r_hat,
            "ess": exact.ess,
        }
        print(f"H = {width}: R-hat {exact.r_hat:.3f}, {exact.ess:.0f} effective draws", flush=True)
    return {**found, "met": all(found[f"H = {width}"]["r_hat"] < 1.05 for width in (20, 80))}


def own_width() -> Row:
    """Chains against the exact posterior of their own width (part `bands`), at six inputs. HMC at both widths, and MALA at half the
    printed step for the paper's 3,000 iterations beside it. Bars, for HMC: means within .15 sd, sd within 10%; the Gaussian process,
    called the truth at H = 20, must fail both."""
    stored = json.loads(RESULTS.read_text())["bands"]
    kept = [stored["inputs"].index(x) for x in SIX]
    found: Row = {"inputs": list(SIX)}
    for width, steps in ((20, 400), (80, 160)):
        truth = {key: np.array(stored[f"H = {width}"][key])[kept] for key in ("mean", "sd")}
        half = {"name": "MALA", "step_size": 0.025 / (7 * width)}
        for name, sampler, length in (("HMC", {"name": "SplitHMC"}, steps), ("MALA", half, 3_000)):
            said = estimate(
                network(width), sampler, chains=32, steps=length, burn_in=0.5, predict=SIX, progress=False, seed=2
            ).predictive
            found[f"{name}, H = {width}"] = {
                **apart(said.mean, said.sd, truth),
                "r_hat_functions": round(float(said.r_hat.max()), 3),
                "r_hat_loss": round(float(said.loss_r_hat), 3),
                "r_hat_weights": round(float(said.weights_r_hat_median), 3),
                "least_ess": round(float(np.nanmin(said.ess))),
            }
            print(f"{name}, H = {width}: {found[f'{name}, H = {width}']}", flush=True)
        limit = nngp_posterior(network(width), SIX)
        found[f"Gaussian process, H = {width}"] = apart(limit.mean, limit.sd, truth)
        print(f"Gaussian process, H = {width}: {found[f'Gaussian process, H = {width}']}", flush=True)
    met = all(agrees(found[f"HMC, H = {width}"]) for width in (20, 80)) and not agrees(
        found["Gaussian process, H = 20"]
    )
    return {**found, "met": met}


def apart(mean: np.ndarray, sd: np.ndarray, truth: Row) -> Row:
    """The largest distance of means, in the exact sd, and the least and the largest ratio of the sd."""
    ratio = sd / truth["sd"]
    away = np.abs((mean - truth["mean"]) / truth["sd"]).max()
    return {"away_sd": round(float(away), 3), "sd_ratio": [round(float(ratio.min()), 3), round(float(ratio.max()), 3)]}


def agrees(row: Row) -> bool:
    low, high = row["sd_ratio"]
    return bool(row["away_sd"] < 0.15 and low > 0.9 and high < 1.1)


def gap() -> Row:
    """|mean at finite width − mean of the Gaussian process| at x = −1, in sd of the process; slope of its logarithm by weighted least
    squares. Bar: −.92 ± .2."""
    limit = nngp_posterior(network(80), [-1.0])
    found = {}
    for width, draws in DRAWS.items():
        exact = finite_width(network(width), [-1.0], draws, method="importance", seed=1)
        size, error = abs(exact.mean[0] - limit.mean[0]) / limit.sd[0], exact.sd[0] / limit.sd[0] / math.sqrt(exact.ess)
        found[width] = [float(size), float(error), round(exact.ess)]
        print(f"H = {width:3}: gap {size:.3f} ± {error:.3f} sd, {exact.ess:.0f} effective draws", flush=True)
    x, y = np.log(list(found)), np.log([each[0] for each in found.values()])
    weight = np.array([(each[0] / each[1]) ** 2 for each in found.values()])
    centred = x - (weight @ x) / weight.sum()
    slope, error = float((weight * centred) @ y / (weight @ centred**2)), float((weight @ centred**2) ** -0.5)
    return {"gap": found, "slope": slope, "slope_se": error, "met": abs(slope + 0.92) < 0.2}


def effective() -> Row:
    """Gradients, burn-in included, and seconds of processor until the least effective size of f at six inputs is 400. The run that
    reaches it is made REPEATS times, and the least seconds count: neighbours on a machine only add to them, through caches that are
    shared. Bars: at H = 80 6·10⁴ gradients and 5 s, at H = 20 10 s, for one sampler at least."""
    found: Row = {}
    plans = {
        "HMC, H = 80": (80, {"name": "SplitHMC"}, 20, 160),
        "HMC, H = 20": (20, {"name": "SplitHMC"}, 20, 400),
        "collapsed pCN, H = 80": (80, {"name": "CollapsedPCN"}, 0, 1_000),
        "collapsed pCN, H = 20": (20, {"name": "CollapsedPCN"}, 0, 4_000),
    }
    for name, (width, sampler, each, most) in plans.items():
        for steps in (most * eighths // 8 for eighths in (1, 2, 3, 4, 6, 8)):
            seconds: list[float] = []
            while len(seconds) < REPEATS:
                began = time.process_time()
                said = estimate(
                    network(width),
                    sampler,
                    chains=32,
                    steps=steps,
                    burn_in=0.25,
                    predict=INPUTS,
                    progress=False,
                    seed=2,
                ).predictive
                seconds.append(round(time.process_time() - began, 2))
                if float(np.nanmin(said.ess)) < 400:
                    break  # too few steps: there is no need to know how long they take
            row = {
                "steps": steps,
                "gradients": 32 * steps * each,
                "processor_seconds": min(seconds),
                "least_ess": round(float(np.nanmin(said.ess))),
                "r_hat_functions": round(float(said.r_hat.max()), 4),
            }
            print(f"{name}: {row}", flush=True)
            found[name] = row
            if row["least_ess"] >= 400:
                break
    return {**found, "met": reached(found, "H = 80", 5, 60_000) and reached(found, "H = 20", 10)}


def reached(found: Row, width: str, seconds: float, gradients: float = math.inf) -> bool:
    """Whether a sampler had 400 effective draws at this width within so much."""
    mine = [row for name, row in found.items() if name.endswith(width)]
    return any(
        r["least_ess"] >= 400 and r["processor_seconds"] <= seconds and r["gradients"] <= gradients for r in mine
    )


def settled() -> Row:
    """R-hat of functions and of weights, HMC at H = 80 after 160 iterations, three seeds. Bars, for each: below 1.03, and above 1.1 (median of 48 weights)."""
    rows = {}
    for seed in (2, 3, 4):
        said = estimate(
            network(80), "SplitHMC", chains=32, steps=160, burn_in=0.25, predict=INPUTS, progress=False, seed=seed
        ).predictive
        rows[f"seed {seed}"] = {"functions": float(said.r_hat.max()), "weights": said.weights_r_hat_median}
        print(rows[f"seed {seed}"], flush=True)
    return {**rows, "met": all(row["functions"] < 1.03 and row["weights"] > 1.1 for row in rows.values())}


def deep() -> Row:
    """λ̂ of a deep linear network of 1,634 weights, coefficient 49. Bars: R-hat of the loss below 1.01, of weights above 2, and λ̂ moves by
    less than 1% from 8,000 to 32,000 steps."""
    rows, problem = {}, DeepLinearNetwork.random("1K", seed=3)
    for steps in (2_000, 8_000, 32_000):
        found = estimate(
            problem, "UnderdampedLangevin", chains=8, steps=steps, seed=1, progress=False,
            observables=[{"name": "WeightDraws", "count": 48}],
        )  # fmt: skip
        w = found.observables["WeightDraws"]["draws"]
        weights = float(np.median([r_hat(w[:, :, i]) for i in range(w.shape[2])]))
        rows[steps] = {"llc": found.llc, "se": found.llc_se, "r_hat_loss": found.r_hat, "r_hat_weights": weights}
        print(f"{steps:6,} steps: {rows[steps]}", flush=True)
    last = rows[32_000]
    moved = abs(rows[8_000]["llc"] / last["llc"] - 1)
    met = last["r_hat_loss"] < 1.01 and last["r_hat_weights"] > 2 and moved < 0.01
    return {"dim": problem.dim, "steps": rows, "moved": moved, "met": bool(met)}


def stein() -> Row:
    """√KSD of 500 chains of MALA at half the printed step against the iterations, n = 3 and one input more. Bars: exact draws below .16,
    draws of the prior above 4, MALA below .17 by 1,000 iterations (H = 20) and 600 (H = 80)."""
    found: Row = {}
    for width, last in ((20, 1_000), (80, 600)):
        problem = network(width, data={"name": "wave", "n": 3})
        places = np.append(problem.data.x[:, 0], 0.25)
        exact = finite_width(problem, places, 3_000 if width == 80 else 12_000, method="importance")

        def root(f: np.ndarray, exact: Any = exact) -> float:
            return kernel_stein_discrepancy(f, exact.score(f), exact.covariance).root

        step = 0.025 / (problem.n * width)
        config = RunConfig(sampler={"name": "MALA", "step_size": step}, chains=500, steps=last, burn_in=0.5, seed=3)
        run, rows = Run(config, problem), {}
        random = torch.Generator().manual_seed(0)
        prior = problem.prior_draws(500, random)
        rows["prior"], rows["exact"] = root(problem.predict(prior, places).numpy()), root(exact.sample(500))
        for iterations in (10, 30, 100, 300, last):
            run.advance(iterations - run.steps_done)
            rows[iterations] = root(problem.predict(torch.from_numpy(run.displacements), places).numpy())
        print(f"H = {width}: " + ", ".join(f"{key} {value:.3f}" for key, value in rows.items()), flush=True)
        found[f"H = {width}"] = rows
    met = all(
        rows["exact"] < 0.16 and rows["prior"] > 4 and rows[last] < 0.17
        for rows, last in zip(found.values(), (1_000, 600), strict=True)
    )
    return {**found, "met": met}


PARTS: dict[str, Callable[[], Row]] = {
    "acceptance": acceptance,
    "bands": bands,
    "own_width": own_width,
    "gap": gap,
    "effective": effective,
    "settled": settled,
    "deep": deep,
    "stein": stein,
}


def main() -> None:
    options = read_options(
        globals(),
        {"only": ["acceptance"], "FOUND": lambda found: dict(list(found.items())[:1])},
        one_thread=True,
        only=option([], action="append", choices=tuple(PARTS)),
        out=option(None, "a file of JSON for the figures; parts that are not made again stay in it", type=Path),
    )
    known = json.loads(options.out.read_text()) if options.out is not None and options.out.exists() else {}
    known |= {"command": "python -m lab.benchmarks.networks.functions", "machine": machine()}
    for name in options.only or PARTS:
        began = time.process_time()
        print(f"\n{name}: {PARTS[name].__doc__}")
        known[name] = PARTS[name]()
        print(
            "met" if known[name]["met"] else "MISSED", f"({time.process_time() - began:.0f} s of processor)", flush=True
        )
        if options.out is not None:
            options.out.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
