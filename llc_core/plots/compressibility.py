"""How the loss of a network rises while it is compressed: three ways beside each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from llc_core.plots.kinds import curves
from llc_core.plots.style import CHAINS, QUIET, beside_each_other, line_at


def compressibility(found: Any) -> Any:
    """found: a `Compressibility`. Losses that do not rise are left out, since the axis is logarithmic."""
    drawn = []
    for (name, curve), color in zip(found.curves.items(), CHAINS, strict=False):
        loss = np.where(curve.loss > 0, curve.loss, np.nan)
        ground = line_at(found.tolerance, QUIET, "dashed")
        options: dict[str, Any] = {"xlabel": f"{name} kept", "ylabel": "L − L(w₀)", "logy": True}
        drawn.append(curves({"": (curve.settings, loss)}, ground, (color,), dots=True, **options))
    return beside_each_other(*drawn, columns=3)
