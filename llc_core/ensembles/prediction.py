"""Predictions of an ensemble of draws, with what the draws agree on and what they do not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from llc_core.compute.precision import full_precision
from llc_core.ensembles import scores
from llc_core.ensembles.averaging import kish_share, ordered_sum, shares, weighted_mean
from llc_core.ensembles.outputs import observed, of_draws
from llc_core.ensembles.outside import Detection, detection
from llc_core.fields import choice

CHUNK = 1 << 24
"""Numbers held at once: draws × inputs × classes."""
PIXELS = 1 << 21
"""Numbers of the inputs that a network is given at once: one of many channels makes a hundred times as many of them on the way."""
COLUMNS = ("entropy_of_mean", "mean_entropy", "mutual_information", "confidence")


@dataclass(frozen=True)
class EnsemblePrediction:
    """What an ensemble says of P inputs with K classes; in nats and double precision.

    probabilities: [P, K], Σ_s w_s·p_s, the weighted mean over the draws.
    entropy_of_mean: [P], H(Σ w p): all doubt.  mean_entropy: [P], Σ w H(p): doubt that each draw has by itself, which more
    data would not remove.  weights: [S], their sum 1.
    """

    probabilities: Tensor
    entropy_of_mean: Tensor
    mean_entropy: Tensor
    weights: Tensor

    @property
    def mutual_information(self) -> Tensor:
        """[P] ≥ 0, the difference of the two entropies: how much the draws disagree (Houlsby et al. 2011; Gal 2016)."""
        return (self.entropy_of_mean - self.mean_entropy).clamp_min(0)

    @property
    def confidence(self) -> Tensor:
        """[P], the largest probability."""
        return self.probabilities.amax(dim=1)

    @property
    def kish_share(self) -> float:
        """Effective share of the draws, 1 where all weigh the same (Kish 1965)."""
        return kish_share(self.weights)

    def accuracy(self, targets: Tensor) -> float:
        return scores.accuracy(self.probabilities, targets)

    def negative_log_likelihood(self, targets: Tensor) -> float:
        """Of the mean probabilities, in nats."""
        return scores.negative_log_likelihood(self.probabilities, targets)

    def brier(self, targets: Tensor) -> float:
        """Sum over the classes, mean over the inputs."""
        return scores.brier(self.probabilities, targets)

    def calibration_error(self, targets: Tensor, bins: int = 15) -> float:
        """Expected calibration error over bins of equal width."""
        return scores.calibration_error(self.probabilities, targets, bins)

    def calibration_curve(self, targets: Tensor, bins: int = 15) -> scores.CalibrationCurve:
        """How often the ensemble is right where it is so sure."""
        return scores.calibration_curve(self.probabilities, targets, bins)

    def against(self, outside: EnsemblePrediction, column: str = "entropy_of_mean") -> Detection:
        """How well a column tells `outside`, predictions for inputs of another kind, from these.

        column: "entropy_of_mean", "mean_entropy", "mutual_information", or "confidence" (low is foreign).
        """
        sign = -1 if choice("column", column, COLUMNS) == "confidence" else 1
        return detection(sign * getattr(self, column), sign * getattr(outside, column))


def predictive(
    model: Any, draws: Any, inputs: Any, *, weights: Any = None, output: str = "logits"
) -> EnsemblePrediction:
    """Predictions of a classifier at `inputs` [P, …], averaged over draws of its weights.

    model: a torch.nn.Module, or a NetworkPotential.
    draws: for a module a list of state dicts, or rows of all its parameters in their order, [S, D] or with more dimensions in
        front; for a NetworkPotential displacements δ = w − w0. What the observable WeightDraws gave, a table with "draws" and
        perhaps "weights", is taken as it is; draws of dead chains are left out.
    weights: one ≥ 0 for each draw, up to a common factor; None: all the same.
    output: "logits" or "probabilities", what the network gives.

    Equal weights give exactly what no weights give, and the order of the draws changes no bit.
    Raises ValueError with one sentence for what does not fit together.
    """
    if isinstance(draws, Mapping):
        draws, weights = observed(draws, weights)
    functions = of_draws(model, draws)
    share = shares(weights, len(functions))
    choice("output", output, ("logits", "probabilities"))
    rows = inputs if isinstance(inputs, Tensor) else torch.as_tensor(inputs, device="cpu")
    if rows.dim() == 0 or len(rows) == 0:
        raise ValueError(
            f"inputs has shape {tuple(rows.shape)}; its first dimension must count the inputs, at least 1."
        )
    training = model.training if isinstance(model, torch.nn.Module) else False
    try:
        if training:
            model.eval()
        with torch.no_grad(), full_precision():
            classes = _probabilities(functions[0](rows[:1]), output, 1).shape[1]
            step = max(1, min(CHUNK // (len(functions) * classes), PIXELS // max(1, rows[0].numel())))
            parts = []
            for begin in range(0, len(rows), step):
                some = rows[begin : begin + step]
                parts.append(_mean([_probabilities(f(some), output, len(some)) for f in functions], share))
    finally:
        if training:
            model.train()
    mean, of_mean, own = (torch.cat(column) for column in zip(*parts, strict=True))
    return EnsemblePrediction(mean, of_mean, own, share)


def _probabilities(given: Tensor, output: str, rows: int) -> Tensor:
    if given.dim() != 2 or len(given) != rows:
        raise ValueError(f"model gives outputs of shape {tuple(given.shape)}; an ensemble needs [inputs, classes].")
    found = given.detach().double().cpu()
    if output == "logits":
        return found.softmax(dim=1)
    total = ordered_sum(found.T)
    if bool((found < 0).any()) or bool(((total - 1).abs() > 1e-3).any()):
        raise ValueError("output is 'probabilities', but the model's numbers are none; use output='logits'.")
    return found


def _mean(each: list[Tensor], share: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    stacked = torch.stack(each)
    mean = weighted_mean(stacked, share)
    return mean, entropy(mean), weighted_mean(entropy(stacked), share)


def entropy(probabilities: Tensor) -> Tensor:
    """−Σ p·log p over the last dimension, in nats; 0·log 0 is 0."""
    return torch.special.entr(probabilities).sum(dim=-1)
