"""The local learning coefficient at each checkpoint of a training."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import nn

from llc_core.estimating import estimate
from llc_core.networks.data import Split
from llc_core.networks.training import Checkpoint, Training
from llc_core.potentials.module.network import NetworkPotential
from llc_core.results import Estimate


def potential_at(
    model: nn.Module, checkpoint: Checkpoint | Mapping[str, torch.Tensor], data: Split, **options: Any
) -> NetworkPotential:
    """The training loss at one checkpoint. `model` gives the structure and is left as it is.

    options: of NetworkPotential; loss is "cross_entropy" unless given.
    """
    state = checkpoint.state if isinstance(checkpoint, Checkpoint) else checkpoint
    twin = copy.deepcopy(model)
    try:
        twin.load_state_dict(dict(state))
    except RuntimeError:
        raise ValueError(
            f"The checkpoint does not fit this {type(model).__name__}; pass the model that was trained."
        ) from None
    return NetworkPotential(twin, options.pop("loss", "cross_entropy"), data.pair, **options)


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
