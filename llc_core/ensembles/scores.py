"""Scores of predicted probabilities against labels. Smaller is better in all of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from llc_core.compute.precision import EXACT
from llc_core.fields import whole

TINY = float(np.finfo(np.float64).tiny)
"""What a probability of 0 counts as in a logarithm."""


def checked(probabilities: Tensor, targets: Tensor) -> Tensor:
    """targets [P] as long integers; ValueError where they are no classes of probabilities [P, K]."""
    labels = torch.as_tensor(targets, device="cpu").detach().cpu()
    rows, classes = probabilities.shape
    if labels.shape != (rows,) or labels.is_floating_point():
        raise ValueError(
            f"targets has shape {tuple(labels.shape)} and holds {labels.dtype}; give {rows} whole numbers, one for each input."
        )
    if rows and (int(labels.min()) < 0 or int(labels.max()) >= classes):
        raise ValueError(
            f"targets has {int(labels.min())} to {int(labels.max())}; the ensemble knows classes 0 to {classes - 1}."
        )
    return labels.long()


def negative_log_likelihood(probabilities: Tensor, targets: Tensor) -> float:
    """Mean of −log p(label), in nats."""
    labels = checked(probabilities, targets)
    chosen = probabilities.gather(1, labels.unsqueeze(1)).squeeze(1)
    return float(-chosen.clamp_min(TINY).log().mean())


def brier(probabilities: Tensor, targets: Tensor) -> float:
    """Mean of Σ_k (p_k − [k is the label])², in [0, 2] (Brier 1950)."""
    labels = checked(probabilities, targets)
    truth = torch.zeros_like(probabilities).scatter_(1, labels.unsqueeze(1), 1.0)
    return float((probabilities - truth).square().sum(dim=1).mean())


def accuracy(probabilities: Tensor, targets: Tensor) -> float:
    """Share of inputs whose most probable class is the label."""
    return float((probabilities.argmax(dim=1) == checked(probabilities, targets)).double().mean())


@dataclass(frozen=True)
class CalibrationCurve:
    """Of the bins that hold an input, by growing confidence: mean of the largest probability, share that is right, inputs; [B]."""

    confidence: np.ndarray
    accuracy: np.ndarray
    counts: np.ndarray

    @property
    def error(self) -> float:
        """Expected calibration error: Σ (share of inputs)·|accuracy − confidence|."""
        return float((self.counts * np.abs(self.accuracy - self.confidence)).sum() / self.counts.sum())


def calibration_curve(probabilities: Tensor, targets: Tensor, bins: int = 15) -> CalibrationCurve:
    """Bins of the largest probability of equal width, (k/bins, (k + 1)/bins]; empty ones are left out.

    Source: Niculescu-Mizil & Caruana 2005; Guo et al. 2017, section 2.
    """
    labels, count = checked(probabilities, targets), whole("bins", bins, 1, 1_000_000)
    confidence, said = probabilities.max(dim=1)
    place = (confidence * count).ceil().long().clamp(1, count) - 1

    def of(values: Tensor) -> np.ndarray:
        return torch.zeros(count, **EXACT).index_add_(0, place, values.double()).numpy()

    counts = of(torch.ones_like(confidence))
    there = counts > 0
    held = counts[there]
    return CalibrationCurve(of(confidence)[there] / held, of(said == labels)[there] / held, held)


def calibration_error(probabilities: Tensor, targets: Tensor, bins: int = 15) -> float:
    """Expected calibration error: Σ over bins of the largest probability, of (share of inputs)·|accuracy − mean confidence|.

    Source: Naeini, Cooper & Hauskrecht 2015; Guo et al. 2017, eq. 3. See `calibration_curve` for the bins.
    """
    checked(probabilities, targets)
    return calibration_curve(probabilities, targets, bins).error if len(probabilities) else float("nan")
