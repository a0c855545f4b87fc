"""devinterp's side of a race on deep linear networks, in an environment of its own: nn.Module, its sampler, its SGLD.

Reads JSON lines: {"load": FILE, "batch": B, "loader": "stock" | "picked", "step_size": ε, "n_beta": …, "localization": γ}
and then {"chains": C, "steps": T, "seed": s}: T draws from w0 of one chain after the other. The answer has wall and
processor seconds and the loss of every draw [C, T]; "init_loss" is devinterp's own (mean over several batches).

"stock" is torch's DataLoader(shuffle=True) over a TensorDataset; "picked" picks rows from tensors, the fastest there is.
Its step size has the engine's convention, half the gradient.
"""

from __future__ import annotations

import json
import sys
import time
import warnings

import torch
from devinterp.backends.default.slt.sampler import sample_single_chain
from devinterp.optim.sgld import SGLD
from devinterp.slt.llc import LLCEstimator
from devinterp.utils import get_init_loss_multi_batch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from lab.benchmarks.peers.linear_files import load


class Picked(DataLoader):
    """Random rows without collation."""

    def __init__(self, data: TensorDataset, batch: int):
        super().__init__(data, batch_size=batch)
        self.rows = batch

    def __len__(self) -> int:
        return 10**9

    def __iter__(self):
        x, y = self.dataset.tensors
        while True:
            rows = torch.randint(len(x), (self.rows,))
            yield x[rows], y[rows]


def squared(module: nn.Module, data) -> torch.Tensor:
    return (module(data[0]) - data[1]).square().sum(1).mean()


class Sampler:
    def __init__(self, order: dict):
        data = load(order["load"])
        layers = []
        for w in data["weights"]:
            layer = nn.Linear(w.shape[1], w.shape[0], bias=False)
            layer.weight.data = torch.from_numpy(w).clone()
            layers.append(layer)
        self.module = nn.Sequential(*layers)
        rows = TensorDataset(torch.from_numpy(data["x"]), torch.from_numpy(data["y"]))
        stock = order["loader"] == "stock"
        self.loader = DataLoader(rows, order["batch"], shuffle=True) if stock else Picked(rows, order["batch"])
        self.settings = {"lr": order["step_size"], "nbeta": order["n_beta"], "localization": order["localization"]}

    def run(self, chains: int, steps: int, seed: int) -> dict:
        init_loss = get_init_loss_multi_batch(self.loader, chains, self.module, squared, torch.device("cpu"), seed)
        estimator = LLCEstimator(chains, steps, nbeta=self.settings["nbeta"], init_loss=init_loss)
        begin, used = time.perf_counter(), time.process_time()
        for chain in range(chains):
            sample_single_chain(
                self.module,
                self.loader,
                squared,
                dict(self.settings),
                num_draws=steps,
                sampling_method=SGLD,
                chain=chain,
                seed=seed * 100 + chain,
                verbose=False,
                callbacks=[estimator],
            )
        wall, processor = time.perf_counter() - begin, time.process_time() - used
        losses = [[float(v) for v in chain] for chain in estimator.losses]
        return {"wall": wall, "processor": processor, "loss": losses, "init_loss": float(init_loss)}


def main() -> None:
    warnings.simplefilter("ignore")
    print("ready", flush=True)
    sampler = None
    for line in sys.stdin:
        order = json.loads(line)
        if "load" in order:
            sampler, answer = Sampler(order), {}
        else:
            assert sampler is not None
            answer = sampler.run(order["chains"], order["steps"], order["seed"])
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
