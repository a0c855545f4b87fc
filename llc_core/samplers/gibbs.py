"""Blocked Gibbs sampling: every block of parameters from its exact distribution given the others. There is no step size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from llc_core.fields import hyper
from llc_core.samplers.base import Sampler
from llc_core.samplers.registry import register
from llc_core.types import Hp


@register
@dataclass(frozen=True)
class Gibbs(Sampler):
    """One step draws every layer once from its exact normal distribution given the other layers, then moves along the symmetries
    W_l → G W_l, W_{l+1} → W_{l+1} G⁻¹ that leave the product alone.

    Distribution: exactly exp(−U), without a step size and so without a bias. It needs a potential that offers such draws
    (`Potential.exact_samplers`): deep linear networks, on all data. Every second chain begins at a draw of the localising
    Gaussian N(w0, 1/γ) and the others at w0, so that R-hat compares chains that came from both sides.
    Source: own derivation (`llc_core.potentials.deep_linear.blocked_gibbs`); moves along a group orbit as in Liu & Sabatti 2000.
    """

    gauge_moves: str = hyper(
        "on",
        choices=("on", "off"),
        symbol="G",
        help="Moves along the symmetries of the network, which draws of single layers cross slowly.",
    )

    label: ClassVar[str] = "Blocked Gibbs"
    formula: ClassVar[str] = (
        r"W_l\sim p(W_l\mid\text{other layers}),\;l=1,\dots,M;\qquad W_l\to GW_l,\;W_{l+1}\to W_{l+1}G^{-1}"
    )
    about: ClassVar[str] = (
        "Blocked Gibbs draws each layer exactly, given all others. There is no step size to choose and no bias from one. "
        "Only deep linear networks allow it; there it is the yardstick for every other sampler."
    )
    source: ClassVar[str] = "own derivation; Liu & Sabatti 2000"
    noises: ClassVar[int] = 0
    needs_conditionals: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if isinstance(self.gauge_moves, bool):  # how reference runs of earlier versions wrote it
            self._put("gauge_moves", "on" if self.gauge_moves else "off")
        super().__post_init__()

    def stable_step(self, curvature: Tensor, hp: Hp) -> Tensor:
        return torch.full_like(curvature, torch.inf)
