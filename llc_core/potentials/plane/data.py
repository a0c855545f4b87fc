"""Data sets of a planar landscape, and the few numbers through which a loss depends on them.

The model is y_j = ρ_j(w)·x_j + s·N(0, 1), the truth ρ = 0. So the log-likelihood ratio of sample i against w0 is
c_i·φ(w) with φ = (ρ_1, …, ρ_q, ρ_1², …, ρ_q²) and c_i = (x·y, −x²/2)/s². Losses depend on the data only through means and
second moments of c_i.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from llc_core.compute.precision import EXACT, lasting
from llc_core.compute.streams import torch_stream

MAX_NUMBERS = 200_000_000
"""Largest data_sets × n × outputs. All x and y are kept in memory, for the losses of single samples."""


class PlanarData:
    """`sets` independent data sets of n samples. Set r is the same however many sets there are."""

    def __init__(self, sets: int, n: int, outputs: int, noise_std: float, seed: int):
        if sets * n * outputs > MAX_NUMBERS:
            raise ValueError(
                f"data_sets × n is {sets * n:,}; at most {MAX_NUMBERS // outputs:,} samples fit, so use fewer data_sets."
            )
        self.sets, self.n, self.outputs, self.noise_std, self.seed = sets, n, outputs, noise_std, seed

    @cached_property
    @lasting()
    def xy(self) -> tuple[Tensor, Tensor]:
        """x and y [R, q, n], float64."""
        stream = torch_stream(self.seed, "planar data")
        drawn = [torch.randn(2, self.outputs, self.n, generator=stream, **EXACT) for _ in range(self.sets)]
        both = torch.stack(drawn)
        return both[:, 0], both[:, 1] * self.noise_std

    def coefficients(self, start: int = 0, stop: int | None = None) -> Tensor:
        """c_i of samples start … stop − 1, [R, 2q, stop − start]."""
        x, y = (value[:, :, start:stop] for value in self.xy)
        return torch.cat([x * y, -x * x / 2], dim=1) / self.noise_std**2

    def constants(self, start: int = 0, stop: int | None = None) -> Tensor:
        """−log p of each sample at w0, [R, stop − start]."""
        y = self.xy[1][:, :, start:stop] / self.noise_std
        return (y * y).sum(dim=1) / 2 + self.outputs * math.log(math.sqrt(2 * math.pi) * self.noise_std)

    @cached_property
    def mean(self) -> np.ndarray:
        """Mean of c_i, [R, 2q]: L_n(w) − L_n(w0) = −mean·φ(w)."""
        return self.coefficients().mean(dim=2).numpy()

    @cached_property
    def square_sum(self) -> np.ndarray:
        """Σ c_i·c_iᵀ, [R, 2q, 2q]: what Σ Var(log p_i) is made of."""
        c = self.coefficients()
        return torch.bmm(c, c.transpose(1, 2)).numpy()

    @cached_property
    def baseline_losses(self) -> np.ndarray:
        """L_n(w0) of each data set, [R]."""
        return self.constants().mean(dim=1).numpy()
