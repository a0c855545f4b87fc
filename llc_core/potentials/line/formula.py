"""A landscape from a formula in x, for its density or for its energy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from llc_core.fields import choice
from llc_core.potentials.line.expressions import parse
from llc_core.potentials.line.jets import Jet
from llc_core.potentials.line.tables import WIDEST, TableLandscape

SCAN = 20_001
"""Points of [−50, 50] at which a formula is read to find where its mass is."""
DEPTH = 60.0
"""How far above its minimum U is tabulated."""
TAIL_MASS = 1e-3
"""Share of the mass that may lie beyond the table, as the slope there predicts it."""


class ExpressionLandscape(TableLandscape):
    """A formula in x for the density (it need not be normalised) or for the energy U = −log density.

    expression: see `llc_core.potentials.line.expressions`.  of: "density" or "energy".
    It is read on [−50, 50], where it must be smooth and fall off. Raises ValueError with a sentence otherwise.
    """

    name, label = "expression", "Formula"

    def __init__(self, expression: str, of: str = "density"):
        self.of = choice("of", of, ("density", "energy"))
        parsed = parse(expression)
        self.expression = expression
        self.formula = f"U={parsed.latex}" if of == "energy" else rf"U=-\log\left({parsed.latex}\right)"
        self.about = f"The distribution whose {of} is a formula, read on [−50, 50]."

        def jet(x: np.ndarray) -> Jet:
            f, f1, f2 = parsed.jet(x)
            if self.of == "energy":
                return f, f1, f2
            with np.errstate(all="ignore"):
                return -np.log(f), -f1 / f, (f1 / f) ** 2 - f2 / f

        if self.of == "density":
            x = np.linspace(-WIDEST, WIDEST, SCAN)
            f = parsed.jet(x)[0]
            if (f < 0).any():
                raise ValueError(f"The density is negative at x = {x[f < 0][0]:.4g}; it must be positive.")
            if not (f > 0).any() and not np.isnan(f).any():
                raise ValueError("The density is 0 on all of [-50, 50]; it must be positive somewhere there.")
        self.tabulate(jet, *_range(jet, self.of))

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "expression": self.expression, "of": self.of}


def _range(jet: Callable[[np.ndarray], Jet], of: str) -> tuple[float, float]:
    """The interval in which U is within DEPTH of its minimum; ValueError if exp(−U) is no density, or none that a table can hold."""
    low, high = -WIDEST, WIDEST
    for _ in range(4):
        x = np.linspace(low, high, SCAN)
        energy, slope, _ = jet(x)
        bad = np.isnan(energy) | (energy == -np.inf)
        if bad.any():
            raise ValueError(
                f"The {of} is not a finite number at x = {x[bad][0]:.4g}; it must be one on all of [-50, 50]."
            )
        within = np.flatnonzero(energy < energy.min() + DEPTH)
        if not len(within):
            raise ValueError(f"The {of} is not a finite number anywhere on [-50, 50].")
        first, last = int(within[0]), int(within[-1])
        middle = energy[first : last + 1]
        if not np.isfinite(middle).all():
            at = x[first : last + 1][~np.isfinite(middle)][0]
            what = "0, or too small to hold," if of == "density" else "not a finite number"
            raise ValueError(f"The {of} is {what} at x = {at:.4g}; between its modes the density must be positive.")
        if last - first >= 200:
            break
        low, high = max(low, x[max(first - 1, 0)]), min(high, x[min(last + 1, SCAN - 1)])
    mass = np.exp(energy.min() - energy).sum() * (x[1] - x[0])
    for index, outward in ((first, -1.0), (last, 1.0)):
        s = outward * slope[index]
        if not s > 0 or np.exp(energy.min() - energy[index]) / s > TAIL_MASS * mass:
            at = f"towards x = {x[index]:.4g}"
            raise ValueError(
                f"The density does not fall off fast enough {at} to be integrable; "
                "multiply it by something like exp(-x^2/100)."
                if of == "density"
                else f"The energy does not rise fast enough {at}; add something like x^2/100."
            )
    return float(x[first]), float(x[last])
