"""Loss kernels, influence and susceptibilities as figures: what goes together is blue, what goes against each other orange."""

from __future__ import annotations

from typing import Any

import numpy as np

from llc_core.plots.kinds import heat
from llc_core.plots.style import CHAINS, ESTIMATE, bars, finished, holoviews

COLORS = [CHAINS[1], "#ffffff", ESTIMATE]
MOST = 20
"""Rows that a figure of influence shows."""


def kernel(found: Any) -> Any:
    """A `LossKernel` as a square of R × R fields, in the order in which rows that go together lie side by side."""
    hv, order = holoviews(), found.order()
    values = found.values[np.ix_(order, order)]
    largest = 1.0 if found.correlated else float(np.nanmax(np.abs(values), initial=0.0)) or 1.0
    size = len(order)
    square = hv.Image(values, bounds=(0, 0, size, size)).opts(
        cmap=_shades(), clim=(-largest, largest), colorbar=True, yaxis=None
    )
    named = "correlations" if found.correlated else "covariances"
    return finished(
        square,
        title=f"{named} of losses",
        xlabel="rows, by clusters",
        ylabel="",
        show_grid=False,
        height=420,
        width=480,
    )


def influence(found: Any, query: int = 0) -> Any:
    """The most influential rows of a query of an `Influence`, each with two standard errors."""
    hv, best = holoviews(), found.top(MOST, query)
    at = np.arange(len(best))
    values, se = (np.array([each[name] for each in best]) for name in ("influence", "se"))
    dots = hv.Scatter((at, values)).opts(color=ESTIMATE, size=7)
    ticks = [(int(k), str(each["row"])) for k, each in zip(at, best, strict=True)]
    return finished(
        bars(at, values, se, ESTIMATE) * dots, xticks=ticks, xlabel="row", ylabel="−Cov", title=f"influence on {found.queries[query]}"
    )  # fmt: skip


def susceptibilities(found: Any) -> Any:
    """χ of `Susceptibilities`, parts × probes. In brackets where two errors reach 0."""
    texts = [
        [f"{value:.3g}" if abs(value) > 2 * se else f"({value:.2g})" for value, se in zip(*row, strict=True)]
        for row in zip(found.values, found.se, strict=True)
    ]
    largest = float(np.nanmax(np.abs(found.values), initial=0.0)) or 1.0
    return heat(
        found.values, found.parts, found.probes, texts, (-largest, largest), _pale(_shades()), title="susceptibility"
    )  # fmt: skip


def _pale(shades: list[str]) -> list[str]:
    """Those on which black text can be read."""
    return shades[20:-20]


def _shades() -> list[str]:
    """From COLORS, in 101 steps."""
    ends = np.array([[int(color[i : i + 2], 16) for i in (1, 3, 5)] for color in COLORS], dtype=float)
    mixed = [np.interp(np.linspace(0, 2, 101), [0, 1, 2], ends[:, part]) for part in range(3)]
    return ["#" + "".join(f"{round(part):02x}" for part in tone) for tone in np.transpose(mixed)]
