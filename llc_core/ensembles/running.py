"""Predictions of draws that come one after another: of each only its weight is kept, beside sums over all."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from llc_core.compute.precision import EXACT
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
        self._largest: float | None = None
        self._mean: Tensor | None = None
        self._entropy: Tensor | None = None

    def add(
        self,
        model: Any,
        draws: Any,
        inputs: Any,
        *,
        weights: Any = None,
        log_weights: Any = None,
        output: str = "logits",
    ) -> None:
        """draws, weights: as in `predictive`; weights have one common scale over all calls, and are 1 where none are given.

        log_weights: in place of weights, up to a constant that all calls share; they may be as small or large as those of contour
        sampling are. Use one kind in all calls.
        Raises ValueError with one sentence for what does not fit together.
        """
        if isinstance(draws, Mapping):
            draws, weights = observed(draws, weights)
        if log_weights is not None:
            weights = self._scaled(log_weights, weights)
            if not bool((weights > 0).any()) and self.draws:  # beside the others they weigh nothing
                self._weights.append(weights)
                self.draws += len(weights)
                return
        elif self._largest is not None:
            raise ValueError("log_weights were given before; give them at every call.")
        new = predictive(model, draws, inputs, weights=weights, output=output)
        count = len(new.weights)
        each = (
            torch.ones(count, **EXACT) if weights is None else torch.as_tensor(weights, device="cpu").double().flatten()
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

    def state_dict(self) -> dict[str, Any]:
        """All that is kept of the draws so far, for `load_state_dict`."""
        return dict(vars(self))

    def load_state_dict(self, found: Mapping[str, Any]) -> None:
        """Go on where another one stood; what is added then is added to the same sums."""
        vars(self).update(found)

    def _scaled(self, log_weights: Any, weights: Any) -> Tensor:
        """Weights in units of the largest so far; what was added before is brought to them."""
        if weights is not None or (self.draws and self._largest is None):
            raise ValueError("log_weights are given beside weights; give one kind in all calls.")
        logs = torch.as_tensor(log_weights, **EXACT).detach().cpu().flatten()
        if not len(logs) or not bool(torch.isfinite(logs).all()):
            raise ValueError("log_weights must be finite, one number for each draw; leave draws that do not count out.")
        before, largest = self._largest, float(logs.max())
        if before is None or largest > before:
            self._largest = largest
            if before is not None and self._mean is not None and self._entropy is not None:
                shrink = math.exp(before - largest)
                self._mean, self._entropy = self._mean * shrink, self._entropy * shrink
                self._weights = [each * shrink for each in self._weights]
        return (logs - (self._largest or 0.0)).exp()

    @property
    def prediction(self) -> EnsemblePrediction:
        """Of all draws so far. ValueError before the first draw."""
        if self._mean is None or self._entropy is None:
            raise ValueError("There is no draw yet; call add(…) first.")
        weights = torch.cat(self._weights)
        total = weights.sum()
        mean = self._mean / total
        return EnsemblePrediction(mean, entropy(mean), self._entropy / total, weights / total)
