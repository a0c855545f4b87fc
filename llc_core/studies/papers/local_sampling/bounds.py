"""How far λ̂ of the localised posterior may be from λ: the bound on its spread over data sets, beside quadrature (Hitchcock & Hoogland,
theorem 3.2, by Watanabe 2013, theorem 4)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from llc_core.fields import hyper
from llc_core.potentials.plane.regression import planar_landscape
from llc_core.studies.papers.claims import Claim, Measured, at_most
from llc_core.studies.papers.learning_coefficient.crossings import Entry, known, read_entries
from llc_core.studies.papers.study import Cost, Found, Place, Study, register, rising
from llc_core.theory.quadrature import posterior


@register
@dataclass(frozen=True)
class Bounds(Study):
    """At β = 1/log n the theorem has λ̂ = λ + U·√(λ/(2 log n)) + O_p(1/log n), with E U = 0 and, where the truth is a model or regular,
    E U² < 1: so the variance of λ̂ over data sets is below λ/(2 log n), and its mean is λ up to 1/log n.

    rows: losses ρ = w₁^k₁·w₂^k₂.  n: samples of the data sets, in rising order.  data_sets: of each.  localization: γ.
    """

    rows: tuple[Entry, ...] = hyper((), read=read_entries)
    n: tuple[float, ...] = hyper((100, 1000, 10_000), read=rising("numbers of samples", 2, low=10))
    data_sets: int = hyper(200, 10, 10_000)
    localization: float = hyper(1.0, 0.0, 1e6, open_low=True)
    seed: int = hyper(0, 0, 2**31)

    def cost(self) -> Cost:
        sets = len(self.rows) * self.data_sets
        words = f"{len(self.rows)} losses × {len(self.n)} n × {self.data_sets} data sets, by quadrature"
        return Cost(
            sum(sets * (0.004 + 4e-8 * n) for n in self.n), 200 + 48 * self.data_sets * max(self.n) / 2**20, words
        )

    def run(self, at: Place) -> Found:
        claims: list[Claim] = []
        numbers: dict[str, Any] = {}
        table = ["loss        n   λ   λ̂ (mean over data sets)   variance, its bound λ/(2 log n)   (λ − mean)·log n"]
        for row in self.rows:
            found = {n: self._values(row, int(n), at) for n in self.n}
            truth = self._truth(row)
            claims += self._judged(row.name, truth, found)
            numbers[row.name] = {"λ": truth, **{f"{n:g}": values.tolist() for n, values in found.items()}}
            for n, values in found.items():
                off = truth - Measured.of(values).value
                bound = truth / (2 * math.log(n))
                table.append(
                    f"{row.name:9} {n:8g}  {truth:.3f}  {Measured.of(values)}   {values.var(ddof=1):.4f}, {bound:.4f}   {off * math.log(n):.2f}"
                )
        return Found(claims, numbers, lambda: self._figure(numbers), table)

    def _truth(self, row: Entry) -> float:
        k, h = ([int(each) for each in pair] for pair in (row.k, row.h))
        return known(planar_landscape("normal_crossing", k=k, h=h).learning_coefficient)

    def _values(self, row: Entry, n: int, at: Place) -> np.ndarray:
        """λ̂ of each data set, exact, [data_sets]."""
        k, h = ([int(each) for each in pair] for pair in (row.k, row.h))

        def make() -> dict[str, Any]:
            problem = planar_landscape("normal_crossing", k=k, h=h, n=n, data_sets=self.data_sets, seed=self.seed)
            return {"llc": posterior(problem, localization=self.localization).llc.tolist()}

        asked = ["bound", k, h, n, self.data_sets, self.localization, self.seed]
        return np.array(at.part(asked, make, f"{row.name}, n = {n:,}")["llc"])

    def _judged(self, name: str, truth: float, found: Mapping[float, np.ndarray]) -> list[Claim]:
        shares = []
        for n, values in found.items():
            scale = 2 * math.log(n) / truth

            def share(some: np.ndarray, values: np.ndarray = values, scale: float = scale) -> float:
                return scale * float(values[some].var(ddof=1))

            shares.append(Measured.resampled(share, len(values), seed=self.seed))
        worst = max(shares, key=lambda each: each.value)
        (first, one), *_, (last, other) = found.items()

        def grows(some: np.ndarray) -> float:
            return (
                (truth - float(other[some].mean()))
                / (truth - float(one[some].mean()))
                * math.log(last)
                / math.log(first)
            )

        growth = Measured.resampled(grows, len(one), seed=self.seed)
        return [
            at_most(f"{name}: λ̂ varies less than the theorem allows (variance over λ/(2 log n), worst n)", worst, 1.0),
            at_most(
                f"{name}: what the mean is off by falls faster than 1/√log n (growth of (λ − mean)·log n from n = {first:g} to {last:g})",
                growth,
                math.sqrt(math.log(last) / math.log(first)),
            ),
        ]

    def _figure(self, numbers: Mapping[str, Any]) -> Any:
        """Standard deviation of λ̂ over data sets against n, and the bound dashed."""
        from llc_core.plots.kinds import curves
        from llc_core.plots.style import CHAINS

        spread = {
            name: (self.n, [float(np.std(found[f"{n:g}"], ddof=1)) for n in self.n]) for name, found in numbers.items()
        }
        bound = {
            f"bound, {name}": (self.n, [math.sqrt(found["λ"] / (2 * math.log(n))) for n in self.n])
            for name, found in numbers.items()
        }
        colors = list(CHAINS[: len(numbers)]) * 2
        dashes = ["solid"] * len(numbers) + ["dashed"] * len(numbers)
        axes: dict[str, Any] = {"xlabel": "samples n", "ylabel": "sd of λ̂ over data sets", "logx": True}
        return curves({**spread, **bound}, colors=colors, dashes=dashes, dots=True, legend_position="right", **axes)
