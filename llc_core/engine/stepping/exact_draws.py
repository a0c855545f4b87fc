"""Steps that draw blocks of parameters from their exact laws given the others."""

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
        delta = home.clone()
        if self.apart:
            spread = self.conditionals.normals(delta.shape).to(delta) / self.target.localization.sqrt()
            delta[1::2] += spread[1::2]
        self._loss = self.conditionals.place(delta)
        return {"delta": self.conditionals.delta.to(delta)}

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
