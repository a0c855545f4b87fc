"""All interactions by their names."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from llc_core.fields import short
from llc_core.interactions.base import Interaction

_REGISTRY: dict[str, type[Interaction]] = {}


def register(cls: type[Interaction]) -> type[Interaction]:
    _REGISTRY[cls.__name__] = cls
    return cls


def interactions() -> Mapping[str, type[Interaction]]:
    """The registered interactions by name."""
    return dict(_REGISTRY)


def build(description: Interaction | Mapping[str, Any] | str) -> Interaction:
    """An interaction from itself, its name, or {"name": …, fields…}; ValueError names what is wrong."""
    if isinstance(description, Interaction):
        return description
    if isinstance(description, str):
        description = {"name": description}
    if not isinstance(description, Mapping):
        raise ValueError(
            f"interaction is {short(description)}; give one such as Contour(), its name, or a table with a name."
        )
    values = dict(description)
    name = values.pop("name", None)
    if not isinstance(name, str) or name not in _REGISTRY:
        raise ValueError(f"Unknown interaction {short(name)}; choose one of {', '.join(_REGISTRY)}.")
    cls = _REGISTRY[name]
    known = {f.name for f in dataclasses.fields(cls)}
    for key in values:
        if key not in known:
            raise ValueError(f"{name} has no field {short(key)}; its fields are {', '.join(sorted(known))}.")
    return cls(**values)
