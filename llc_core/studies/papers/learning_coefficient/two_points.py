"""λ̂ of SGLD at two points of one loss whose λ differ: a smooth point and a singular one (Lau, Murfet & Wei, figure 1)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from llc_core.config import RunConfig
from llc_core.fields import hyper, numbers
from llc_core.potentials.plane.regression import planar_landscape
from llc_core.studies.papers.claims import Claim, Measured, at_least, less, near
from llc_core.studies.papers.learning_coefficient.crossings import CHAIN_STEPS, finish, known
from llc_core.studies.papers.study import Cost, Found, Place, Study, on_cores, register
from llc_core.theory.quadrature import posterior

EDGES = np.linspace(-0.5, 1.75, 46)
"""Bins of the λ̂ at the two points."""


def points(
    repeats: int, steps: int, localization: float, step_size: float = 1e-4, edges: np.ndarray = EDGES
) -> dict[str, Any]:
    """λ̂ at U and at V on the same data sets, what quadrature says, and the paired difference."""
    report: dict[str, Any] = {"gamma": localization}
    found = []
    for at in ("U", "V"):
        problem = planar_landscape("line_and_point", at=at, data_sets=repeats)
        config = RunConfig(
            sampler={"name": "SGLD", "step_size": step_size},
            chains=repeats,
            steps=steps,
            burn_in=0,
            localization=localization,
            dtype="float64",
        )
        values = finish(config, problem)[0].per_chain
        found.append(values)
        report[at] = {
            "mean": float(np.nanmean(values)),
            "sd": float(np.nanstd(values, ddof=1)),
            "dead": int(np.isnan(values).sum()),
            "exact": float(posterior(problem, localization=localization).llc.mean()),
            "truth": known(problem.local_learning_coefficient),
            "counts": np.histogram(np.clip(values, edges[0], edges[-1]), edges)[0].tolist(),
        }
    gap = found[0] - found[1]
    return {**report, "gap": float(np.nanmean(gap)), "gap_se": float(np.nanstd(gap, ddof=1) / math.sqrt(repeats))}


@register
@dataclass(frozen=True)
class TwoPoints(Study):
    """λ̂ at U on the smooth line, where λ = ½, and at V, the singular point of the same minima, where λ = ¼.

    localizations: γ, a panel each.  ends: λ̂ that count as "near ½" and "near ¼" lie within this of them.
    """

    repeats: int = hyper(500, 2, 10_000)
    steps: int = hyper(5_000, 10, 10_000_000)
    step_size: float = hyper(1e-4, 0.0, 1.0, open_low=True)
    localizations: tuple[float, ...] = hyper((0.2,), read=numbers("a list of γ"))
    ends: float = hyper(0.1, 0.0, 1.0)

    def cost(self) -> Cost:
        processor = 2 * len(self.localizations) * (self.steps * max(self.repeats / CHAIN_STEPS, 2.5e-4) + 5)
        words = f"{self.repeats} data sets, chains of {self.steps:,} steps at two points, {len(self.localizations)} γ"
        return Cost(on_cores(processor, 1), 500, words)

    def run(self, at: Place) -> Found:
        claims: list[Claim] = []
        numbers = {}
        for gamma in self.localizations:
            asked = ["points", self.repeats, self.steps, self.step_size, gamma]
            row = at.part(asked, partial(points, self.repeats, self.steps, gamma, self.step_size), f"γ = {gamma:g}")
            numbers[f"γ = {gamma:g}"] = row
            u, v = (
                Measured(row[point]["mean"], row[point]["sd"] / max(self.repeats - row[point]["dead"], 1) ** 0.5)
                for point in "UV"
            )
            said = f" (γ = {gamma:g})"
            claims += [
                near(f"λ̂ at U is near ½{said}", u, row["U"]["truth"], self.ends, "true"),
                near(f"λ̂ at V is near ¼{said}", v, row["V"]["truth"], self.ends, "true"),
                at_least(f"λ̂ at U exceeds that at V{said}", Measured(row["gap"], row["gap_se"]), 0.0),
                less(f"a converged sampler would read less than SGLD at U{said}", ("quadrature", Measured(row["U"]["exact"])), ("SGLD", u)),
            ]  # fmt: skip
        return Found(claims, numbers, lambda: self._figure(numbers))

    def _figure(self, numbers: Mapping[str, Mapping[str, Any]]) -> Any:
        from llc_core.plots.kinds import densities
        from llc_core.plots.style import beside_each_other

        width = EDGES[1] - EDGES[0]
        return beside_each_other(
            *(
                densities(
                    EDGES,
                    {f"at {at}": np.array(row[at]["counts"]) / (sum(row[at]["counts"]) * width) for at in "UV"},
                    {f"λ at {at}": ([row[at]["truth"]] * 2, [0.0, 2.5]) for at in "UV"},
                    title=name,
                    xlabel="λ̂",
                )
                for name, row in numbers.items()
            )
        )
