"""Ten short chains that learn one θ beside one chain of ten times the steps: whose θ varies less from run to run (Deng et al. 2022)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from llc_core.compute.compiling import compiled
from llc_core.fields import hyper
from llc_core.interactions.contour import Contour
from llc_core.interactions.contour_loop import contour_step
from llc_core.studies.papers.claims import Claim, Measured, at_least, less, near
from llc_core.studies.papers.study import Cost, Found, Place, Study, register

LINE = Contour(
    low=0.15, high=100.15, bins=100, zeta=0.9, difference="forward", rate=0.1, rate_power=0.6, rate_offset=100.0
)
"""The paper's settings; ω_k = 1/(k^0.6 + 100) is below its bound from the first step on."""
STEP = 0.1
STEPS_A_SECOND = 8e6
"""Of one chain, on one core."""
SHOWN = slice(1, 11)
"""Bins in which nearly all of the mass lies; the first one is empty."""
PIECE = 10_000


def line_loop() -> Callable[..., None]:
    """A compiled loop of chains on 0.4·N(−6, 1) + 0.6·N(4, 1) over the line that share θ."""
    step = compiled()(contour_step)

    @compiled(fastmath=False)
    def run(normals, x, start, size, ones, alive, q, vector, order, heat, weight):  # type: ignore[no-untyped-def]
        losses, slope = np.empty(x.size), np.empty(x.size)
        for t in range(normals.shape[0]):
            for i in range(x.size):
                left, right = 0.4 * np.exp(-0.5 * (x[i] + 6) ** 2), 0.6 * np.exp(-0.5 * (x[i] - 4) ** 2)
                total = max(left + right, 1e-300)
                losses[i] = -np.log(total / np.sqrt(2 * np.pi))
                slope[i] = (left * (x[i] + 6) + right * (x[i] - 4)) / total
            step(start + t, losses, ones, alive, ones, q, vector, order, heat, weight)
            for i in range(x.size):
                x[i] += -size * heat[i] * slope[i] + np.sqrt(2 * size) * normals[t, i]

    found: Callable[..., None] = run
    return found


def learned(loop: Callable[..., None], own: Contour, chains: int, steps: int, seed: int) -> np.ndarray:
    """θ [bins] after `steps` steps of size 0.1 from x = 0, normalised.  loop: of `line_loop`."""
    rng = np.random.default_rng(seed)
    twin = own.twin(np.ones(chains), steps)
    assert twin is not None
    q, vector = twin.q, twin.vector.copy()
    x, ones, alive = np.zeros(chains), np.ones(chains), np.ones(chains, dtype=np.bool_)
    order, heat, weight = np.zeros(chains, np.int64), np.ones(chains), np.ones(chains)
    for start in range(0, steps, PIECE):
        block = rng.standard_normal((min(PIECE, steps - start), chains))
        loop(block, x, start, STEP, ones, alive, q, vector, order, heat, weight)
    theta = vector[: own.bins]
    return theta / theta.sum()


@register
@dataclass(frozen=True)
class ManyOrOne(Study):
    """chains, steps: of the short chains; the long one has chains · steps steps.  seeds: runs of each kind.
    most: the ratio of variances that theory gives for many steps, chains^(1 − 0.6).
    """

    chains: int = hyper(10, 2, 1000)
    steps: int = hyper(100_000, 100, 1_000_000_000)
    seeds: int = hyper(30, 3, 10_000)

    @property
    def theory(self) -> float:
        """Variance of one over that of many, for many steps: P^(1 − power of the rate)."""
        return float(self.chains ** (1 - LINE.rate_power))

    def cost(self) -> Cost:
        seconds = 2 * self.seeds * self.chains * self.steps / STEPS_A_SECOND + 20
        words = f"{self.seeds} runs of {self.chains} chains × {self.steps:,} steps, and as many of one × {self.chains * self.steps:,}"
        return Cost(seconds, 300, words)

    def run(self, at: Place) -> Found:
        loop: list[Callable[..., None]] = []

        def thetas(chains: int, steps: int, first: int) -> np.ndarray:
            """[seeds, bins shown]"""
            found = []
            for seed in range(first, first + self.seeds):

                def make(seed: int = seed) -> Mapping[str, Any]:
                    if not loop:
                        loop.append(line_loop())
                    return {"theta": learned(loop[0], LINE, chains, steps, seed)[SHOWN].tolist()}

                asked = ["contour", LINE.to_dict(), chains, steps, seed]
                words = f"{chains} chain(s) of {steps:,} steps, run {seed - first + 1} of {self.seeds}"
                found.append(at.part(asked, make, words)["theta"])
            return np.array(found)

        many, one = thetas(self.chains, self.steps, 0), thetas(1, self.chains * self.steps, 1000)

        def spread(values: np.ndarray) -> Measured:
            return Measured.resampled(lambda some: float(values[some].var(axis=0, ddof=1).sum()), self.seeds)

        def ratio(some: np.ndarray) -> float:
            return float(one[some].var(axis=0, ddof=1).sum() / many[some].var(axis=0, ddof=1).sum())

        of_many, of_one, times = spread(many), spread(one), Measured.resampled(ratio, self.seeds)
        claims: list[Claim] = [
            less(f"{self.chains} short chains learn θ with less variance than a long one", (f"{self.chains} chains", of_many), ("one", of_one)),
            at_least("the ratio of the variances exceeds 1", times, 1.0),
            near("the ratio is what theory gives for many steps", times, self.theory, self.theory / 2, "theory"),
        ]  # fmt: skip
        numbers = {"many": of_many.value, "one": of_one.value, "ratio": times.value, "se of it": times.se}
        return Found(claims, numbers, lambda: self._figure(many, one))

    def _figure(self, many: np.ndarray, one: np.ndarray) -> Any:
        from llc_core.plots.kinds import curves

        energy = LINE.edges[1:][SHOWN]
        named = {
            name: (energy, values.mean(axis=0), np.stack([values.mean(axis=0) + sign * values.std(axis=0, ddof=1) for sign in (-1, 1)]))
            for name, values in ((f"{self.chains} chains", many), (f"one chain, {self.chains} × the steps", one))
        }  # fmt: skip
        return curves(named, dots=True, xlabel="energy", ylabel="θ, mean ± sd over runs", legend_position="top_right")
