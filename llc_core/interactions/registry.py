"""All interactions by their names."""

from __future__ import annotations

from collections.abc import Mapping

from llc_core.fields import Family
from llc_core.interactions.base import Interaction

_FAMILY: Family[Interaction] = Family(Interaction, "interaction", "Contour()")
register, build = _FAMILY.register, _FAMILY.build


def interactions() -> Mapping[str, type[Interaction]]:
    """The registered interactions by name."""
    return dict(_FAMILY)
