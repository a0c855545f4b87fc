"""Steps that draw blocks of parameters from their exact distributions given the others."""

from __future__ import annotations

import torch
from torch import Tensor

from llc_core.engine.stepping.base import Step, Stepper, Watch
from llc_core.engine.stepping.batches import Batches
from llc_core.engine.stepping.noise import Noise
from llc_core.engine.target import Target
from llc_core.potentials.conditionals import Conditionals
from llc_core.samplers.base import Sampler
from llc_core.types import Hp, State

FARTHEST = 1.0
"""nβ·ΔL·ε at most where a chain begins, with ε the unit roundoff: rounding then changes nβ·ΔL there by no more than one unit.
The loss of a deep and wide network at a draw of the localising Gaussian can be 10²¹: what rounding then adds to the mean of a
layer's distribution throws the next layer farther, until nothing is finite. Where 10⁷ was allowed a 100K network of nine layers ended so."""
NEARER = 0.7
"""How much nearer to w0 a chain begins that would begin too far away. Where it begins is a choice: the distribution of what follows is exact."""


class ExactDraws(Stepper):
    """One step is one sweep over all blocks.

    conditionals: makes the draws and holds the chains.  apart: whether every second chain begins at a draw of the localising
    Gaussian, far from w0.  adapting: in so many first steps the moves along symmetries learn their size.
    """

    def __init__(
        self,
        target: Target,
        sampler: Sampler,
        batches: Batches,
        noise: Noise,
        conditionals: Conditionals,
        apart: bool,
        adapting: int,
    ):
        super().__init__(target, sampler, batches, noise)
        self.conditionals, self.apart, self.adapting = conditionals, apart, adapting
        self._loss: Tensor | None = None

    def start(self, home: Tensor, hp: Hp) -> State:
        self._home = home
        spread = torch.zeros_like(home)
        if self.apart:
            spread[1::2] = (self.conditionals.normals(home.shape).to(home) / self.target.localization.sqrt())[1::2]
        self._loss = self.conditionals.place(home + spread)
        while bool((far := spread.any(dim=1) & ~self._is_near(self._loss)).any()):
            spread[far] *= NEARER
            self._loss = self.conditionals.place(home + spread)
        return {"delta": self.conditionals.delta.to(home)}

    def _is_near(self, loss: Tensor) -> Tensor:
        """For each chain, whether rounding leaves it where it belongs; [C]."""
        unit = torch.finfo(loss.dtype).eps / 2
        return self.target.n_beta.to(loss).reshape(-1) * loss * unit <= FARTHEST

    def step(self, state: State, hp: Hp, step: int, watch: Watch | None) -> Step:
        delta, loss = state["delta"], self._loss
        assert loss is not None
        if watch is not None:
            watch.places(delta, None)
            watch.energy(self.evaluate(delta, None))
        try:
            self._loss = self.conditionals.move(adapt=step < self.adapting)
        except torch.linalg.LinAlgError:
            raise ValueError(
                "Products of these weights overflow in float64; give smaller weights or a smaller n_beta."
            ) from None
        return Step({"delta": self.conditionals.delta.to(delta)}, loss.to(delta), None)
