"""Flat directions that a network has by its form: one part is made larger, another as much smaller, and it computes the same."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from llc_core.networks.attention import Attention
from llc_core.potentials.module.network import NetworkPotential

DRAWS = 16
"""Random directions that one is compared with."""


@dataclass(frozen=True)
class Rescaling:
    """name: what is made larger, for people.  larger, smaller: name of a parameter → boolean mask of its entries."""

    name: str
    larger: Mapping[str, Tensor]
    smaller: Mapping[str, Tensor]

    def moves_in(self, problem: NetworkPotential) -> bool:
        """Whether `problem` may move all of its entries."""
        free = {piece.name: piece for piece in problem.pieces}
        for name, mask in (*self.larger.items(), *self.smaller.items()):
            if name not in free:
                return False
            chosen = free[name].chosen
            if chosen is not None and not set(mask.flatten().nonzero().squeeze(1).tolist()) <= set(chosen.tolist()):
                return False
        return True

    def strength(self, state: Mapping[str, Tensor]) -> float:
        """Product of the norms of both parts: 0 where the network does not use what is rescaled."""
        sizes = [
            math.sqrt(sum(float(state[name][mask].double().square().sum()) for name, mask in part.items()))
            for part in (self.larger, self.smaller)
        ]
        return sizes[0] * sizes[1]


def rescalings(model: nn.Module) -> list[Rescaling]:
    """Those of a stack of linear layers with ReLU between them, one for each hidden unit, and those of `Attention`, one for each head.

    ReLU(a·x) = a·ReLU(x) for a > 0, so what leads into a unit and what leaves it may be exchanged. Queries and keys of a head
    enter only by their products. Of other modules none is known, and the list is empty.
    """
    found: list[Rescaling] = []
    if isinstance(model, nn.Sequential):
        layers = list(model.named_children())
        for (first, a), (_, between), (last, b) in zip(layers, layers[1:], layers[2:], strict=False):
            if isinstance(a, nn.Linear) and isinstance(between, nn.ReLU) and isinstance(b, nn.Linear):
                found += _of_units(first, a, last, b)
    for path, part in model.named_modules():
        if isinstance(part, Attention):
            found += _of_heads(path, part)
    return found


def _of_units(first: str, a: nn.Linear, last: str, b: nn.Linear) -> Iterator[Rescaling]:
    for unit in range(a.out_features):
        larger = {f"{first}.{name}": _rows(tensor, unit, unit + 1) for name, tensor in a.named_parameters()}
        leaving = torch.zeros_like(b.weight, dtype=torch.bool)
        leaving[:, unit] = True
        yield Rescaling(f"unit {unit + 1} behind layer {first}", larger, {f"{last}.weight": leaving})


def _of_heads(path: str, part: Attention) -> Iterator[Rescaling]:
    size = part.query.out_features // part.heads
    for head in range(part.heads):
        rows = _rows(part.query.weight, head * size, (head + 1) * size)
        yield Rescaling(
            f"the query of head {head + 1} in {path}", {f"{path}.query.weight": rows}, {f"{path}.key.weight": rows}
        )


def _rows(tensor: Tensor, start: int, stop: int) -> Tensor:
    mask = torch.zeros_like(tensor, dtype=torch.bool)
    mask[start:stop] = True
    return mask


def displacement(problem: NetworkPotential, state: Mapping[str, Tensor], rescaling: Rescaling, factor: float) -> Tensor:
    """w − w0 [D] in double precision, where `rescaling` has gone from w0 to `factor`.

    state: the parameters at w0, by name.  Raises ValueError for a factor that is not positive, and for a rescaling of which not
    all may move.
    """
    if not (factor > 0 and math.isfinite(factor)):
        raise ValueError(f"factor is {factor:g}; it must be a positive number.")
    if not rescaling.moves_in(problem):
        raise ValueError(
            f"{rescaling.name} cannot be rescaled, since a part of it is kept still; let more parameters move."
        )
    delta = torch.zeros(problem.dim, dtype=torch.float64)
    for piece in problem.pieces:
        moved = torch.zeros(piece.shape, dtype=torch.float64)
        for part, way in ((rescaling.larger, factor - 1), (rescaling.smaller, 1 / factor - 1)):
            if piece.name in part:
                moved += way * state[piece.name].double() * part[piece.name]
        flat = moved.flatten()
        delta[piece.start : piece.stop] = flat if piece.chosen is None else flat[piece.chosen]
    return delta


@dataclass(frozen=True)
class Beside:
    """length: ‖w − w0‖.  along: L(w) − L(w0) on all data there; across, across_se: its mean in `DRAWS` random directions at the same
    length, with the standard error."""

    length: float
    along: float
    across: float
    across_se: float


def beside(problem: NetworkPotential, delta: Tensor, seed: int = 0, draws: int = DRAWS) -> Beside:
    """The loss at `delta` [D] against that in random directions, uniform among those that may move."""
    random = torch.randn(draws, problem.dim, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    random *= delta.norm() / random.norm(dim=1, keepdim=True)
    places = torch.cat([delta[None], random])
    problem.prepare(places)
    losses = problem.excess_loss_and_grad(places)[0].double()
    across = losses[1:]
    return Beside(float(delta.norm()), float(losses[0]), float(across.mean()), float(across.std()) / math.sqrt(draws))
