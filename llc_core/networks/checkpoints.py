"""The training loss at a checkpoint as a potential."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from llc_core.networks.data import Split
from llc_core.networks.training import Checkpoint
from llc_core.potentials.module.network import NetworkPotential


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
