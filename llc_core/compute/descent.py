"""The minimum near a point, by limited-memory BFGS on many rows at once: each row is a start of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

MEMORY = 20
"""Pairs of moves and changes of the gradient that are kept."""
ARMIJO = 1e-4
"""A step must bring this share of what its slope promises."""
SHORTER, LONGER = 0.25, 2.0
"""What a refused step is multiplied by, and the next first try after an accepted one, up to 1."""
SHORTEST = 1e-12
"""A row whose steps would be shorter than this share of the first try cannot go down any more."""

Evaluate = Callable[[Tensor], tuple[Tensor, Tensor]]


class Descended(NamedTuple):
    """place [R, D] and value [R], the lowest that was seen of every row.  gain [R]: what the last model still promised, −½ g·p
    for the quasi-Newton step p.  settled [R]: whether that is below what was asked for.  calls: evaluations of all rows."""

    place: Tensor
    value: Tensor
    gain: Tensor
    settled: Tensor
    calls: int


def descend(evaluate: Evaluate, start: Tensor, calls: int, enough: float) -> Descended:
    """Minimise a function of each row of `start` [R, D].

    evaluate: values [R] and gradients [R, D] at places [R, D]; a value that is not finite is a step too far.
    calls: evaluations at most.  enough: a row stops where its model promises less than this.
    A row's value never rises. Source: Nocedal & Wright 2006, algorithm 7.4, with backtracking (their algorithm 3.1).
    """
    place = start.clone()
    value, grad = evaluate(place)
    value, grad, used = value.clone(), grad.clone(), 1
    memory: list[tuple[Tensor, Tensor, Tensor]] = []
    size = grad.norm(dim=1).clamp_min(torch.finfo(grad.dtype).tiny).reciprocal().clamp(max=1.0)
    share = torch.ones_like(value)
    stuck = torch.zeros_like(value, dtype=torch.bool)
    while True:
        step = -_times_inverse(grad, memory, size)
        slope = (grad * step).sum(dim=1)
        gain = -slope / 2
        settled = gain < enough
        if bool((settled | stuck).all()) or used >= calls:
            return Descended(place, value, gain, settled, used)
        tried = place + share.unsqueeze(1) * step
        there, its_grad = evaluate(tried)
        used += 1
        lower = torch.isfinite(there) & (there <= value + ARMIJO * share * slope) & ~settled & ~stuck
        moved = torch.where(lower.unsqueeze(1), tried - place, 0.0)
        change = torch.where(lower.unsqueeze(1), its_grad - grad, 0.0)
        memory = _remember(memory, moved, change)
        place, grad = place + moved, torch.where(lower.unsqueeze(1), its_grad, grad)
        value = torch.where(lower, there, value)
        share = torch.where(lower, (share * LONGER).clamp(max=1.0), share * SHORTER)
        stuck |= share < SHORTEST


def _times_inverse(grad: Tensor, memory: list[tuple[Tensor, Tensor, Tensor]], size: Tensor) -> Tensor:
    """The two loops over the memory, newest first and then oldest first."""
    found, parts = grad.clone(), []
    for moved, change, weight in reversed(memory):
        part = weight * (moved * found).sum(dim=1)
        found -= part.unsqueeze(1) * change
        parts.append(part)
    scale = size
    for moved, change, weight in memory:  # the newest pair that counts says how long a step is
        known = (moved * change).sum(dim=1) / change.square().sum(dim=1).clamp_min(torch.finfo(grad.dtype).tiny)
        scale = torch.where(weight > 0, known, scale)
    found = scale.unsqueeze(1) * found
    for (moved, change, weight), part in zip(memory, reversed(parts), strict=True):
        again = weight * (change * found).sum(dim=1)
        found += (part - again).unsqueeze(1) * moved
    return found


def _remember(
    memory: list[tuple[Tensor, Tensor, Tensor]], moved: Tensor, change: Tensor
) -> list[tuple[Tensor, Tensor, Tensor]]:
    """A pair counts in the rows whose curvature along it is positive; 0 is the weight of it in the others."""
    product = (moved * change).sum(dim=1)
    least = torch.finfo(moved.dtype).eps * moved.norm(dim=1) * change.norm(dim=1)
    good = product > least
    if not bool(good.any()):
        return memory
    weight = torch.where(good, product.clamp_min(torch.finfo(moved.dtype).tiny).reciprocal(), 0.0)
    return [*memory, (moved, change, weight)][-MEMORY:]
