"""All samplers by their names, and their hyperparameters as tensors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from llc_core.fields import Family, Hyper, hyper_fields
from llc_core.samplers.base import Sampler
from llc_core.types import Hp

_FAMILY: Family[Sampler] = Family(Sampler, "sampler", "SGLD()")
register, build = _FAMILY.register, _FAMILY.build


def samplers(conditionals: bool = False, priors: bool = False) -> Mapping[str, type[Sampler]]:
    """The registered samplers by name that any potential will do for.

    conditionals: also those that ask for a potential with exact conditional distributions.
    priors: also those that make sense only beside a Gaussian prior.
    """
    return {
        name: cls
        for name, cls in _FAMILY.items()
        if (conditionals or not cls.needs_conditionals) and (priors or not cls.needs_prior)
    }


def at_setting(sampler: Sampler, setting: Mapping[str, Any]) -> Sampler:
    """The sampler with the values that a setting of a grid gives to its own fields."""
    own = {name: value for name, value in setting.items() if name in hyper_fields(sampler)}
    return sampler.replace(**own) if own else sampler


def numeric_fields(sampler: Sampler | type[Sampler]) -> dict[str, Hyper]:
    return {k: h for k, h in hyper_fields(sampler).items() if not h.choices}


def hyperparameters(sampler: Sampler, chains: int, like: Tensor, layers: Sequence[tuple[int, ...]] | None = None) -> Hp:
    """The sampler's fields as [C, 1] tensors (nan for a step_size of None, until the engine has set it, or where it has none).

    layers: shapes of the potential's blocks of parameters; None: one vector.
    """
    values: dict[str, Any] = {
        "adapting": torch.ones(chains, 1, dtype=like.dtype, device=like.device),
        "layers": None if layers is None else tuple(layers),
    }
    for name, about in hyper_fields(sampler).items():
        value = getattr(sampler, name)
        if not about.choices:
            missing = math.nan if name == "step_size" else 0.0
            number = missing if value is None else value
            value = torch.full((chains, 1), number, dtype=like.dtype, device=like.device)
        values[name] = value
    values.setdefault("step_size", torch.full((chains, 1), math.nan, dtype=like.dtype, device=like.device))
    return Hp(**values)
