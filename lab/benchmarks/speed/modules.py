"""Any module in the engine beside devinterp 1.3.2 and a loop by hand: chain-steps per second, in one run.

python -m lab.benchmarks.speed.modules [--rounds 7] [--threads 1] [--only NAME] [--cache FOLDER]

Every side has the same number of threads; one thread is measured in processor time, several in wall time. Blocks of steps
of all sides are taken in turn; ratios are medians over the rounds of the ratio within a round. devinterp gets an
environment of its own under the cache folder, made on the first run.
"""

from __future__ import annotations

import json
import math
import statistics
import subprocess
from pathlib import Path

import numpy as np
import torch

from lab.benchmarks.command import option, read_options
from lab.benchmarks.peers.module_cases import LOCALIZATION, N_BETA, Case, cases, clock
from lab.benchmarks.peers.programs import CACHE, DEVINTERP, environment
from llc_core import SGLD, NetworkPotential, RunConfig
from llc_core.engine.run import Run

CHAINS = 4
AGREEMENT_STEPS = {
    "64-128-128-10": 400,
    "784-256-256-10": 100,
    "transformer": 100,
    "transformer-tiny": 200,
    "transformer-10M": 10,
}


class Peer:
    """devinterp, waiting in its own process."""

    def __init__(self, cache: Path, threads: int):
        command = [str(environment(cache, DEVINTERP)), "-m", "lab.benchmarks.peers.devinterp_modules", str(threads)]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
        assert self.process.stdout is not None and self.process.stdout.readline().strip() == "ready"

    def race(self, case: Case, seed: int, steps: int) -> tuple[float, np.ndarray]:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(f"{case.name} {seed} {steps} {CHAINS}\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        return answer["seconds"], np.array(answer["llc"])

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


class HandLoop:
    """One module per chain, autograd, an update in place: what one would write first."""

    def __init__(self, case: Case):
        import copy

        self.case = case
        self.modules = [copy.deepcopy(case.module) for _ in range(CHAINS)]
        self.w0 = [p.detach().clone() for p in case.module.parameters()]

    def run(self, steps: int) -> float:
        begin, case, eps = clock(), self.case, self.case.step_size
        losses = []
        for module in self.modules:
            for _ in range(steps):
                rows = torch.randint(len(case.inputs), (case.batch,))
                module.zero_grad()
                loss = case.mean_loss(module, case.inputs[rows], case.targets[rows])
                loss.backward()
                losses.append(loss.item())
                with torch.no_grad():
                    for p, p0 in zip(module.parameters(), self.w0, strict=True):
                        p.add_(N_BETA * p.grad + LOCALIZATION * (p - p0), alpha=-eps / 2)
                        p.add_(torch.randn_like(p), alpha=eps**0.5)
        return clock() - begin


def engine(case: Case, steps: int, seed: int = 0, gradient: str = "minibatch") -> Run:
    problem = NetworkPotential(case.module, "cross_entropy", (case.inputs, case.targets), batch_size=case.batch)
    config = RunConfig(
        sampler=SGLD(step_size=case.step_size).to_dict(),
        gradient=gradient,
        n_beta=N_BETA,
        localization=LOCALIZATION,
        chains=CHAINS,
        steps=steps,
        burn_in=0,
        seed=seed,
        baseline="full",
    )
    return Run(config, problem)


def speed(case: Case, peer: Peer, rounds: int) -> None:
    runs = {g: engine(case, 10**6, gradient=g) for g in ("minibatch", "control_variate")}
    loop = HandLoop(case)
    for current in runs.values():
        current.advance(3)
    loop.run(2)
    peer.race(case, 0, 3)
    times: dict[str, list[float]] = {"devinterp 1.3.2": [], "hand loop": [], **{f"engine, {g}": [] for g in runs}}
    for _ in range(rounds):
        times["devinterp 1.3.2"].append(peer.race(case, 0, case.steps)[0])
        times["hand loop"].append(loop.run(case.steps))
        for gradient, current in runs.items():
            begin = clock()
            current.advance(case.steps)
            times[f"engine, {gradient}"].append(clock() - begin)
    method = getattr(next(iter(runs.values())).problem, "method", "")
    print(f"{case.name} ({method}), batch {case.batch}")
    for label, seconds in times.items():
        ratios = [statistics.median(o / s for o, s in zip(times[of], seconds, strict=True)) for of in list(times)[:2]]
        rate = CHAINS * case.steps / statistics.median(seconds)
        print(f"  {label:26s} {rate:9.0f} chain-steps/s   {ratios[0]:5.2f} × devinterp   {ratios[1]:5.2f} × hand loop")


def agreement(case: Case, peer: Peer, repeats: int = 3) -> None:
    """λ̂ over the same number of steps from w0, the loss at w0 on all data subtracted by both."""
    steps = AGREEMENT_STEPS[case.name]
    theirs = np.concatenate([peer.race(case, 7 + r, steps)[1] for r in range(repeats)])
    ours = []
    for r in range(repeats):
        current = engine(case, steps, seed=7 + r)
        for _ in current:
            pass
        ours.append(current.llc_per_chain())
    mine = np.concatenate(ours)
    error = math.hypot(mine.std(ddof=1), theirs.std(ddof=1)) / math.sqrt(len(mine))
    gap = (mine.mean() - theirs.mean()) / error
    print(
        f"  λ̂ over {steps} steps: engine {mine.mean():.2f}, devinterp {theirs.mean():.2f}, {gap:+.1f} standard errors apart"
    )


def main() -> None:
    options = read_options(
        globals(),
        {"only": "64-128", "rounds": 1, "AGREEMENT_STEPS": {"64-128-128-10": 4}},
        only=option("", "part of a case's name"),
        rounds=7,
        cache=CACHE / "llc-lab-devinterp-1.3.2",
        threads=1,
    )
    torch.set_num_threads(options.threads)
    print(f"{CHAINS} chains, SGLD")
    peer = Peer(options.cache, options.threads)
    for case in (case for case in cases() if options.only in case.name):
        speed(case, peer, options.rounds)
        agreement(case, peer)
    peer.close()


if __name__ == "__main__":
    main()
