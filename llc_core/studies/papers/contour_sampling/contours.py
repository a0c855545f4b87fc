"""Ten short chains that learn one θ beside one chain of ten times the steps: whose θ varies less from run to run (Deng et al. 2022)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
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


def mixture(x: float) -> tuple[float, float]:
    """Energy and slope of 0.4·N(−6, 1) + 0.6·N(4, 1) on the line."""
    left, right = 0.4 * np.exp(-0.5 * (x + 6) ** 2), 0.6 * np.exp(-0.5 * (x - 4) ** 2)
    total = max(left + right, 1e-300)
    return -np.log(total / np.sqrt(2 * np.pi)), (left * (x + 6) + right * (x - 4)) / total


def two_sided(x: float) -> tuple[float, float]:
    """Energy |x| and its slope."""
    return abs(x), np.sign(x)


@lru_cache(maxsize=2)
def line_loop(target: Callable[[float], tuple[float, float]] = mixture) -> Callable[..., None]:
    """A compiled loop of chains on an energy over the line. Those of one row of `vectors` share θ; each has its own where there are as
    many rows as chains, and every so many steps all rows become their mean. Runs may go side by side in threads."""
    step, energy = compiled()(contour_step), compiled(fastmath=False)(target)

    @compiled(fastmath=False, nogil=True)
    def run(normals, x, start, size, ones, alive, q, vectors, every, order, heat, weight):  # type: ignore[no-untyped-def]
        losses, slope = np.empty(x.size), np.empty(x.size)
        still = q.copy()
        still[7] = 0.0  # θ stays: only the multiplier is asked for
        for t in range(normals.shape[0]):
            for i in range(x.size):
                losses[i], slope[i] = energy(x[i])
            if vectors.shape[0] == 1:
                step(start + t, losses, ones, alive, ones, q, vectors[0], order, heat, weight)
            else:
                meets = every > 0 and (start + t + 1) % every == 0
                for again in range(1 + meets):  # once more from the common θ, for the multiplier
                    if again:
                        for k in range(vectors.shape[1]):
                            vectors[:, k] = vectors[:, k].mean()
                    for i in range(x.size):
                        one, given = slice(i, i + 1), still if again else q
                        step(
                            start + t, losses[one], ones[one], alive[one], ones[one], given, vectors[i], order[one],
                            heat[one], weight[one],
                        )  # fmt: skip
            for i in range(x.size):
                x[i] += -size * heat[i] * slope[i] + np.sqrt(2 * size) * normals[t, i]

    found: Callable[..., None] = run
    return found


def learned(
    loop: Callable[..., None],
    own: Contour,
    chains: int,
    marks: Sequence[int],
    seed: int,
    size: float = STEP,
    every: int | None = None,
) -> np.ndarray:
    """θ [marks, copies, bins] after so many steps each from x = 0, in rising order, normalised.

    loop: of `line_loop`.  size: ε, full convention.  every: None: the chains share one θ; otherwise each has a copy of its own, and all
    copies become their mean after every so many steps, at 0 never.
    """  # fmt: skip
    rng = np.random.default_rng(seed)
    twin = own.twin(np.ones(chains), max(marks))
    assert twin is not None
    vectors = np.tile(twin.vector, (1 if every is None else chains, 1))
    x, ones, alive = np.zeros(chains), np.ones(chains), np.ones(chains, dtype=np.bool_)
    order, heat, weight = np.zeros(chains, np.int64), np.ones(chains), np.ones(chains)
    found, start = [], 0
    for mark in marks:
        while start < mark:
            block = rng.standard_normal((min(PIECE, mark - start), chains))
            loop(block, x, start, size, ones, alive, twin.q, vectors, every or 0, order, heat, weight)
            start += len(block)
        theta = vectors[:, : own.bins]
        found.append(theta / theta.sum(axis=1, keepdims=True))
    return np.array(found)


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
        def thetas(chains: int, steps: int, first: int) -> np.ndarray:
            """[seeds, bins shown]"""
            found = []
            for seed in range(first, first + self.seeds):

                def make(seed: int = seed) -> Mapping[str, Any]:
                    return {"theta": learned(line_loop(), LINE, chains, [steps], seed)[0, 0, SHOWN].tolist()}

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
