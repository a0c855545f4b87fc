"""Preconditioned SGLD whose metric adapts during burn-in and is then frozen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from llc_core.samplers.base import SMALL_BIAS, OverdampedSampler, step_size_field
from llc_core.samplers.forms import Law, Line
from llc_core.samplers.psgld import alpha_field, stability_field
from llc_core.samplers.registry import register
from llc_core.types import Energy, Hp, State


@register
@dataclass(frozen=True)
class FrozenPSGLD(OverdampedSampler):
    """In the first half of the burn-in V ← V + r_t(g² − V), then V stays;  G = 1/(s + √V);  w ← w − (ε/2)G∇U + √(εG)·N(0, 1).

    g is the gradient of the mean loss alone (no nβ, no prior); V starts at 0, t counts from 1. The rate is
    r_t = min(1 − α, 2/(t + 1)): at first that of PSGLD, so that V soon has the right size, then such that g_t² gets a
    weight in proportion to t. V ends as a mean over all steps until then, in which the start hardly counts (the first
    tenth has 1% of the weight), with the spread of a plain mean over about 3/4 of them.

    Distribution: exp(−U) as ε → 0 in any dimension, with the bias of SGLD at the steps εG: a metric that no longer moves needs
    no correction term. Each chain has its own metric. A short burn-in ends in the distribution of PSGLD without Γ, which must then
    still be forgotten; in one of many relaxation times V hardly moves any more, and the distribution is right before averaging.
    Source: PSGLD (Li et al. 2016) with the adaptation stopped, as is usual for Markov chains (Roberts & Rosenthal 2009).
    """

    step_size: float | None = step_size_field()
    alpha: float = alpha_field()
    stability: float = stability_field()

    label: ClassVar[str] = "Frozen PSGLD"
    formula: ClassVar[str] = (
        r"V\leftarrow V+\min\!\big(1-\alpha,\tfrac{2}{t+1}\big)(g^2-V)\ \text{during burn-in},\quad "
        r"G=\frac{1}{s+\sqrt V},\quad "
        r"w\leftarrow w-\tfrac{\epsilon}{2}\,G\,\nabla U+\sqrt{\epsilon G}\,\xi"
    )
    about: ClassVar[str] = (
        "PSGLD that learns the size of its steps during burn-in and then keeps it. A metric that stands still "
        "lacks no correction term. So it converges to the posterior at the price of plain SGLD, without second "
        "derivatives. It gives up a metric that follows the chain to places unlike those seen in burn-in."
    )
    source: ClassVar[str] = "Li et al. 2016, with the metric frozen after burn-in"
    safety: ClassVar[float] = SMALL_BIAS

    def init(self, delta: Tensor, noise: Tensor, hp: Hp) -> State:
        return {"delta": delta, "square": torch.zeros_like(delta), "count": delta.new_zeros(len(delta), 1)}

    def update(self, state: State, energy: Energy, noise: Tensor, hp: Hp) -> State:
        rate = torch.minimum(1 - hp.alpha, 2 / (state["count"] + 2)) * hp.adapting
        square = torch.lerp(state["square"], energy.statistics_grad.square(), rate)
        metric = 1 / (hp.stability + square.sqrt())
        delta = state["delta"] - hp.step_size / 2 * metric * energy.force + (hp.step_size * metric).sqrt() * noise[0]
        return {"delta": delta, "square": square, "count": state["count"] + hp.adapting}

    def metric(self, state: State, hp: Hp) -> Tensor:
        return 1 / (hp.stability + state["square"].sqrt())

    def law(self) -> Law:
        return Law()

    def line(self) -> Line:
        return Line(_remember, _move, (self.alpha, self.stability), remembered=2, freezes=True)


def _remember(a: Any, b: Any, g: Any, p: Any) -> Any:
    """V and the number of steps it has seen."""
    return a + np.minimum(1 - p[0], 2 / (b + 2)) * (g * g - a), b + 1


def _move(a: Any, b: Any, g: Any, h: Any, p: Any) -> Any:
    metric = 1 / (p[1] + np.sqrt(a))
    return -metric * g, metric
