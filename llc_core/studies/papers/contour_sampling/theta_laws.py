"""How θ of contour sampling spreads over many runs, beside the normal distribution that theory has, and where chains keep copies of it
(Deng et al. 2022: theorem 1, appendix B)."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from llc_core.compute.cores import available_cores
from llc_core.fields import hyper
from llc_core.interactions.contour import Contour
from llc_core.references.learned_theta import ThetaLaw, theta_law
from llc_core.studies.papers.claims import Claim, Measured, near
from llc_core.studies.papers.contour_sampling.contours import learned, line_loop, two_sided
from llc_core.studies.papers.study import Cost, Found, Place, Study, on_cores, register, rising

OWN = Contour(low=0.0, high=3.0, bins=5, zeta=0.75, rate=0.5, rate_power=0.6, rate_offset=100.0)
"""On the energy |x|, whose chains forget in some twenty steps. ω_k = 1/(k^0.6 + 100), as in the paper's figure 7."""
STEP = 0.05
STEPS_A_SECOND = 8e6
"""Of one chain, on one core."""
SHARES = 0.15
"""By how much of itself a variance may miss what theory has for ω → 0."""
FREE = 0.25
"""Copies that meet every K steps are like one θ while K·ω is below this; above it nothing is claimed."""
INDEX_BYTES = 4


def printed_fixed() -> np.ndarray:
    """θ* by eq. 9 of the paper [m]: ∝ θ_∞^{1/ζ}, θ_∞ the masses of the bins of |x|. That of a chain has it for fine bins only."""
    inner = np.exp(-OWN.edges[:-1])
    theta = (inner - np.append(inner[1:], 0.0)) ** (1 / OWN.zeta)
    return theta / theta.sum()


def rate(step: int, own: Contour = OWN) -> float:
    """ω at the k-th step, from 1."""
    return float(min(own.rate, 1 / (step**own.rate_power + own.rate_offset)))


@dataclass(frozen=True)
class Spread:
    """theta [runs, bins] at one step k, and what theory has of it at that step."""

    theta: np.ndarray
    step: int
    law: ThetaLaw
    chains: int
    own: Contour = OWN

    @property
    def rate(self) -> float:
        """ω_k"""
        return rate(self.step, self.own)

    @property
    def wanted(self) -> np.ndarray:
        """Cov θ_k [m, m] by theory."""
        return self.rate * self.law.covariance(1 / rate(self.step + 1, self.own) - 1 / self.rate, self.chains)

    def total(self) -> Measured:
        """Summed variances of the bins over theory's."""
        whole = float(np.trace(self.wanted))
        return Measured.resampled(
            lambda some: float(self.theta[some].var(axis=0, ddof=1).sum()) / whole, len(self.theta)
        )

    def error(self, unit: float = 1.0) -> Measured:
        """E‖θ − θ*‖² over a unit, such as ω_k."""
        return Measured.of(((self.theta - self.law.fixed) ** 2).sum(axis=1) / unit)

    def off(self) -> Measured:
        """Largest distance of a bin's mean from θ*, in standard deviations of the bin."""
        distances = np.abs(self.theta.mean(axis=0) - self.law.fixed) / self.theta.std(axis=0, ddof=1)
        return Measured(float(distances.max()), 1 / len(self.theta) ** 0.5)

    def scores(self) -> np.ndarray:
        """(θ − its mean) along the eigenvectors of theory's covariance over the roots of its eigenvalues, [runs, bins − 1]: independent
        standard normals, if theory is right, the one with the least variance first. θ sums to 1, so that one direction is none."""
        values, vectors = np.linalg.eigh(self.wanted)
        return (self.theta - self.theta.mean(axis=0)) @ vectors[:, 1:] / np.sqrt(values[1:])

    def along(self) -> list[Measured]:
        """Variance of each direction over theory's."""
        scores = self.scores()
        return [
            Measured.resampled(lambda some, k=k: float(scores[some, k].var(ddof=1)), len(scores))  # type: ignore[misc]
            for k in range(scores.shape[1])
        ]


class OfTheta(Study):
    """What these studies share: runs of chains on |x| and θ at some of their steps."""

    runs: int
    seed: int

    def thetas(
        self, at: Place, chains: int, marks: tuple[int, ...], every: int | None = None, own: Contour = OWN
    ) -> np.ndarray:
        """[runs, marks, copies, bins]"""

        def make() -> dict[str, Any]:
            loop, first = line_loop(two_sided), self.seed + 10**6 * chains
            with ThreadPoolExecutor(at.workers or available_cores()) as pool:
                seeds = range(first, first + self.runs)
                found = list(pool.map(lambda seed: learned(loop, own, chains, marks, seed, STEP, every), seeds))
            return {"theta": np.round(found, 9).tolist()}

        asked = ["theta on |x|", own.to_dict(), STEP, chains, list(marks), every, self.runs, self.seed]
        told = {None: "one θ", 0: "copies that never meet"}.get(every, f"copies that meet every {every} steps")
        told += f", α = {own.rate_power:g}"
        return np.array(at.part(asked, make, f"{self.runs} runs of {chains} chain(s), {told}")["theta"])


@register
@dataclass(frozen=True)
class ThetaCopies(OfTheta):
    """Chains that keep θ each for itself and make it their common mean every so many steps.

    runs: independent ones.  chains: P, each as on a machine of its own.  steps: of each.  every: steps between two means.
    """

    runs: int = hyper(200, 20, 100_000)
    chains: int = hyper(5, 2, 1000)
    steps: int = hyper(50_000, 1000, 1_000_000_000)
    every: tuple[int, ...] = hyper((10, 100, 1000), read=rising("numbers of steps", 1, low=1))
    seed: int = hyper(0, 0, 2**31)

    def cost(self) -> Cost:
        count = self.runs * self.chains * self.steps * (2 + len(self.every))
        words = (
            f"{self.runs} runs of {self.chains} chains × {self.steps:,} steps for {2 + len(self.every)} ways to share θ"
        )
        # a copy for each chain is a call for each
        return Cost(on_cores(2 * count / STEPS_A_SECOND, self.runs) + 20, 300, words)

    @property
    def bytes_of_a_mean(self) -> int:
        """Sent and received by all chains for one mean, in double precision."""
        return 2 * self.chains * OWN.bins * 8

    @property
    def bytes_of_indices(self) -> int:
        """Each chain tells each other one its bin, and all of them renew the one θ alike."""
        return self.chains * (self.chains - 1) * INDEX_BYTES

    def run(self, at: Place) -> Found:
        law = theta_law(OWN, STEP)
        ways: dict[str, int | None] = {
            "one θ": None,
            **{f"every {int(k):,} steps": int(k) for k in self.every},
            "never": 0,
        }
        # just before copies meet they are farthest apart
        marks = {every: (self.steps - (1 if every else 0),) for every in ways.values()}
        thetas = {name: self.thetas(at, self.chains, marks[every], every)[:, 0] for name, every in ways.items()}
        one = float(np.trace(Spread(thetas["one θ"][:, 0], self.steps, law, self.chains).wanted))
        copies = {name: self._variance(each[:, 0], one) for name, each in thetas.items()}
        means = {name: self._variance(each.mean(axis=1), one) for name, each in thetas.items()}
        text = "one θ: its variance is what theory has for chains that share it"
        claims: list[Claim] = [near(text, copies["one θ"], 1.0, 2 * SHARES, "theory")]
        for name, every in ways.items():
            if every and every * rate(self.steps) <= FREE:
                text = f"{name}: a chain's copy varies as one θ does, at 1/{every} of the means"
                claims.append(near(text, copies[name], 1.0, 2 * SHARES, "one θ"))
        text = f"never: a copy varies {self.chains} times as much"
        claims.append(near(text, copies["never"], self.chains, SHARES * self.chains, "theory"))
        text = "never: the mean of all copies at the end varies as one θ does"
        claims.append(near(text, means["never"], 1.0, 2 * SHARES, "one θ"))
        table = []
        for name, every in ways.items():
            cost = f"{self.bytes_of_a_mean / (every or 1) if every != 0 else 0.0:,.3g} bytes a step"
            if every is None:
                cost += f" as means of copies, {self.bytes_of_indices} as indices of bins"
            elif every * rate(self.steps) > FREE:
                cost += f"; no claim: K·ω is {every * rate(self.steps):.2g}"
            table.append(
                f"{name:20} variance of a copy over theory's for one θ {copies[name]}, of the mean of copies {means[name]}; {cost}"
            )
        numbers = {name: {"copy": copies[name].numbers, "mean": means[name].numbers} for name in ways}
        return Found(claims, numbers, lambda: self._figure(copies, means), table)

    def _variance(self, theta: np.ndarray, unit: float) -> Measured:
        return Measured.resampled(lambda some: float(theta[some].var(axis=0, ddof=1).sum()) / unit, len(theta))

    def _figure(self, copies: Mapping[str, Measured], means: Mapping[str, Measured]) -> Any:
        from llc_core.plots.kinds import in_places
        from llc_core.plots.style import line_at

        found = {
            words: ([each.value for each in some.values()], [each.se for each in some.values()])
            for words, some in (("a chain's copy", copies), ("mean of the copies", means))
        }
        return in_places(list(copies), found, ground=line_at(1.0), ylabel="variance of θ over that of one θ", logy=True)
