"""Predictions of draws that come one after another: sums are kept in place of the draws, so that memory does not grow."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from llc_core.ensembles.averaging import shares
from llc_core.ensembles.prediction import EnsemblePrediction, entropy, predictive


class RunningPrediction:
    """What `predictive` says of all draws that were added, but for rounding: here the order of the draws may change last bits.

    Every call of `add` is for the same inputs [P, …]. draws: how many were added.
    """

    def __init__(self) -> None:
        self.draws = 0
        self._total = self._squares = 0.0
        self._mean: Tensor | None = None
        self._entropy: Tensor | None = None

    def add(self, model: Any, draws: Any, inputs: Any, *, weights: Any = None, output: str = "logits") -> None:
        """draws, weights: as in `predictive`; weights have one common scale over all calls, and are 1 where none are given.

        Raises ValueError with one sentence for what does not fit together.
        """
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
        self._total += weight
        self._squares += float(each.square().sum())
        self.draws += count

    @property
    def kish_share(self) -> float:
        """Effective share of the draws, 1 where all weigh the same (Kish 1965)."""
        return self._total**2 / (self.draws * self._squares)

    @property
    def prediction(self) -> EnsemblePrediction:
        """Of all draws so far. Its `weights` are one entry for all: the single ones are not kept. ValueError before the first draw."""
        if self._mean is None or self._entropy is None:
            raise ValueError("There is no draw yet; call add(…) first.")
        mean = self._mean / self._total
        return EnsemblePrediction(mean, entropy(mean), self._entropy / self._total, torch.ones(1, dtype=torch.float64))
