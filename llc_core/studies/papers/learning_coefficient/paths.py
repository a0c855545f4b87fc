"""Where chains go on a loss of two parameters, at several strengths γ of the pull towards w0 (Lau, Murfet & Wei, appendices), beside
places of NUTS, whose chains are long enough."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from llc_core.config import RunConfig
from llc_core.engine.run import Run
from llc_core.fields import hyper, numbers, plain
from llc_core.potentials.plane.regression import planar_from
from llc_core.references.nuts import nuts_draws
from llc_core.studies.papers.claims import Claim, Measured, alike, less
from llc_core.studies.papers.learning_coefficient.crossings import CHAIN_STEPS, SLACK, TRAJECTORY
from llc_core.studies.papers.study import Cost, Found, Place, Study, on_cores, register
from llc_core.theory.quadrature import posterior

DRAWN, LOOKS = 3, 400
"""Chains whose paths are drawn, and places of each."""


@register
@dataclass(frozen=True)
class Trails(Study):
    """landscape: as of `planar_landscape`.  localizations: γ, in rising order.  repeats: data sets, one chain each.
    burn_in: share of the steps that does not count for λ̂.  long_steps: of NUTS, one chain for each data set; 0: without it.
    """

    landscape: Mapping[str, Any] = hyper(dict, read=lambda label, value: checked(value))
    localizations: tuple[float, ...] = hyper((1.0,), read=numbers("a list of γ in rising order"))
    step_size: float = hyper(1e-4, 0.0, 1.0, open_low=True)
    steps: int = hyper(10_000, 100, 10_000_000)
    burn_in: float = hyper(0.5, 0.0, 1.0, open_high=True)
    repeats: int = hyper(50, 2, 10_000)
    long_steps: int = hyper(0, 0, 1_000_000)
    seed: int = hyper(0, 0, 2**31)

    def cost(self) -> Cost:
        each = self.steps * max(self.repeats / CHAIN_STEPS, 2.5e-4) + 5 + 1.5 * self.long_steps * TRAJECTORY
        processor = len(self.localizations) * each
        words = f"{self.repeats} chains of {self.steps:,} steps at {len(self.localizations)} γ"
        if self.long_steps:
            words += f", and of {self.long_steps:,} steps of NUTS"
        return Cost(on_cores(processor, 1), 400, words)

    def run(self, at: Place) -> Found:
        rows = {f"γ = {gamma:g}": self._row(gamma, at) for gamma in self.localizations}
        claims: list[Claim] = []
        for name, row in rows.items():
            ours = Measured.of([np.nan if each is None else each for each in row["llc"]])
            text = f"{name}: SGLD's λ̂ is the exact posterior mean"
            claims.append(alike(text, ours, ("quadrature", Measured(row["exact"])), SLACK))
            if self.long_steps:
                long = self._long(float(name.partition("= ")[2]), at)
                rows[name] = row = {**row, "NUTS": long}
                off = Measured.of(np.array(long["llc"]) - np.array(long["exact"]))
                claims.append(
                    alike(
                        f"{name}: λ̂ of NUTS is the exact one of each data set (difference)",
                        off,
                        ("0,", Measured(0.0)),
                        SLACK,
                    )
                )
                short, far_out = (Measured.of(np.array(each["distance"], float)) for each in (row, long))
                claims.append(
                    alike(
                        f"{name}: SGLD goes as far along the valleys as NUTS (root mean square of w − w0)",
                        short,
                        ("NUTS", far_out),
                        SLACK,
                    )
                )
        for (loose, one), (tight, other) in pairwise(rows.items()):
            far, close = Measured.of(one["distance"]), Measured.of(other["distance"])
            claims.append(
                less(
                    f"chains stay nearer to w0 at {tight} than at {loose} (root mean square)",
                    (tight, close),
                    (loose, far),
                )
            )
        numbers = {
            name: {key: value for key, value in row.items() if key not in ("trails", "NUTS")}
            for name, row in rows.items()
        }
        numbers |= {f"{name}, NUTS": {**row["NUTS"], "places": []} for name, row in rows.items() if "NUTS" in row}
        return Found(claims, numbers, lambda: self._figure(rows))

    def _row(self, gamma: float, at: Place) -> Mapping[str, Any]:
        """llc, distance [repeats], trails [looks, DRAWN, 2] of w, exact."""
        described = {**self.landscape, "data_sets": self.repeats, "seed": self.seed}
        asked = ["trails", described, gamma, self.step_size, self.steps, self.burn_in]

        def make() -> dict[str, Any]:
            problem = planar_from(described)
            config = RunConfig(
                sampler={"name": "SGLD", "step_size": self.step_size}, chains=self.repeats, steps=self.steps, burn_in=self.burn_in,
                localization=gamma, seed=self.seed, dtype="float64",
            )  # fmt: skip
            run, looks = Run(config, problem), []
            while not run.finished:
                run.advance(max(1, self.steps // LOOKS))
                looks.append(run.displacements.copy())
            seen = np.array(looks)
            # far out means nothing for a chain that is no longer finite
            distance = np.sqrt(np.square(seen[len(seen) // 2 :]).sum(axis=2).mean(axis=0))
            llc = run.estimates()[0].per_chain
            return {
                "llc": [float(each) if np.isfinite(each) else None for each in llc],
                "distance": [float(each) if np.isfinite(each) else None for each in distance],
                "trails": (seen[:, :DRAWN] + np.array(problem.model.w0)).round(4).tolist(),
                "exact": float(posterior(problem, localization=gamma).llc.mean()),
            }

        return at.part(asked, make, f"γ = {gamma:g}")

    def _long(self, gamma: float, at: Place) -> Mapping[str, Any]:
        """llc, exact, distance [repeats] and places [LOOKS, 2] of the first chains together."""
        described = {**self.landscape, "data_sets": self.repeats, "seed": self.seed}

        def make() -> dict[str, Any]:
            problem = planar_from(described)
            draws = nuts_draws(
                problem, chains=self.repeats, steps=self.long_steps, warmup=max(100, self.long_steps // 2), localization=gamma, seed=self.seed,
            )  # fmt: skip
            some = draws.places[:, :DRAWN].reshape(-1, problem.dim)
            return {
                "llc": (problem.n_beta * draws.losses.mean(axis=0)).tolist(),
                "exact": posterior(problem, localization=gamma).llc.tolist(),
                "distance": np.sqrt(np.square(draws.places).sum(axis=2).mean(axis=0)).tolist(),
                "places": (some[:: max(1, len(some) // LOOKS)] + np.array(problem.model.w0)).round(4).tolist(),
            }

        return at.part(["long trails", described, gamma, self.long_steps], make, f"γ = {gamma:g}, NUTS")

    def _figure(self, rows: Mapping[str, Mapping[str, Any]]) -> Any:
        from llc_core.plots.style import CHAINS, beside_each_other, finished, holoviews

        hv, drawn = holoviews(), []
        for name, row in rows.items():
            paths = np.moveaxis(np.array(row["trails"]), 1, 0)
            curves = [hv.Path([path]).opts(color=color, alpha=0.7) for path, color in zip(paths, CHAINS, strict=False)]
            drawn.append(finished(hv.Overlay(curves), title=name, xlabel="w₁", ylabel="w₂", height=360))
            if "NUTS" in row:
                dots = hv.Scatter(np.array(row["NUTS"]["places"]), "w₁", "w₂").opts(color=CHAINS[0], size=4, alpha=0.7)
                drawn.append(finished(hv.Overlay([dots]), title=f"{name}, NUTS", xlabel="w₁", ylabel="w₂", height=360))
        return beside_each_other(*drawn, columns=3)


def checked(value: Any) -> dict[str, Any]:
    """The description of a planar landscape, as JSON has it."""
    described: dict[str, Any] = plain(value) if isinstance(value, Mapping) else value
    planar_from(described)
    return described
