"""From what the observables kept to what an estimate says of the network's function."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from llc_core.config import RunConfig
from llc_core.diagnostics.drawn import Drawn
from llc_core.diagnostics.predictive import Predictive

Observed = Mapping[str, Mapping[str, np.ndarray]]


def predictive(
    config: RunConfig, observed: Observed | None, counted: np.ndarray, members: int, share: float, loss: np.ndarray
) -> Predictive | None:
    """None where no outputs were kept.

    counted: [C] the chains that live and weigh something.  members: so many chains in a row interact.
    share: what the draws are worth by their weights (Kish), nan: all the same.  loss: [T', G] of groups, after burn-in.
    """
    kept = (observed or {}).get("Predictions")
    if observed is None or not kept or not counted.any():
        return None
    asked = next(each for each in config.observables if isinstance(each, Mapping) and each["name"] == "Predictions")
    group = None if members == 1 else (np.arange(len(counted)) // members)[counted]
    worth = 1.0 if np.isnan(share) else share

    def drawn(found: Mapping[str, np.ndarray]) -> Drawn:
        weights = found["weights"][:, counted] if "weights" in found else None
        return Drawn(found["draws"][:, counted], weights, group, worth)

    weights = observed.get("WeightDraws")
    return Predictive(asked["inputs"], kept["steps"], drawn(kept), drawn(weights) if weights else None, loss)
