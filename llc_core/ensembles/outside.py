"""Whether a score tells inputs of another kind from those that were trained on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from llc_core.extras import needs

RECALL = 0.95


@dataclass(frozen=True)
class Detection:
    """auroc: chance that an input from outside scores above one from inside, ties half.  aupr: mean precision, outside as what
    is looked for.  fpr95: share of inside inputs that are called outside where 95% of those from outside are found.
    """

    auroc: float
    aupr: float
    fpr95: float


def detection(inside: Any, outside: Any) -> Detection:
    """Of the scores of inputs from inside [P] and from outside [Q]; the higher, the more foreign an input is said to be.

    Source: Hendrycks & Gimpel 2017 (AUROC, AUPR); Liang, Li & Srikant 2018 (FPR at 95%). By scikit-learn.
    Raises ValueError where one of them is empty or has a number that is not finite.
    """
    parts = [np.asarray(scores, dtype=float).reshape(-1) for scores in (inside, outside)]
    for name, scores in zip(("inside", "outside"), parts, strict=True):
        if not len(scores) or not np.isfinite(scores).all():
            raise ValueError(f"{name} has {len(scores)} scores; give at least one, and finite ones alone.")
    with needs("detection(…)", extra="networks"):
        from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve
    truth = np.repeat([0, 1], [len(scores) for scores in parts])
    scores = np.concatenate(parts)
    false_rate, found, _ = roc_curve(truth, scores, drop_intermediate=False)
    return Detection(
        float(roc_auc_score(truth, scores)),
        float(average_precision_score(truth, scores)),
        float(false_rate[np.searchsorted(found, RECALL - 1e-12)]),
    )
