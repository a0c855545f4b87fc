"""Limited-memory BFGS: the way down a smooth function, one step at a time, so that the caller says when it ends."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

MEMORY = 20
"""Pairs of a step and the change of the gradient along it that are kept."""
ENOUGH, FLAT = 1e-4, 0.9
"""Weak Wolfe conditions: a step brings at least this share of what the slope promises, and leaves at most that share of the slope."""
TRIES = 25
"""Points that one line search looks at."""
WIDER = 4.0
ROUNDING = 4
"""Units in the last place by which two losses of one point may differ."""


class Place(NamedTuple):
    """A point [D], the function there and its gradient [D]."""

    at: Tensor
    loss: float
    grad: Tensor


class Descent:
    """L-BFGS with a line search that meets the weak Wolfe conditions by bisection: it also passes kinks and places without a value.

    evaluate: x [D] → the function and its gradient [D].  start: x, on any device.  first: how far the first point that is looked at
    lies.  level: of the function, to which its rounding is relative.  here: the lowest place so far.  rounding: of the function.

    Source: Nocedal & Wright 2006, algorithms 7.4 and 7.5; the line search is algorithm 2.6 of Lewis & Overton 2013, "Nonsmooth
    optimization via quasi-Newton methods", with a first bisection where a parabola has its minimum.
    """

    def __init__(
        self, evaluate: Callable[[Tensor], tuple[float, Tensor]], start: Tensor, first: float, level: float = 0.0
    ):
        self._evaluate, self._first = evaluate, first
        self.here = self._look(start)
        self._pairs: deque[tuple[Tensor, Tensor, float]] = deque(maxlen=MEMORY)
        self.rounding = ROUNDING * torch.finfo(start.dtype).eps * abs(level)
        self._turn()

    def _look(self, at: Tensor) -> Place:
        return Place(at, *self._evaluate(at))

    @property
    def gain(self) -> float:
        """What the function would fall by on the way to the minimum of the quadratic that the pairs describe, gᵀH⁻¹g/2; infinite
        where nothing is known of the curvature yet."""
        if not self._pairs:
            return math.inf if self._slope < 0 else 0.0
        return -self._slope / 2

    def _turn(self) -> None:
        """Set the direction −H⁻¹g, and the slope of the function along it."""
        direction = self.here.grad.neg()
        shares = []
        for step, change, product in reversed(self._pairs):
            share = float(step @ direction) / product
            shares.append(share)
            direction.sub_(change, alpha=share)
        if self._pairs:
            _, change, product = self._pairs[-1]
            direction.mul_(product / float(change @ change))
        for (step, change, product), share in zip(self._pairs, reversed(shares), strict=True):
            direction.add_(step, alpha=share - float(change @ direction) / product)
        self._direction, self._slope = direction, float(direction @ self.here.grad)

    def step(self) -> bool:
        """Go on to a lower place. False: none was found, and nothing has changed."""
        length = 1.0 if self._pairs else self._first / max(float(self.here.grad.norm()), 1e-300)
        there = self._search(length)
        if there is None:
            if not self._pairs:
                return False
            self._pairs.clear()  # straight down, where what is known of the curvature misleads
            self._turn()
            return self.step()
        step, change = there.at - self.here.at, there.grad - self.here.grad
        self.here = there
        product = float(step @ change)
        if product > 0 and math.isfinite(product):
            self._pairs.append((step, change, product))
        self._turn()
        return True

    def _search(self, length: float) -> Place | None:
        """A place along the direction, `length` times it at first; None: no lower one was found."""
        if not self._slope < 0:
            return None
        below, above, found = 0.0, math.inf, None
        for _ in range(TRIES):
            there = self._look(self.here.at.add(self._direction, alpha=length))
            rise = there.loss - self.here.loss
            if not rise <= ENOUGH * length * self._slope + self.rounding:  # nan too
                above = length
                parabola = -self._slope * length**2 / (2 * (rise - length * self._slope))
                inside = below == 0 and 0.1 * length <= parabola <= 0.5 * length
                length = parabola if inside else (below + above) / 2
                continue
            found = there
            if float(there.grad @ self._direction) >= FLAT * self._slope:
                break
            below = length
            length = WIDER * length if math.isinf(above) else (below + above) / 2
        return found
