"""The sampler as one would write it first: nn.Module, autograd, one chain after the other. What the engine is measured
against, in speed and in time to truth."""

from __future__ import annotations

import time

import torch
from torch import nn

from llc_core import DeepLinearNetwork


class PlainLoop:
    """Minibatch SGLD on a deep linear network, with the same data, batch size and convention as the engine."""

    def __init__(
        self,
        problem: DeepLinearNetwork,
        step_size: float,
        chains: int,
        batch_size: int = 500,
        seed: int = 0,
        device: torch.device | str = "cpu",
    ):
        torch.manual_seed(seed)
        self.problem, self.step_size, self.batch_size, self.device = problem, step_size, batch_size, device
        pool = problem.data.pool(torch.device("cpu"), torch.float32).to(device)
        self.x, noise = pool[:, : problem.widths[0]].contiguous(), pool[:, problem.widths[0] : -1]
        teacher = self._module()
        with torch.no_grad():
            self.y = teacher(self.x) + noise
        self.modules = [self._module() for _ in range(chains)]
        self.w0 = [p.detach().clone() for p in teacher.parameters()]
        self.teacher = teacher
        self.sum = torch.zeros(chains, device=device)
        self.count = 0

    def _module(self) -> nn.Sequential:
        layers = []
        for w in self.problem.weights:
            layer = nn.Linear(w.shape[1], w.shape[0], bias=False)
            layer.weight.data = torch.as_tensor(w, dtype=torch.float32).clone()
            layers.append(layer)
        return nn.Sequential(*layers).to(self.device)

    def step(self, measure: bool = False) -> None:
        """One step of every chain; with `measure` the excess loss on the same batch is added to the average."""
        n_beta, gamma, eps = self.problem.n_beta, 1.0, self.step_size
        for chain, module in enumerate(self.modules):
            rows = torch.randint(len(self.x), (self.batch_size,), device=self.device)
            x, y = self.x[rows], self.y[rows]
            loss = (module(x) - y).square().sum(1).mean()
            module.zero_grad()
            loss.backward()
            with torch.no_grad():
                if measure:
                    self.sum[chain] += loss - (self.teacher(x) - y).square().sum(1).mean()
                for p, p0 in zip(module.parameters(), self.w0, strict=True):
                    p.add_(n_beta * p.grad + gamma * (p - p0), alpha=-eps / 2)
                    p.add_(torch.randn_like(p), alpha=eps**0.5)
        self.count += measure

    def llc(self) -> float:
        """λ̂ over the measured steps, mean over chains."""
        return float(self.problem.n_beta * self.sum.mean() / self.count)

    def run(self, steps: int, measure: bool = False) -> float:
        """Seconds for `steps` steps of every chain."""
        start = time.perf_counter()
        for _ in range(steps):
            self.step(measure)
        return time.perf_counter() - start
