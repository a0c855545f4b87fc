"""Time until |λ̂/truth − 1| ≤ 5% and stays there: engine defaults, the printed recipe, devinterp 1.3.2, blackjax's SGLD.

    python -m lab.benchmarks.speed.time_to_truth --pilot            # which step sizes serve the peers best
    python -m lab.benchmarks.speed.time_to_truth 1K --problems 20 --methods defaults
    python -m lab.benchmarks.speed.time_to_truth 1K --problems 3 --budget 60 --methods blackjax printed devinterp
    python -m lab.benchmarks.speed.time_to_truth --table            # what the results file says

Every method has one thread, the peers `--budget` seconds of processor time a problem; times are processor time, which is what a
machine without other work would take, and wall time is kept beside. Problems: `DeepLinearNetwork.random(class, seed=s)`,
s = 0, 1, …, n = 10⁶, γ = 1. Truth: `expected_llc`; and, as in `accuracy`, blocked Gibbs at the same nβ and γ where that
lies more than 5% from it. A method that is not within 5% when it stops counts as longer than its budget.

What is running when a method is looked at: the mean over its chains of nβ(mean of losses − baseline), losses of the last
half of the steps so far (the printed recipe: of the last tenth). The engine by defaults has its own burn-in, half of a
known number of steps, and no estimate before. Its time counts everything from the description of the problem, the pass
over the data included. The peers' imports, data, compilation and choice of a step size are not counted.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lab.benchmarks.command import option, read_options
from lab.benchmarks.machine import machine
from lab.benchmarks.peers.linear_files import save
from lab.benchmarks.peers.programs import BLACKJAX, CACHE, DEVINTERP, Peer
from lab.benchmarks.smoke import fresh
from llc_core import DeepLinearNetwork, RunConfig
from llc_core.engine.run import Run
from llc_core.references.gibbs import gibbs_reference

RESULTS = Path(__file__).resolve().parents[2] / "results" / "time_to_truth.json"
"""One writer at a time; `--results` names another file."""
KEY = ("method", "class", "seed")
CLOSE = 0.05
PRINTED_STEP = 5e-9
"""Step of Lau et al.'s code for deep linear networks; Hitchcock & Hoogland do not print theirs."""
CHAINS, BATCH = 4, 500
STEP = {"1K": 1e-9, "10K": 3e-10}
"""What served the peers best in the pilot."""
DOCUMENTED = {"step_size": 6e-5, "n_beta": BATCH / np.log(BATCH), "localization": 1.0}
"""devinterp's own for linear networks (its tests/slt/rrr_test.py, default_nbeta); its notebook dlns.ipynb points there."""
PILOT_STEPS = (1e-10, 3e-10, 1e-9, 3e-9)

Times = list[tuple[float, float]]


def hit(times: Times, values: np.ndarray, truth: float) -> dict[str, Any]:
    """Processor and wall seconds of the first look from which on all are within CLOSE; None where there is none."""
    far = ~(np.abs(np.asarray(values) / truth - 1) <= CLOSE)
    first = 0 if not far.any() else int(np.flatnonzero(far)[-1]) + 1
    last = float(values[-1] / truth - 1) if len(values) else float("nan")
    if first >= len(values):
        return {"processor": None, "wall": None, "error": last}
    return {"processor": times[first][0], "wall": times[first][1], "error": last}


def window(cumulative: np.ndarray, ends: np.ndarray, share: float) -> np.ndarray:
    """Means over the last `share` of the steps at every look, from sums so far; ends: steps done at each look."""
    at = np.interp((1 - share) * ends, np.concatenate([[0], ends]), np.concatenate([[0], cumulative]))
    return (cumulative - at) / (share * ends)


class Clock:
    def __init__(self) -> None:
        self.used, self.begin = time.process_time(), time.perf_counter()

    def __call__(self) -> tuple[float, float]:
        return time.process_time() - self.used, time.perf_counter() - self.begin


def defaults(size_class: str, seed: int) -> tuple[Times, np.ndarray]:
    fresh = DeepLinearNetwork.random(size_class, seed=seed)  # nothing of its data is at hand
    clock, times, values = Clock(), [], []
    current = Run(RunConfig(seed=seed), fresh)
    for _ in current:
        times.append(clock())
        values.append(float(np.mean(current.llc_per_chain())))
    return times, np.array(values)


def printed(problem: DeepLinearNetwork, seed: int, budget: float) -> dict[str, tuple[Times, np.ndarray]]:
    """One chain of minibatch SGLD, baseline from one batch; the same-batch baseline of the same chain beside it."""
    sampler = {"name": "SGLD", "step_size": PRINTED_STEP}
    config = RunConfig(
        sampler=sampler, gradient="minibatch", batch_size=BATCH, chains=1, steps=10**8, burn_in=0, seed=seed
    )
    current = Run(config, problem)
    problem.data.pool(torch.device("cpu"), torch.float32)
    clock, times, ends = Clock(), [], []
    sums: dict[str, list[float]] = {"first_batch": [], "same_batch": []}
    for snapshot in current:
        times.append(clock())
        ends.append(snapshot.steps)
        for name, found in sums.items():
            found.append(float(current.llc_per_chain(name)[0]) * snapshot.steps)
        if times[-1][0] > budget:
            break
    return {name: (times, window(np.array(s), np.array(ends), 0.1)) for name, s in sums.items()}


def blackjax(peer: Peer, file: Path, problem: DeepLinearNetwork, step: float, seed: int, budget: float) -> Any:
    block = 500 if problem.dim < 5_000 else 100
    order = {"chains": CHAINS, "batch": BATCH, "step_size": step, "steps": block, "seed": seed}
    peer.ask(load=str(file), **order)
    peer.ask(blocks=1)
    peer.ask(load=str(file), **order)  # back to w0
    found = peer.ask(budget=budget)
    excess = problem.n_beta * np.mean(found["excess"], axis=1)
    ends = np.arange(1.0, len(excess) + 1)
    return list(zip(found["processor"], found["wall"], strict=True)), window(np.cumsum(excess), ends, 0.5)


def devinterp(
    peer: Peer, file: Path, settings: dict[str, float], seed: int, budget: float, at_w0: float
) -> dict[str, tuple[Times, np.ndarray]]:
    """Its chains run one after the other: a run of T draws takes CHAINS times what a chain of T draws does.

    Two baselines: its default, the loss on a batch for each chain, and the loss at w0 on all data, which it also knows.
    """
    peer.ask(load=str(file), batch=BATCH, loader="picked", **settings)
    peer.ask(chains=1, steps=100, seed=seed)
    trial = peer.ask(chains=1, steps=300, seed=seed)
    steps = max(200, int(300 * budget / CHAINS / trial["processor"]))
    found = peer.ask(chains=CHAINS, steps=steps, seed=seed)
    loss = np.cumsum(np.mean(found["loss"], axis=0))
    every = max(1, steps // 500)
    ends = np.arange(every, steps + 1, every)
    means = window(loss[ends - 1], ends.astype(float), 0.5)
    times = [(found["processor"] * e / steps, found["wall"] * e / steps) for e in ends]
    baselines = {"": found["init_loss"], ", loss at w0 on all data": at_w0}
    return {name: (times, settings["n_beta"] * (means - level)) for name, level in baselines.items()}


class Store:
    """One row per method and problem, written after each."""

    def __init__(self, path: Path):
        self.path = path
        self.rows: list[dict[str, Any]] = json.loads(path.read_text())["rows"] if path.exists() else []

    def has(self, **key: Any) -> bool:
        return any(all(row.get(k) == v for k, v in key.items()) for row in self.rows)

    def truths(self, **key: Any) -> dict[str, float] | None:
        """What another method was scored against on the same problem."""
        return next((row["truth"] for row in self.rows if all(row[k] == v for k, v in key.items())), None)

    def add(self, key: dict[str, Any], truths: dict[str, float], found: tuple[Times, np.ndarray], **more: Any) -> None:
        times, values = found
        row = {**key, **{name: hit(times, values, truth) for name, truth in truths.items()}}
        row |= {"processor": times[-1][0], "wall": times[-1][1], "llc": float(values[-1]), **more}
        self._put(key, row)

    def ended(self, key: dict[str, Any], truths: dict[str, float], why: str, **more: Any) -> None:
        """A method that gave up on a problem: it has no estimate, so it is not within 5% of anything."""
        nowhere = {"processor": None, "wall": None, "error": None}
        self._put(key, {**key, **dict.fromkeys(truths, nowhere), "ended": why, "truth": truths, **more})

    def _put(self, key: dict[str, Any], row: dict[str, Any]) -> None:
        self.rows = [r for r in self.rows if any(r.get(k) != v for k, v in key.items())] + [row]
        self.write()
        print(json.dumps(row), flush=True)

    def write(self) -> None:
        text = ",\n".join(json.dumps(r) for r in self.rows)
        self.path.parent.mkdir(exist_ok=True)
        self.path.write_text(f'{{"machine": {json.dumps(machine())}, "rows": [\n{text}\n]}}\n')


def truths_of(problem: DeepLinearNetwork, sweeps: int) -> dict[str, float]:
    expected = problem.expected_llc()
    gibbs = gibbs_reference(problem, sweeps=sweeps, gauge_moves=False).llc
    return {"expected": expected, "reference": gibbs if abs(gibbs / expected - 1) > CLOSE else expected}


def race(options: argparse.Namespace, store: Store) -> None:
    size_class, folder = options.size_class, options.cache
    file = folder / f"time-to-truth-{os.getpid()}.npz"
    peers: dict[str, Peer] = {}
    if {"devinterp", "devinterp_tuned"} & set(options.methods):
        peers["devinterp"] = Peer("lab.benchmarks.peers.devinterp_linear", DEVINTERP, folder, 1)
    if "blackjax" in options.methods:
        peers["blackjax"] = Peer("lab.benchmarks.peers.blackjax_linear", BLACKJAX, folder, 1)
    for seed in range(options.problems):
        key, budget = {"class": size_class, "seed": seed}, options.budget
        missing = [name for name in options.methods if not store.has(method=METHODS[name], **key)]
        if not missing:
            continue
        problem = DeepLinearNetwork.random(size_class, seed=seed)
        truths = store.truths(**key) or truths_of(problem, options.sweeps)
        if peers:
            save(problem, file, rows=problem.data.rows)
        for name in missing:
            method = {"method": METHODS[name], **key}
            if name == "defaults":
                store.add(method, truths, defaults(size_class, seed), truth=truths)
            elif name == "blackjax":
                step = STEP[size_class]
                found = blackjax(peers["blackjax"], file, problem, step, seed, budget)
                store.add(method, truths, found, step=step, budget=budget, truth=truths)
            elif name == "printed":
                for baseline, found in printed(problem, seed, budget).items():
                    if baseline == "same_batch":
                        method = {**method, "method": METHODS[name] + ", same batch"}
                    store.add(method, truths, found, step=PRINTED_STEP, budget=budget, truth=truths)
            else:
                tuned = {"step_size": STEP[size_class], "n_beta": problem.n_beta, "localization": 1.0}
                settings = DOCUMENTED if name == "devinterp" else tuned
                try:
                    both = devinterp(peers["devinterp"], file, settings, seed, budget, problem.baseline_loss)
                except RuntimeError as error:  # it ends where a chain's loss is not a number
                    store.ended({**key, "method": METHODS[name]}, truths, str(error), budget=budget, **settings)
                    peers["devinterp"] = Peer("lab.benchmarks.peers.devinterp_linear", DEVINTERP, folder, 1)
                    continue
                for baseline, found in both.items():
                    method = {**key, "method": METHODS[name] + baseline}
                    store.add(method, truths, found, budget=budget, truth=truths, **settings)
    for peer in peers.values():
        peer.close()
    file.unlink(missing_ok=True)


METHODS = {
    "defaults": "engine, defaults",
    "printed": "printed recipe",
    "devinterp": "devinterp 1.3.2, documented",
    "devinterp_tuned": "devinterp 1.3.2",
    "blackjax": "blackjax SGLD, same batch",
}


def pilot(options: argparse.Namespace) -> None:
    """blackjax on two problems outside the race, at every step size: seconds to truth and the error when stopped."""
    peer = Peer("lab.benchmarks.peers.blackjax_linear", BLACKJAX, options.cache, 1)
    for size_class in ("1K", "10K"):
        for seed in (100, 101):
            problem = DeepLinearNetwork.random(size_class, seed=seed)
            file = save(problem, options.cache / "time-to-truth-pilot.npz", rows=problem.data.rows)
            for step in PILOT_STEPS:
                times, values = blackjax(peer, file, problem, step, seed, options.budget)
                print(size_class, seed, problem.widths, step, hit(times, values, problem.expected_llc()), flush=True)
    peer.close()


def table(store: Store) -> None:
    for size_class in sorted({row["class"] for row in store.rows}):
        mine = [row for row in store.rows if row["class"] == size_class]
        for truth in ("expected", "reference"):
            print(f"{size_class}, against {truth}: processor seconds (wall)")
            for method in sorted({row["method"] for row in mine}):
                rows = [row for row in mine if row["method"] == method]
                reached = sum(row[truth]["processor"] is not None for row in rows)
                processor, wall = (statistics.median(row[truth][k] or float("inf") for row in rows) for k in
                                   ("processor", "wall"))  # fmt: skip
                kept = [row for row in rows if "ended" not in row]
                errors = [abs(row[truth]["error"]) for row in kept] or [float("nan")]
                budget = statistics.median([row["processor"] for row in kept] or [float("nan")])
                print(
                    f"  {method:36s} {reached:3d} of {len(rows):3d} reached, median {processor:7.2f} ({wall:.2f}), "
                    f"stopped at {budget:.1f}, median |error| then {statistics.median(errors):.1%}"
                    + f", {len(rows) - len(kept)} ended with an error"
                    * (len(kept) < len(rows))
                )


def main() -> None:
    options = read_options(
        globals(),
        {"problems": 1, "budget": 1.0, "sweeps": 50, "results": fresh},
        one_thread=True,
        size_class=option(nargs="?", choices=("1K", "10K"), place=True),
        problems=20,
        methods=option(list(METHODS), choices=tuple(METHODS)),
        budget=option(60.0, "of every peer, seconds of processor time"),
        sweeps=option(400, "of the Gibbs reference"),
        cache=CACHE,
        results=RESULTS,
        merge=option(None, "take the rows of other results files in", type=Path, nargs="+"),
        pilot=False,
        table=False,
    )
    store = Store(options.results)
    if options.pilot:
        pilot(options)
    elif options.merge:
        for path in options.merge:
            store.rows += [row for row in Store(path).rows if not store.has(**{k: row[k] for k in KEY})]
        store.write()
    elif options.table or options.size_class is None:
        table(store)
    else:
        race(options, store)


if __name__ == "__main__":
    main()
