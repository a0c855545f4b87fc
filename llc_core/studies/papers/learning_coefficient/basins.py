"""Two basins of one loss, a line of minima (λ = ½) and a singular point (λ = ¼): which has the posterior as n grows, by quadrature.

K = (w₁ − 1)²(w₁² + w₂²)⁴, the example of Lau, Murfet & Wei, sections 3 and 5. No chain is run.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from llc_core.fields import hyper
from llc_core.potentials.plane.surfaces import surface
from llc_core.studies.papers.claims import Claim, Measured, less, near
from llc_core.studies.papers.study import Cost, Found, Place, Study, register, rising

BOX = 2.0
CELLS = 1200
"""Cells from the nearest to an edge of a basin to the furthest, along each axis."""
FINEST = 1e-9
LINE_FROM = 0.5
"""w₁ from which on a point belongs to the line."""
WITHIN = 0.03
"""A slope that is this near to λ: it still falls with log n."""


def masses(n: float, cells: int = CELLS) -> tuple[float, float]:
    """∫ exp(−nK) over the basin of the line and over that of the point, within |w_i| ≤ 2.

    Midpoint rule on cells that become finer towards w₁ = 1, and towards 0.
    """
    basins = surface("two_basins", box=BOX)
    edge = np.geomspace(FINEST, 1.0, cells)
    x = np.unique(np.concatenate([-BOX * edge, LINE_FROM * edge, 1 - LINE_FROM * edge, 1 + edge, [0.0, 1.0]]))
    y = np.concatenate([[0.0], BOX * edge])
    middle, width, height = (x[1:] + x[:-1]) / 2, np.diff(x), 2 * np.diff(y)
    weight = np.exp(-n * basins.energy(middle[:, None], (y[1:] + y[:-1])[None] / 2))
    columns = width * (weight @ height)
    line = middle > LINE_FROM
    return float(columns[line].sum()), float(columns[~line].sum())


@register
@dataclass(frozen=True)
class Basins(Study):
    """sizes: n, in rising order.  show: "density" draws exp(−nK) at each n, "free_energy" F̄ of both basins against log n."""

    sizes: tuple[float, ...] = hyper((5, 100), read=rising("numbers of samples n", 2, above=0))
    show: str = hyper("density", choices=("density", "free_energy"))

    def cost(self) -> Cost:
        return Cost(0.4 * len(self.sizes), 300, f"quadrature at {len(self.sizes)} n")

    def run(self, at: Place) -> Found:
        rows = [
            at.part(["basins", n, CELLS], partial(lambda n: {"masses": masses(n)}, n), f"n = {n:g}") for n in self.sizes
        ]
        found = np.array([row["masses"] for row in rows])
        share = found[:, 1] / found.sum(axis=1)
        first, last = (
            (f"n = {self.sizes[i]:g}", Measured(share[i], self._grid_error(self.sizes[i], float(share[i]))))
            for i in (0, -1)
        )
        claims: list[Claim] = [
            less("the singular point takes over as n grows (its share of the posterior)", first, last)
        ]
        energy = -np.log(found)
        if self.show == "free_energy":
            slopes = np.diff(energy, axis=0) / np.diff(np.log(self.sizes))[:, None]
            for name, column, truth in (("the line", 0, 0.5), ("the point", 1, 0.25)):
                # what the slope changed by over the last interval says how far it still is from its limit
                error = abs(float(slopes[-1, column] - slopes[-2, column])) if len(slopes) > 1 else math.nan
                text = f"the free energy of {name} grows by λ = {truth:g} log n"
                claims.append(near(text, Measured(float(slopes[-1, column]), error), truth, WITHIN, "λ"))
        numbers = {
            "n": list(self.sizes),
            "masses of line and point": found.tolist(),
            "share of the point": share.tolist(),
        }
        return Found(claims, numbers, lambda: self._figure(energy))

    def _grid_error(self, n: float, share: float) -> float:
        """What the share changes by on a grid of half as many cells."""
        line, point = masses(n, CELLS // 2)
        return abs(point / (line + point) - share)

    def _figure(self, energy: np.ndarray) -> Any:
        from llc_core.plots.kinds import curves
        from llc_core.plots.style import beside_each_other, finished, holoviews

        if self.show == "free_energy":
            named = {name: (self.sizes, energy[:, i]) for i, name in enumerate(("U, the line", "V, the point"))}
            return curves(named, dots=True, logx=True, xlabel="n", ylabel="−log ∫ exp(−nK)", legend_position="top_left")
        hv, axis = holoviews(), np.linspace(-1.5, 1.5, 301)
        energies = surface("two_basins").energy(axis[:, None], axis[None])
        looks: dict[str, Any] = {
            "cmap": "Blues",
            "colorbar": True,
            "height": 340,
            "xlabel": "w₁",
            "ylabel": "w₂",
            "show_grid": False,
        }
        return beside_each_other(
            *(
                finished(
                    hv.Image(np.flipud(np.exp(-n * energies).T), bounds=(-1.5, -1.5, 1.5, 1.5)), title=f"exp(−nK), n = {n:g}", **looks
                )
                for n in self.sizes
            )
        )  # fmt: skip
