"""The training loss at a checkpoint as a potential."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from llc_core.networks.data.splits import Split
from llc_core.networks.training import Checkpoint
from llc_core.potentials.module.network import NetworkPotential
from llc_core.potentials.module.parameters import plain_name, uncompiled


def potential_at(
    model: nn.Module, checkpoint: Checkpoint | Mapping[str, torch.Tensor], data: Any, **options: Any
) -> NetworkPotential:
    """The training loss at one checkpoint. `model` gives the structure and is left as it is.

    checkpoint: a `Checkpoint` or a state_dict; that of a compiled module fits as well.
    data: a Split, or whatever NetworkPotential takes.
    options: of NetworkPotential; loss is "cross_entropy" unless a loss or a loss_fn is given.
    """
    state = checkpoint.state if isinstance(checkpoint, Checkpoint) else checkpoint
    if not isinstance(state, Mapping):
        raise ValueError(f"checkpoint is a {type(state).__name__}; pass a state_dict or a Checkpoint.")
    twin = copy.deepcopy(uncompiled(model))
    try:
        twin.load_state_dict({plain_name(name): value for name, value in state.items()})
    except RuntimeError:
        raise ValueError(
            f"The checkpoint does not fit this {type(twin).__name__}; pass the model that was trained."
        ) from None
    loss = options.pop("loss", None if "loss_fn" in options else "cross_entropy")
    return NetworkPotential(twin, loss, data.pair if isinstance(data, Split) else data, **options)
