"""All observables by their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llc_core.fields import Family
from llc_core.observables.base import Observable

_FAMILY: Family[Observable] = Family(Observable, "observable", "TermSizes()")
register = _FAMILY.register


def observables() -> Mapping[str, type[Observable]]:
    """All registered observables by name."""
    return dict(_FAMILY)


def build(description: Observable | Mapping[str, Any] | str) -> Observable:
    """An observable that has seen nothing, from its name, {"name": …, options…} or another one; ValueError names what is
    wrong."""
    return _FAMILY.build(description.to_dict() if isinstance(description, Observable) else description)
