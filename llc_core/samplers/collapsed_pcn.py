"""Preconditioned Crank–Nicolson on the hidden layers, with the output layer integrated out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from llc_core.samplers.base import Sampler
from llc_core.samplers.registry import register
from llc_core.types import Hp


@register
@dataclass(frozen=True)
class CollapsedPCN(Sampler):
    """One step proposes new hidden layers that leave the prior as it is, and accepts them by the evidence of the data given
    these layers, in which the output layer is integrated out; then the output layer is drawn from its normal distribution.

    Distribution: exactly exp(−U). It needs no gradient and has no step to choose: the share of fresh noise is held at an acceptance of 0.3
    during burn-in. It needs a `BayesianNetwork` with a gaussian likelihood, which makes the draws.
    Source: Cotter et al. 2013 for the proposal; the output layer as in Hron et al. 2022.
    """

    label: ClassVar[str] = "Collapsed pCN"
    formula: ClassVar[str] = (
        r"v'=\sqrt{1-s^2}\,v+s\,\xi,\quad\text{accept with }\min\bigl(1,\tfrac{p(y\mid v')}{p(y\mid v)}\bigr),\quad u\sim p(u\mid y,v)"
    )
    about: ClassVar[str] = (
        "Collapsed preconditioned Crank–Nicolson moves the hidden layers alone, judged by the evidence of the "
        "data. It draws the output layer exactly. Only Gaussian likelihoods allow it; there it needs the "
        "fewest evaluations of all."
    )
    source: ClassVar[str] = "Cotter et al. 2013; Hron et al. 2022"
    noises: ClassVar[int] = 0
    needs_conditionals: ClassVar[bool] = True
    needs_prior: ClassVar[bool] = True

    def stable_step(self, curvature: Tensor, hp: Hp) -> Tensor:
        return torch.full_like(curvature, torch.inf)
