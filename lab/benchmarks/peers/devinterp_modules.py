"""devinterp's side of the race, in an environment of its own: reads "case seed steps" lines, answers with seconds and λ̂.

Its own single-chain sampler with its own SGLD and estimator, fed by the fastest loader there is: rows picked from tensors
in memory. (Its convention for the step size is the engine's, half the gradient, so settings are the same numbers.)
"""

from __future__ import annotations

import json
import sys
import warnings

import torch
from devinterp.backends.default.slt.sampler import sample_single_chain
from devinterp.optim.sgld import SGLD
from devinterp.slt.llc import LLCEstimator
from torch.utils.data import DataLoader, TensorDataset

from lab.benchmarks.peers.module_cases import LOCALIZATION, N_BETA, Case, cases, clock


class Picked(DataLoader):
    """Random rows without worker processes or collation."""

    def __init__(self, case: Case):
        super().__init__(TensorDataset(case.inputs, case.targets), batch_size=case.batch)
        self.case = case

    def __len__(self) -> int:
        return 10**6

    def __iter__(self):
        while True:
            rows = torch.randint(len(self.case.inputs), (self.case.batch,))
            yield self.case.inputs[rows], self.case.targets[rows]


def race(case: Case, seed: int, steps: int, chains: int) -> dict[str, object]:
    with torch.no_grad():
        at_w0 = float(case.mean_loss(case.module, case.inputs, case.targets))
    estimator = LLCEstimator(chains, steps, nbeta=N_BETA, init_loss=at_w0)
    begin = clock()
    for chain in range(chains):
        sample_single_chain(
            case.module,
            Picked(case),
            lambda module, data: case.mean_loss(module, *data),
            {"lr": case.step_size, "nbeta": N_BETA, "localization": LOCALIZATION},
            num_draws=steps,
            sampling_method=SGLD,
            chain=chain,
            seed=seed * 100 + chain,
            verbose=False,
            callbacks=[estimator],
        )
    seconds = clock() - begin
    return {"seconds": seconds, "llc": [N_BETA * (float(x.mean()) - at_w0) for x in estimator.losses]}


def main() -> None:
    warnings.simplefilter("ignore")
    torch.set_num_threads(int(sys.argv[1]))
    known = {case.name: case for case in cases()}
    print("ready", flush=True)
    for line in sys.stdin:
        name, seed, steps, chains = line.split()
        print(json.dumps(race(known[name], int(seed), int(steps), int(chains))), flush=True)


if __name__ == "__main__":
    main()
