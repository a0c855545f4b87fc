"""Underdamped Langevin dynamics, BAOAB splitting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from llc_core.fields import hyper, hyper_of
from llc_core.samplers.base import Sampler, step_size_field
from llc_core.samplers.forms import Cell
from llc_core.samplers.hmc import HMC
from llc_core.samplers.registry import register
from llc_core.types import Energy, Hp, State


@register
@dataclass(frozen=True)
class UnderdampedLangevin(Sampler):
    """Langevin dynamics with momentum in time steps h = step_size, by the BAOAB splitting.

    dw = p dt, dp = −∇U dt − f·p dt + √(2f) dB, with friction f. One gradient per step: the closing half kick of one
    step and the opening half kick of the next are taken together, which leaves the sequence of positions unchanged:

        p ← p − h∇U(w);  w ← w + (h/2)p;  p ← e^{−fh}p + √(1 − e^{−2fh})·N(0, 1);  w ← w + (h/2)p.

    Distribution: exp(−U) as h → 0. On a quadratic of any curvature c < 4/h² the positions are normal with variance exactly 1/c,
    at every step size. Source: Leimkuhler & Matthews 2013.

    mass="adapted" runs the same dynamics in coordinates in which the curvature is near 1 (`llc_core.engine.target`): the same
    distribution, with all directions moving at comparable speed. step_size and friction are then measured in those coordinates.
    """

    step_size: float | None = step_size_field(
        "Time step h; automatic: a fixed fraction of the largest stable one, 2/√curvature, followed during burn-in.",
        low=1e-9,
        high=10.0,
    )
    friction: float | None = hyper(
        None,
        1e-3,
        1e6,
        log=True,
        auto=True,
        symbol="f",
        help="Friction per unit time; small values keep momentum longer and explore flat directions faster. "
        "Automatic: 1 with an adapted mass, 20 with unit mass.",
    )
    mass: str = hyper_of(HMC, "mass", "adapted")

    label: ClassVar[str] = "Underdamped Langevin (BAOAB)"
    formula: ClassVar[str] = (
        r"p\leftarrow p-h\nabla U,\quad w\leftarrow w+\tfrac h2p,\quad "
        r"p\leftarrow e^{-fh}p+\sqrt{1-e^{-2fh}}\,\xi,\quad w\leftarrow w+\tfrac h2p"
    )
    about: ClassVar[str] = (
        "Langevin dynamics with momentum. It crosses flat directions in straight runs instead of a random "
        "walk. The splitting is exact for quadratic losses at any stable step, so much larger steps are safe "
        "than with SGLD. It needs gradients with little noise (full data): minibatch noise heats the momentum."
    )
    source: ClassVar[str] = "Leimkuhler & Matthews 2013"
    order: ClassVar[int] = 2
    elementwise: ClassVar[bool] = True
    safety: ClassVar[float] = 0.3

    @property
    def adapts_coordinates(self) -> bool:
        return self.mass == "adapted"

    def complete(self, factors: bool) -> UnderdampedLangevin:
        mass = self.mass if factors else "unit"
        friction = self.friction if self.friction is not None else 1.0 if mass == "adapted" else 20.0
        return UnderdampedLangevin(self.step_size, friction, mass)

    def init(self, delta: Tensor, noise: Tensor, hp: Hp) -> State:
        return {"delta": delta, "momentum": noise}

    def update(self, state: State, energy: Energy, noise: Tensor, hp: Hp) -> State:
        against, keep, spread, half = hp.once(_constants)
        kicked = torch.addcmul(state["momentum"], energy.force, against)
        momentum = (keep * kicked).addcmul_(spread, noise[0])
        return {"delta": torch.addcmul(state["delta"], kicked + momentum, half), "momentum": momentum}

    def cell(self) -> Cell:
        return Cell(_step, _numbers, memories=("momentum",))

    def stable_step(self, curvature: Tensor, hp: Hp) -> Tensor:
        return 2 / curvature.sqrt()

    def noise_factor(self, hp: Hp) -> Tensor:
        return hp.step_size / (4 * hp.friction)


def _constants(hp: Hp) -> tuple[Tensor, ...]:
    """−h, e^{−fh}, √(1 − e^{−2fh}) and h/2."""
    h = hp.step_size
    keep = torch.exp(-hp.friction * h)
    return -h, keep, (1 - keep * keep).sqrt(), h / 2


def _numbers(state: State, n_beta: Tensor, localization: Tensor, hp: Hp) -> tuple[Tensor, ...]:
    against, keep, spread, half = _constants(hp)
    return against, n_beta, localization, keep, spread, half


def _step(d: Any, a: Any, b: Any, g: Any, z: Any, p: Any) -> Any:
    kicked = a + p[0] * (p[1] * g + p[2] * d)
    momentum = p[3] * kicked + p[4] * z
    return d + p[5] * (kicked + momentum), momentum, b
