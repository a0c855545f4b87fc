"""What λ̂ of a deep linear network should be at finite n: of the mean over data sets, and of the data at hand where it is known; also
at other weights than those that made its data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from functools import cached_property, reduce
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from llc_core.compute.precision import EXACT
from llc_core.fields import number
from llc_core.potentials.base import Potential
from llc_core.potentials.deep_linear.data import INPUT_RANGE, LinearData
from llc_core.theory.reduced_rank import fitted_noise, has_largest_rank
from llc_core.theory.width_one import width_one_llc

LARGEST_FITTED = 1024
"""Up to this width the noise that a network fits is computed: about a second there, and as the cube of the width."""
DATA_SETS = 20
"""Nodes of the mean over data sets: exact where λ̂ is a polynomial of degree 39 in the cross moment of the noise."""
MOVED_NOTE = "It is of the true parameter from which w0 was moved."


class Expected(Potential):
    """The part of a deep linear network that says what is expected of λ̂, and lets w0 move. The network has the rest."""

    weights: list[np.ndarray]
    widths: Sequence[int]
    data: LinearData
    noise_std: float
    _from: Any = None
    """The network at the true parameter, of one that was moved."""
    _on: dict[Any, Any]

    @property
    def is_moved(self) -> bool:
        """Whether w0 was moved away from the true parameter that made the data."""
        return self._from is not None

    @property
    def rank_table(self) -> list[list[int]]:
        """See `DeepLinearNetwork.rank_table`."""
        raise NotImplementedError

    def expected_llc(self, n_beta: float | None = None) -> float | None:
        """The mean of λ̂ over data sets: λ(1 − 2β·noise_std²) − (m − 1)/log(nβ), with the local λ and m at w0.

        Where the product has the largest rank that the widths allow, it is exact as nβ grows (fitting the noise lowers the
        excess loss). Where all widths are 1 it is exact at every nβ and γ = 1 instead: by quadrature, with the inputs' second
        moment over all data sets. At all other, singular points it is asymptotic: the second term is only the first of a
        series in 1/log(nβ), and noise that singular directions fit is counted as if they were regular. An unknown
        multiplicity counts as 1. At a w0 that was moved on its own data it is of these data, and None where that is not known: how
        far such a w0 lies below the truth is another number for every data set.
        """
        n_beta = self._checked(n_beta)
        if self.is_moved:
            return self.expected_llc_of_data(n_beta)
        if max(self.widths) == 1:
            found = self._mean_by_quadrature(n_beta)
            if found is not None:
                return found
        local = self.local_learning_coefficient
        assert local is not None
        beta, multiplicity = n_beta / self.n, local.multiplicity or 1
        return float(local) * (1 - 2 * beta * self.noise_std**2) - (multiplicity - 1) / max(math.log(n_beta), 1.0)

    def expected_llc_of_data(self, n_beta: float | None = None, localization: float | None = None) -> float | None:
        """λ̂ of an exact sampler on these data, where it is known; None at other points, and above width LARGEST_FITTED.

        Where all widths are 1, by quadrature at any nβ and γ (None: 1). Where the product has the largest rank that the
        widths allow, λ − nβ·(L_n(w0) − min L_n) with the minimum over all products of that rank (`fitted_noise`): up to
        terms of order 1/nβ, with γ in them. Elsewhere `llc_core.gibbs_reference` gives it by sampling.
        """
        n_beta = self._checked(n_beta)
        gamma = self.localization if localization is None else number("localization", localization)
        if max(self.widths) == 1:
            return self._by_quadrature(float(self.data.sxx), float(self.data.snx), n_beta, gamma)
        if not has_largest_rank(self.rank_table) or max(self.widths) > LARGEST_FITTED or self.n <= self.widths[0]:
            return None
        local = self.local_learning_coefficient
        return None if local is None else float(local) - n_beta * self._fitted_noise

    def expected_llc_at(self, n_beta: float, localization: float) -> float | None:
        """Of the data at hand where that is known, else of the mean over data sets."""
        of_data = self.expected_llc_of_data(n_beta, localization)
        return self.expected_llc(n_beta) if of_data is None else of_data

    @property
    def expected_note(self) -> str:
        """A sentence where `expected_llc` is asymptotic only, else empty."""
        if max(self.widths) == 1 or has_largest_rank(self.rank_table):
            return ""
        return (
            "The expected value is asymptotic, since w0 is a singular point: terms of 1/log(nβ)² and of γ are left out, and it "
            "is of the mean over data sets; llc_core.gibbs_reference gives the exact one."
        )

    @cached_property
    def _fitted_noise(self) -> float:
        product = np.eye(self.widths[0])
        for w in self.weights:
            product = w @ product
        return fitted_noise(product, self.rank_table[0][-1], self.data.sxx.numpy(), self.data.snx.numpy())

    def _mean_by_quadrature(self, n_beta: float) -> float | None:
        second, spread = INPUT_RANGE**2 / 3, self.noise_std * INPUT_RANGE / math.sqrt(3 * self.n)
        nodes, weights = np.polynomial.hermite_e.hermegauss(DATA_SETS)
        found = [self._by_quadrature(second, spread * node, n_beta, self.localization) for node in nodes]
        return None if None in found else float(np.array(found, dtype=float) @ weights / weights.sum())

    def _by_quadrature(self, sxx: float, snx: float, n_beta: float, gamma: float) -> float | None:
        return width_one_llc([float(w[0, 0]) for w in self.weights], sxx, snx, n_beta, gamma) if gamma > 0 else None

    def _checked(self, n_beta: float | None) -> float:
        n_beta = number("n_beta", self.n_beta if n_beta is None else n_beta, above=0)
        return n_beta

    def origin(self, like: Tensor) -> Tensor:
        return torch.cat([torch.as_tensor(w, **EXACT).flatten() for w in self.weights]).to(like)

    def moved(self, delta: Tensor) -> Self:
        """The network with other weights, on the samples of its first teacher, of whom ranks and both coefficients remain."""
        start = self._from or self
        parts = torch.split(delta.detach().cpu().double(), [w.size for w in self.weights])
        weights = [w + part.view(w.shape).numpy() for w, part in zip(self.weights, parts, strict=True)]
        there, before = (reduce(lambda below, w: w @ below, layers) for layers in (weights, start.weights))
        other = copy(self)
        for name in ("local_learning_coefficient", "_fitted_noise"):
            other.__dict__.pop(name, None)
        other.weights, other._from, other._on = weights, start, {}
        other.data = start.data.seen_from(torch.from_numpy(there - before))
        return other
