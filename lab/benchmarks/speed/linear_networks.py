"""Batch-500 minibatch SGLD on deep linear networks, chain-steps per second: the engine, devinterp 1.3.2, blackjax.

python -m lab.benchmarks.speed.linear_networks [--rounds 5] [--share 1] [--threads 1 2] [--cache FOLDER]

All sides take blocks of steps in turn; a ratio is the median over the rounds of the ratio within a round. Each figure is
given in wall and in processor time: with one thread the second is what an idle machine would take; with two it also
counts what threads spend on waiting for each other.

engine: 4 chains, gradient="minibatch". Its batches keep their moments once they were drawn ("kept"); "fresh" has that
switched off and makes the moments of every batch anew, from runs of consecutive rows. "full" is the engine's own choice
of gradient, no rival of the others. devinterp: its own sampler and SGLD on an nn.Module, one chain after the other, fed by
torch's DataLoader(shuffle=True) over a TensorDataset ("stock"), or by rows picked from tensors. blackjax: its SGLD kernel
under scan, vmap over the chains and jit, on runs of consecutive rows. Data: the first ROWS rows of the engine's pool.
The peers' environments are made under the cache folder on the first run.
"""

from __future__ import annotations

import os
import statistics
import time
from pathlib import Path
from typing import Any

import torch

from lab.benchmarks.command import option, read_options
from lab.benchmarks.peers.linear_files import save
from lab.benchmarks.peers.programs import BLACKJAX, CACHE, DEVINTERP, Peer
from llc_core import DeepLinearNetwork, RunConfig
from llc_core.engine.run import Run
from llc_core.potentials.deep_linear import data as dln_data

CHAINS, BATCH, STEP_SIZE = 4, 500, 1e-10
SHAPES: dict[str, tuple[list[int], int, int]] = {
    "[100,80,120,60,100]": ([100, 80, 120, 60, 100], 200, 40),
    "[400]*7": ([400] * 7, 8, 4),
}
"""widths, steps in a block of the engine's and of the peers'."""
BASES = ("devinterp, stock", "blackjax")


def engine(widths: list[int], gradient: str, kept: bool) -> Run:
    """A run that has drawn every batch that it keeps."""
    problem = DeepLinearNetwork.random(widths=widths, ranks="full", seed=0)
    before, dln_data.KEPT_NUMBERS = dln_data.KEPT_NUMBERS, dln_data.KEPT_NUMBERS if kept else 0
    sampler = {"name": "SGLD", "step_size": STEP_SIZE}
    config = RunConfig(sampler=sampler, gradient=gradient, batch_size=BATCH, chains=CHAINS, steps=10**6)
    current = Run(config, problem)
    batches = problem.data.kept(torch.device("cpu"), torch.float32, BATCH)  # from here on the choice is made
    dln_data.KEPT_NUMBERS = before
    assert kept == (batches is not None)
    if batches is not None and gradient != "full":
        batches._learn(range(batches.count))
    current.advance(3)
    return current


def timed(run: Run, steps: int) -> tuple[float, float]:
    begin, used = time.perf_counter(), time.process_time()
    run.advance(steps)
    return time.perf_counter() - begin, time.process_time() - used


def race(name: str, threads: int, rounds: int, share: float, cache: Path) -> None:
    widths, *blocks = SHAPES[name]
    ours, theirs = (max(1, round(share * steps)) for steps in blocks)
    torch.set_num_threads(threads)
    runs = {
        "engine, kept": engine(widths, "minibatch", True),
        "engine, fresh": engine(widths, "minibatch", False),
        "engine, full": engine(widths, "full", True),
    }
    problem = runs["engine, kept"].problem
    assert isinstance(problem, DeepLinearNetwork)
    file = str(save(problem, cache / f"dln-speed-{os.getpid()}.npz"))
    peers: dict[str, Peer] = {}
    for label, module, packages, order in (
        ("devinterp, stock", "lab.benchmarks.peers.devinterp_linear", DEVINTERP, {"loader": "stock"}),
        ("devinterp, picked", "lab.benchmarks.peers.devinterp_linear", DEVINTERP, {"loader": "picked"}),
        ("blackjax", "lab.benchmarks.peers.blackjax_linear", BLACKJAX, {"steps": theirs, "chains": CHAINS, "seed": 0}),
    ):
        try:
            peer = Peer(module, packages, cache, threads)
            n_beta, gamma = problem.n_beta, problem.localization
            peer.ask(load=file, batch=BATCH, step_size=STEP_SIZE, n_beta=n_beta, localization=gamma, **order)
        except BaseException:
            os.unlink(file)
            raise
        peers[label] = peer
    os.unlink(file)
    peers["blackjax"].ask(blocks=1)

    def ask(label: str) -> tuple[float, float]:
        if label == "blackjax":
            answer = peers[label].ask(blocks=1)
            return answer["wall"][0] / theirs, answer["processor"][0] / theirs
        answer = peers[label].ask(chains=CHAINS, steps=theirs, seed=0)
        return answer["wall"] / theirs, answer["processor"] / theirs

    times: dict[str, list[Any]] = {label: [] for label in [*runs, *peers]}
    for _ in range(rounds):
        for label, run in runs.items():
            wall, processor = timed(run, ours)
            times[label].append((wall / ours, processor / ours))
        for label in peers:
            times[label].append(ask(label))
    for peer in peers.values():
        peer.close()
    print(f"{name}, {threads} thread{'s' * (threads > 1)}: chain-steps/s and ratios, in wall | in processor time")
    for label, found in times.items():
        parts = []
        for clock in (0, 1):
            rate = CHAINS / statistics.median(t[clock] for t in found)
            ratios = [
                statistics.median(b[clock] / t[clock] for b, t in zip(times[base], found, strict=True))
                for base in BASES
            ]
            parts.append(f"{rate:8.0f} {ratios[0]:6.2f} × {BASES[0]} {ratios[1]:6.2f} × {BASES[1]}")
        print(f"  {label:18s} {' | '.join(parts)}", flush=True)


def main() -> None:
    options = read_options(
        globals(),
        {"rounds": 1, "share": 0.02, "threads": [1], "only": "100,80"},
        rounds=5,
        share=option(1.0, "of the usual length of a block"),
        threads=[1, 2],
        only=option("", "part of a shape's name"),
        cache=CACHE,
    )
    print(f"{CHAINS} chains, batch {BATCH}")
    for name in SHAPES:
        for threads in options.threads:
            if options.only in name:
                race(name, threads, options.rounds, options.share, options.cache)


if __name__ == "__main__":
    main()
