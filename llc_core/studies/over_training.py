"""The local learning coefficient at each checkpoint of a training."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch import nn

from llc_core.estimating import estimate
from llc_core.networks.checkpoints import potential_at
from llc_core.networks.data import Split
from llc_core.networks.training import Checkpoint, Training
from llc_core.results import Estimate


def llc_over_training(
    model: nn.Module,
    training: Training | Iterable[Checkpoint],
    data: Split,
    sampler: Any = None,
    *,
    parameters: Any = None,
    batch_size: int | None = None,
    loss: Any = "cross_entropy",
    **options: Any,
) -> dict[int, Estimate]:
    """λ̂ after each step that was kept: step → Estimate.

    parameters: what moves, as for NetworkPotential: all, a pattern, or masks such as `head_masks(model, layer, head)`.
    batch_size: None: gradients over all rows.  options: of `estimate` (chains, steps, localization, …). The seed is the
    same at every checkpoint, so that differences between checkpoints are sharper than each figure.
    """
    kept = training.checkpoints if isinstance(training, Training) else tuple(training)
    if not kept:
        raise ValueError("training has no checkpoints; name some steps in train(..., checkpoints=[…]).")
    return {
        c.step: estimate(
            potential_at(model, c, data, loss=loss, parameters=parameters, batch_size=batch_size),
            sampler,
            **{"progress": False, **options},
        )
        for c in kept
    }
