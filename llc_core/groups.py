"""Which chains belong to one problem and setting."""

from __future__ import annotations

import itertools
from typing import Any

from llc_core.config import RunConfig


def settings(config: RunConfig) -> list[dict[str, Any]]:
    """The product of the grid's lists, first field varying slowest; [{}] without a grid."""
    names = list(config.grid)
    return [dict(zip(names, values, strict=True)) for values in itertools.product(*config.grid.values())]
