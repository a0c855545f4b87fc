"""Small networks and their gradients by difference."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from llc_core import NetworkPotential
from llc_core.compute.streams import torch_stream


def classifier(seed: int = 0, rows: int = 60, **more: object) -> NetworkPotential:
    torch.manual_seed(seed)
    module = nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 3))
    data = torch.randn(rows, 5), torch.randint(0, 3, (rows,))
    return NetworkPotential(module, "cross_entropy", data, **more)


def moved(problem: NetworkPotential, chains: int = 3, size: float = 0.1, seed: int = 1) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return size * torch.randn(chains, problem.dim, dtype=torch.float64, generator=generator)


def batch(problem: NetworkPotential, chains: int = 3, size: int = 7, gradient: str = "minibatch"):
    return problem.draw(torch_stream(3, "batch"), chains, size, gradient, torch.float64)


def gradient_by_difference(problem: NetworkPotential, delta: Tensor, on: object) -> Tensor:
    result, step = torch.empty_like(delta), 1e-5
    for i in range(problem.dim):
        shift = torch.zeros_like(delta)
        shift[:, i] = step
        above, below = (problem.excess_loss_and_grad(delta + s * shift, on)[0] for s in (1, -1))
        result[:, i] = (above - below) / (2 * step)
    return result
