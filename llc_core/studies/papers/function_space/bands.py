"""Functions of wide networks under Langevin dynamics: bands of MALA's chains beside the exact ones of each width, and how far the
chains' law is from the posterior, iteration by iteration (paper 004, sections 3.1 and its appendix). Long, since both studies run the
same networks beside the same exact answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from llc_core.config import RunConfig
from llc_core.diagnostics.convergence import kernel_stein_discrepancy
from llc_core.engine.run import Run
from llc_core.fields import hyper, numbers
from llc_core.potentials.bayesian.network import BayesianNetwork
from llc_core.references.functions.finite_width import finite_width
from llc_core.references.functions.nngp import nngp_posterior
from llc_core.studies.papers.claims import Claim, Measured, alike, at_least, at_most, less, ours
from llc_core.studies.papers.study import Cost, Found, Place, Study, on_cores, register

LEVEL = 0.8
"""Share of the chains in a band: from the 10% to the 90% quantile."""
STEP = 0.025
"""The printed step of MALA is STEP/(n·H), in the full convention."""
FACTOR = 1.5
"""Between the widths of bands that count as alike."""
GROUPS = 8
"""Groups of chains whose spread is the error of what all chains give together."""
OPERATIONS_A_SECOND = 1.5e9
"""Of multiplications in the small products of these networks, on one core."""


def whole_numbers(label: str, value: Any) -> tuple[int, ...]:
    return tuple(int(each) for each in numbers("a list of whole numbers")(label, value))


@register
@dataclass(frozen=True)
class Bands(Study):
    """Bands over the chains at the last iteration, a panel for each width.

    n: data points.  layers: hidden ones.  widths: H, in rising order.  noise_variance: of the likelihood.  share: of the printed
    step.  moves: of the chains of hidden layers behind the exact band, 64 of them.
    """

    n: int = hyper(7, 2, 1000)
    layers: int = hyper(2, 1, 10)
    widths: tuple[int, ...] = hyper((20, 80), read=whole_numbers)
    inputs: int = hyper(23, 2, 1000)
    noise_variance: float = hyper(0.05, 0.0, 10.0, open_low=True)
    share: float = hyper(0.5, 0.0, 10.0, open_low=True)
    chains: int = hyper(96, GROUPS * 2, 100_000)
    iterations: int = hyper(3_000, 1, 10_000_000)
    moves: int = hyper(3_000, 100, 1_000_000)
    seed: int = hyper(1, 0, 2**31)

    def cost(self) -> Cost:
        each = [width**2 * (self.layers - 1) + 2 * width for width in self.widths]
        chains = 6 * self.chains * self.iterations * self.n * sum(each)
        exact = 6 * 64 * self.moves * (self.n + self.inputs) * sum(each)
        words = f"{self.chains} chains of {self.iterations:,} iterations, H = {', '.join(map(str, self.widths))}"
        return Cost(on_cores((chains + exact) / OPERATIONS_A_SECOND, 2), 600, words)

    def network(self, width: int) -> BayesianNetwork:
        shape = (1, *[width] * self.layers, 1)
        return BayesianNetwork(shape, {"name": "wave", "n": self.n}, noise_variance=self.noise_variance)

    def run(self, at: Place) -> Found:
        x = np.linspace(-3.0, 2.5, self.inputs)
        rows = {width: self._row(width, x, at) for width in self.widths}
        claims: list[Claim] = []
        inside = (x >= -2.5) & (x <= 2.0)
        for width, row in rows.items():
            draws, sd = np.array(row["functions"]), np.array(row["sd"])
            parts = np.array_split(draws, GROUPS)
            off = Measured.of(
                [np.abs(part.mean(axis=0) - row["mean"])[inside].mean() / sd[inside].mean() for part in parts]
            )
            # each group's mean has an error of its own even where the chains draw from the posterior
            floor = float((2 / np.pi * GROUPS / self.chains) ** 0.5)
            spread = Measured.of([part.std(axis=0, ddof=1)[inside].mean() / sd[inside].mean() for part in parts])
            exact, one = f"H = {width}: the chains' {{}} is that of the exact posterior", ("equal", Measured(1.0))
            claims += ours(
                [
                    at_most(f"{exact.format('mean')} (in its sd)", off, floor + 0.15),
                    alike(f"{exact.format('sd')} (ratio)", spread, one, 0.1),
                ]
            )
        for (narrow, first), (wide, second) in pairwise(rows.items()):
            claims += alike_bands(
                (f"H = {narrow}", f"H = {wide}"), *(np.array(each["functions"])[:, inside] for each in (first, second))
            )
        numbers = {
            f"H = {width}": {key: row[key] for key in ("acceptance", "r_hat", "ess")} for width, row in rows.items()
        }
        return Found(claims, numbers, lambda: self._figure(x, rows))

    def _row(self, width: int, x: np.ndarray, at: Place) -> Mapping[str, Any]:
        """functions [chains, P] at the last iteration; mean, sd, low, high [P] of the exact posterior."""
        problem = self.network(width)
        own = ["n", "layers", "noise_variance", "share", "chains", "iterations", "inputs", "seed"]
        asked = ["bands", width, {name: getattr(self, name) for name in own}]

        def make() -> dict[str, Any]:
            step = 2 * STEP * self.share / (self.n * width)  # MALA here is in the half convention
            config = RunConfig(
                sampler={"name": "MALA", "step_size": step}, chains=self.chains, steps=self.iterations, burn_in=0.5, seed=self.seed
            )  # fmt: skip
            run = Run(config, problem)
            run.advance(self.iterations)
            functions = problem.predict(torch.from_numpy(run.displacements), x)
            return {"functions": functions.numpy().round(5).tolist(), "acceptance": float(run.state["accepted"].mean())}

        drawn = at.part(asked, make, f"H = {width}, MALA")

        def exactly() -> dict[str, Any]:
            found = finite_width(problem, x, method="chains", moves=self.moves, seed=self.seed)
            edges = {"low": found.quantile((1 - LEVEL) / 2), "high": found.quantile((1 + LEVEL) / 2)}
            told = {"mean": found.mean, "sd": found.sd, **edges}
            return {
                **{name: value.round(5).tolist() for name, value in told.items()}, "r_hat": found.r_hat, "ess": found.ess,
                "se": found.ess**-0.5,
            }  # fmt: skip

        described = {name: getattr(self, name) for name in ("n", "layers", "noise_variance", "inputs", "moves", "seed")}
        exact = at.part(["exact bands", width, described], exactly, f"H = {width}, exact")
        return {**drawn, **exact}

    def _figure(self, x: np.ndarray, rows: Mapping[int, Mapping[str, Any]]) -> Any:
        from llc_core.plots.kinds import curves
        from llc_core.plots.style import beside_each_other, holoviews

        hv, drawn, ends = holoviews(), [], ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
        wide = nngp_posterior(self.network(self.widths[-1]), x)
        for width, row in rows.items():
            data, values = self.network(width).data, np.array(row["functions"])
            named = {
                f"MALA, {LEVEL:.0%} of {self.chains} chains": (
                    x,
                    values.mean(axis=0),
                    np.quantile(values, ends, axis=0),
                ),
                "exact at this width": (x, np.array(row["mean"]), np.array([row["low"], row["high"]])),
                "infinitely wide": (x, wide.mean, np.stack([wide.quantile(end) for end in ends])),
            }
            points = hv.Scatter((np.ravel(data.x), np.ravel(data.y)), label="data").opts(size=7, color="black")
            plot = curves(
                named, title=f"H = {width}", xlabel="x", ylabel="f(x)", height=340, legend_position="bottom_right"
            )
            drawn.append(plot * points)
        return beside_each_other(*drawn)


def alike_bands(names: tuple[str, str], one: np.ndarray, other: np.ndarray) -> list[Claim]:
    """Whether two bands over chains overlap at every input, and are as wide in the mean up to FACTOR; they need not be equal.

    one, other: functions of both widths, [chains, P] each.
    """

    def edges(some: np.ndarray) -> np.ndarray:
        """[2 widths, 2 ends, P]"""
        return np.array([np.quantile(each[some], ((1 - LEVEL) / 2, (1 + LEVEL) / 2), axis=0) for each in (one, other)])

    def shared(some: np.ndarray) -> float:
        (low, high), wide = edges(some).swapaxes(0, 1), np.diff(edges(some), axis=1)[:, 0]
        return float(((high.min(axis=0) - low.max(axis=0)) / wide.min(axis=0)).min())

    def factor(some: np.ndarray) -> float:
        wide = np.diff(edges(some), axis=1).mean(axis=(1, 2))
        return float(wide.max() / wide.min())

    both = f"the bands of {names[0]} and {names[1]}"
    return [
        at_least(
            f"{both} overlap at every input (least part of the narrower one)", Measured.resampled(shared, len(one)), 0.0
        ),
        at_most(f"{both} are as wide (factor between the mean widths)", Measured.resampled(factor, len(one)), FACTOR),
    ]


@register
@dataclass(frozen=True)
class SteinCourse(Study):
    """√KSD between the functions of all chains and the exact posterior, by iterations.

    n: data points; functions are seen at them and at one input more.  looks: iterations, in rising order.  draws: of the prior, behind
    the exact mixture.  close: √KSD up to which the chains' law counts as that of exact draws, in units of theirs.
    """

    n: int = hyper(3, 2, 100)
    layers: int = hyper(2, 1, 10)
    widths: tuple[int, ...] = hyper((20, 80), read=whole_numbers)
    noise_variance: float = hyper(0.05, 0.0, 10.0, open_low=True)
    share: float = hyper(0.5, 0.0, 10.0, open_low=True)
    chains: int = hyper(500, 20, 5_000)
    looks: tuple[int, ...] = hyper((1, 3, 10, 30, 100, 300), read=whole_numbers)
    draws: int = hyper(12_000, 1_000, 10_000_000)
    close: float = hyper(1.3, 1.0, 100.0)
    seed: int = hyper(3, 0, 2**31)

    def cost(self) -> Cost:
        each = [width**2 * (self.layers - 1) + 2 * width for width in self.widths]
        chains = 6 * self.chains * self.looks[-1] * self.n * sum(each)
        words = f"{self.chains} chains of {self.looks[-1]:,} iterations, H = {', '.join(map(str, self.widths))}"
        return Cost(on_cores((chains + 6 * self.draws * sum(each)) / OPERATIONS_A_SECOND + 20, 2), 1500, words)

    def run(self, at: Place) -> Found:
        rows = {width: self._row(width, at) for width in self.widths}
        claims: list[Claim] = []
        for width, row in rows.items():
            first, last = Measured(row["root"][0], row["error"]), Measured(row["root"][-1], row["error"])
            claims.append(
                less(
                    f"H = {width}: the chains' law comes nearer to the posterior (√KSD)",
                    ("at the end", last),
                    ("at first", first),
                )
            )
            text = f"H = {width}: at the end the law is that of exact draws (√KSD)"
            claims.append(at_most(text, last, self.close * row["exact"]))
        return Found(claims, {f"H = {width}": row for width, row in rows.items()}, lambda: self._figure(rows))

    def _row(self, width: int, at: Place) -> Mapping[str, Any]:
        own = {name: value for name, value in self.to_dict().items() if name not in ("widths", "name", "close")}

        def make() -> dict[str, Any]:
            shape = (1, *[width] * self.layers, 1)
            problem = BayesianNetwork(shape, {"name": "wave", "n": self.n}, noise_variance=self.noise_variance)
            places = np.append(problem.data.x[:, 0], 0.25)
            exact = finite_width(problem, places, self.draws, method="importance")

            def root(f: np.ndarray) -> float:
                return float(kernel_stein_discrepancy(f, exact.score(f), exact.covariance).root)

            step = 2 * STEP * self.share / (self.n * width)
            config = RunConfig(
                sampler={"name": "MALA", "step_size": step}, chains=self.chains, steps=self.looks[-1], burn_in=0.5, seed=self.seed
            )  # fmt: skip
            run, found = Run(config, problem), []
            for look in self.looks:
                run.advance(look - run.steps_done)
                found.append(root(problem.predict(torch.from_numpy(run.displacements), places).numpy()))
            drawn = [root(exact.sample(self.chains, seed=seed)) for seed in range(GROUPS)]
            return {"root": found, "exact": float(np.mean(drawn)), "error": float(np.std(drawn, ddof=1))}

        return at.part(["stein", width, own], make, f"H = {width}")

    def _figure(self, rows: Mapping[int, Mapping[str, Any]]) -> Any:
        from llc_core.plots.kinds import curves
        from llc_core.plots.style import QUIET, line_at

        named = {f"H = {width}": (self.looks, row["root"]) for width, row in rows.items()}
        floor = line_at(float(np.mean([row["exact"] for row in rows.values()])), QUIET, "dashed")
        return curves(
            named, ground=floor, dots=True, logx=True, logy=True, xlabel="iterations", ylabel="√KSD (dashed: exact draws)", height=380,
            legend_position="top_right",
        )  # fmt: skip
