"""Predictions of draws that come one after another: of each only its weight is kept, beside sums over all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from llc_core.ensembles.averaging import shares
from llc_core.ensembles.outputs import observed
from llc_core.ensembles.prediction import EnsemblePrediction, entropy, predictive


class RunningPrediction:
    """What `predictive` says of all draws that were added, but for rounding: here the order of the draws may change last bits.

    Every call of `add` is for the same inputs [P, …]. draws: how many were added.
    """

    def __init__(self) -> None:
        self.draws = 0
        self._weights: list[Tensor] = []
        self._mean: Tensor | None = None
        self._entropy: Tensor | None = None

    def add(self, model: Any, draws: Any, inputs: Any, *, weights: Any = None, output: str = "logits") -> None:
        """draws, weights: as in `predictive`; weights have one common scale over all calls, and are 1 where none are given.

        Raises ValueError with one sentence for what does not fit together.
        """
        if isinstance(draws, Mapping):
            draws, weights = observed(draws, weights)
        new = predictive(model, draws, inputs, weights=weights, output=output)
        count = len(new.weights)
        each = (
            torch.ones(count, dtype=torch.float64) if weights is None else torch.as_tensor(weights).double().flatten()
        )
        shares(each, count)  # refuses what are no weights
        if self._mean is None or self._entropy is None:
            self._mean, self._entropy = torch.zeros_like(new.probabilities), torch.zeros_like(new.mean_entropy)
        if self._mean.shape != new.probabilities.shape:
            raise ValueError(
                f"inputs give probabilities of shape {tuple(new.probabilities.shape)}, those before gave "
                f"{tuple(self._mean.shape)}; give the same inputs at every call."
            )
        weight = float(each.sum())
        self._mean += weight * new.probabilities
        self._entropy += weight * new.mean_entropy
        self._weights.append(each)
        self.draws += count

    @property
    def prediction(self) -> EnsemblePrediction:
        """Of all draws so far. ValueError before the first draw."""
        if self._mean is None or self._entropy is None:
            raise ValueError("There is no draw yet; call add(…) first.")
        weights = torch.cat(self._weights)
        total = weights.sum()
        mean = self._mean / total
        return EnsemblePrediction(mean, entropy(mean), self._entropy / total, weights / total)
