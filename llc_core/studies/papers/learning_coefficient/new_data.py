"""The four errors, WAIC and WBIC of deep linear networks beside theory, with losses on new data (paper 001, appendix A)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from llc_core.diagnostics.convergence import R_HAT_LIMIT
from llc_core.fields import hyper
from llc_core.potentials.deep_linear.network import DeepLinearNetwork
from llc_core.studies.data_errors import SWEEPS, bytes_needed, data_errors
from llc_core.studies.information import generalisation
from llc_core.studies.papers.claims import Claim, Measured, alike
from llc_core.studies.papers.study import Cost, Found, Place, Study, register, rising

NETWORKS: dict[str, tuple[list[int], list[int]]] = {
    "one layer": ([4, 4], [4]),
    "two layers": ([4, 3, 4], [3, 3]),
    "two layers of rank 1": ([4, 3, 4], [1, 1]),
}
"""Widths and ranks of layers. One layer is a regular model, whose λ is half the number of its weights."""
ERRORS = {
    "bayes_generalisation": "new data, averaged prediction",
    "gibbs_generalisation": "new data, one drawn network",
    "bayes_training": "training data, averaged prediction",
    "gibbs_training": "training data, one drawn network",
    "waic": "WAIC",
}
CLAIMED = {"bayes_generalisation": 0.0, "gibbs_generalisation": 1.0, "gibbs_training": -1.0, "waic": 0.0}
"""What of the same data set's ν̂ is in an error beside λ. WAIC is the Bayes training error and 2ν̂, so that one claim is of both."""
SLACK = 0.05
"""Of λ: what the terms of higher order in 1/n may add at the largest n."""
APART = 10**5
"""Between the seeds of the data sets of two networks."""
SECONDS = 0.1
"""Of one core for a data set of any size, most of them for its 20,000 new rows."""


@register
@dataclass(frozen=True)
class NewData(Study):
    """n: rows of the data sets, in rising order.  data_sets: of each n and network; the posterior of each is drawn exactly, layer by
    layer.  Claims are of the largest n, and WBIC's of its growth from the smallest to the largest."""

    n: tuple[int, ...] = hyper((200, 2000), read=rising("numbers of rows", 2, low=3))
    data_sets: int = hyper(24, 8, 10_000)
    sweeps: int = hyper(SWEEPS, 40, 100_000)
    seed: int = hyper(0, 0, 2**31)

    def cost(self) -> Cost:
        sets = len(NETWORKS) * len(self.n) * self.data_sets
        memory = max(bytes_needed(widths, int(max(self.n))) for widths, _ in NETWORKS.values())
        words = f"{len(NETWORKS)} networks × {len(self.n)} numbers of rows × {self.data_sets} data sets, each with its posterior"
        return Cost(SECONDS * sets * self.sweeps / SWEEPS, 300 + memory / 2**20, words)

    def run(self, at: Place) -> Found:
        claims: list[Claim] = []
        numbers: dict[str, Any] = {}
        table = []
        for name, (widths, ranks) in NETWORKS.items():
            network = DeepLinearNetwork.random(widths=widths, layer_ranks=ranks, n=10, seed=self.seed)
            coefficient = float(network.learning_coefficient)
            seen = {int(n): self._measured(name, network, int(n), at) for n in self.n}
            numbers[name] = {
                "learning_coefficient": coefficient,
                **{
                    str(n): {key: Measured.of(values).numbers for key, values in each.items()}
                    for n, each in seen.items()
                },
            }
            claims += self._claims(name, coefficient, seen)
            each = seen[max(seen)]
            left_out = sum(int((~np.isfinite(found["waic"])).sum()) for found in seen.values())
            table.append(
                f"{name}, n = {max(seen)}, λ = {coefficient:g}, ν̂ {Measured.of(each['fluctuation'])}: "
                + ", ".join(f"{words} {Measured.of(each[key])}" for key, words in ERRORS.items())
                + (
                    f"; left out: {left_out} data sets, of all sizes, whose R-hat is {R_HAT_LIMIT} or more"
                    if left_out
                    else ""
                )
            )
        return Found(claims, numbers, lambda: self._figure(numbers), table)

    def _claims(self, name: str, coefficient: float, seen: Mapping[int, Mapping[str, np.ndarray]]) -> list[Claim]:
        small, large = seen[min(seen)], seen[max(seen)]
        known, slack = ("λ", Measured(coefficient)), SLACK * coefficient
        claims = [
            alike(
                f"{name}: n times the error, {ERRORS[key]}{'' if not share else ' less ν̂' if share > 0 else ' and ν̂'}",
                Measured.of(large[key] - share * large["fluctuation"]), known, slack,
            )
            for key, share in CLAIMED.items()
        ]  # fmt: skip
        # What the draw of the data does to WAIC it does to the error on new data with the other sign.
        half = Measured.of((large["waic"] + large["bayes_generalisation"]) / 2)
        # The rows of a smaller data set are the first ones of the larger.
        growth = Measured.of(large["wbic"] - small["wbic"])
        rise = Measured(coefficient * math.log(max(seen) / min(seen)))
        return [
            *claims,
            alike(f"{name}: half of WAIC and the error on new data", half, known, slack),
            alike(f"{name}: WBIC grows as λ log n", growth, ("λ log n", rise), 2 * slack),
        ]

    def _measured(self, name: str, network: DeepLinearNetwork, n: int, at: Place) -> dict[str, np.ndarray]:
        """By name, [data sets]; nan where the chains of a data set do not agree."""
        rows = []
        # Networks have data sets of their own: what chance does to one it would do to all.
        first = self.seed + APART * list(NETWORKS).index(name)
        for seed in range(first, first + self.data_sets):

            def make(seed: int = seed) -> dict[str, float]:
                found = data_errors(network, n, seed, sweeps=self.sweeps)
                return {
                    **vars(found.errors), "waic": found.waic, "wbic": found.wbic, "fluctuation": found.fluctuation, "r_hat": found.r_hat,
                }  # fmt: skip

            asked = ["new data", NETWORKS[name], self.seed, n, seed, self.sweeps]
            row = at.part(asked, make, f"{name}, n = {n}: data set {seed - first + 1} of {self.data_sets}")
            rows.append({**row, **({} if row["r_hat"] < R_HAT_LIMIT else dict.fromkeys(row, math.nan))})
        return {key: np.array([row[key] for row in rows]) for key in rows[0]}

    def _figure(self, numbers: Mapping[str, Any]) -> Any:
        """n times each error against n, bars of two standard errors, and theory dashed."""
        from llc_core.plots.kinds import curves
        from llc_core.plots.style import CHAINS, beside_each_other

        drawn = []
        for name, found in numbers.items():
            lines: dict[str, Any] = {}
            known = {key: [Measured(**found[str(int(n))][key]) for n in self.n] for key in (*ERRORS, "fluctuation")}
            expected = [theory(found["learning_coefficient"], nu) for nu in known["fluctuation"]]
            for key, words in ERRORS.items():
                lines[words] = (self.n, [each.value for each in known[key]], [each.se for each in known[key]])
            for key, words in ERRORS.items():
                if key != "waic":
                    lines[f"theory, {words}"] = (self.n, [each[key].value for each in expected])
            colors = [*CHAINS[: len(ERRORS)], *CHAINS[: len(ERRORS) - 1]]
            dashes = ["solid"] * len(ERRORS) + ["dashed"] * (len(ERRORS) - 1)
            axes: dict[str, Any] = {
                "xlabel": "samples n",
                "ylabel": "n × error, nats",
                "logx": True,
                "legend_position": "right",
            }
            drawn.append(curves(lines, colors=colors, dashes=dashes, dots=True, title=name, **axes))
        return beside_each_other(*drawn)


def theory(coefficient: float, fluctuation: Measured) -> dict[str, Measured]:
    """n times each of `ERRORS` to first order, with the error that it has from that of ν̂."""
    names = vars(generalisation(coefficient, fluctuation.value, 1))
    moved = vars(generalisation(coefficient, fluctuation.value + fluctuation.se, 1))
    found = {key: Measured(value, abs(moved[key] - value)) for key, value in names.items()}
    return {**found, "waic": Measured(coefficient)}
