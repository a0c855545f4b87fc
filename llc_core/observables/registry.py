"""All observables by their names."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from llc_core.observables.base import Observable

_REGISTRY: dict[str, type[Observable]] = {}


def register(cls: type[Observable]) -> type[Observable]:
    """Make the observable known by the name of its class. TypeError where it is not a dataclass of its own."""
    if "__dataclass_fields__" not in vars(cls):
        raise TypeError(
            f"{cls.__name__} must be a dataclass: write @dataclass below @register, so that it has options."
        )
    _REGISTRY[cls.__name__] = cls
    return cls


def observables() -> Mapping[str, type[Observable]]:
    """All registered observables by name."""
    return dict(_REGISTRY)


def build(description: Observable | Mapping[str, Any] | str) -> Observable:
    """An observable that has seen nothing, from its name, {"name": …, options…} or another one; ValueError names what is
    wrong."""
    if isinstance(description, Observable):
        description = description.to_dict()
    if isinstance(description, str):
        description = {"name": description}
    if not isinstance(description, Mapping) or "name" not in description:
        raise ValueError(
            f"{description!r:.60} is no observable; give its name, or a table with a name and its options."
        )
    options = dict(description)
    name = options.pop("name")
    if not isinstance(name, str) or name not in _REGISTRY:
        raise ValueError(f"Unknown observable {name!r:.60}; choose one of {', '.join(sorted(_REGISTRY))}.")
    cls = _REGISTRY[name]
    known = sorted(field.name for field in dataclasses.fields(cls))
    for key in options:
        if key not in known:
            raise ValueError(f"{name} has no option {key!r:.60}; its options are {', '.join(known)}.")
    return cls(**options)
