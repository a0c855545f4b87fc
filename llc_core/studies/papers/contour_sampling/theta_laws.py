"""How θ of contour sampling spreads over many runs, beside the normal distribution that theory has, and where chains keep copies of it
(Deng et al. 2022: theorem 1, lemma 2, corollary 1, appendix B). Long, since three items judge the same runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import stats

from llc_core.compute.cores import available_cores
from llc_core.fields import hyper
from llc_core.interactions.contour import Contour
from llc_core.references.learned_theta import ThetaLaw, theta_law
from llc_core.studies.papers.claims import Claim, Measured, at_most, less, near
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
DRAWS, DRAWN = 20_000, 300
TAILS = 0.5
"""What skewness and excess kurtosis of a normal may seem to be."""
SHAPES: Mapping[str, Callable[[np.ndarray], Any]] = {
    "it leans to no side (skewness, the largest)": lambda scores: np.abs(stats.skew(scores)).max(),
    "its tails are those of a normal (excess kurtosis, the mean)": lambda scores: stats.kurtosis(scores).mean(),
}


def printed_fixed() -> np.ndarray:
    """θ* by eq. 9 of the paper [m]: ∝ θ_∞^{1/ζ}, θ_∞ the masses of the bins of |x|. That of a chain has it for fine bins only."""
    inner = np.exp(-OWN.edges[:-1])
    theta = (inner - np.append(inner[1:], 0.0)) ** (1 / OWN.zeta)
    return theta / theta.sum()


@lru_cache
def lilliefors(count: int, share: float) -> float:
    """The distance of Kolmogorov and Smirnov that this share of normal samples exceeds, mean and sd fitted to each.

    By DRAWS samples of DRAWN: at a share of 1/400 its own error is some 1.5%. With a known mean and sd it would be larger by half.
    Source: Lilliefors 1967; how it falls with the size of a sample, Stephens 1974, table 1.
    """
    found = distances(np.random.default_rng(0).standard_normal((DRAWN, DRAWS)))
    drawn, asked = (n**0.5 - 0.01 + 0.85 / n**0.5 for n in (DRAWN, count))
    return float(np.quantile(found, 1 - share)) * drawn / asked


def distances(values: np.ndarray) -> np.ndarray:
    """Of each column [n, ·] from the normal distribution of its own mean and sd (Lilliefors 1967)."""
    levels = stats.norm.cdf(np.sort((values - values.mean(axis=0)) / values.std(axis=0, ddof=1), axis=0))
    steps = np.arange(len(values) + 1)[:, None] / len(values)
    found: np.ndarray = np.maximum(steps[1:] - levels, levels - steps[:-1]).max(axis=0)
    return found


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
    def wanted(self) -> np.ndarray:
        """Cov θ_k [m, m] by theory."""
        falling = 1 / rate(self.step + 1, self.own) - 1 / rate(self.step, self.own)
        return rate(self.step, self.own) * self.law.covariance(falling, self.chains)

    def total(self) -> Measured:
        """Summed variances of the bins over theory's."""
        whole = float(np.trace(self.wanted))
        return Measured.resampled(
            lambda some: float(self.theta[some].var(axis=0, ddof=1).sum()) / whole, len(self.theta)
        )

    def error(self) -> Measured:
        """E‖θ − θ*‖²/ω_k."""
        return Measured.of(((self.theta - self.law.fixed) ** 2).sum(axis=1) / rate(self.step, self.own))

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
class ThetaSpread(OfTheta):
    """runs: independent ones, for each number of chains.  chains: P that share θ, beside one alone.  steps: k at which θ is held
    against theory.  show: the spread at the last of them ("law"), or its size at all ("error")."""

    runs: int = hyper(400, 20, 100_000)
    chains: int = hyper(5, 2, 1000)
    steps: tuple[int, ...] = hyper((10_000, 100_000), read=rising("numbers of steps", 2, low=100))
    show: str = hyper("law", choices=("law", "error"))
    seed: int = hyper(0, 0, 2**31)

    def cost(self) -> Cost:
        count = self.runs * (1 + self.chains) * max(self.steps)
        words = f"{self.runs} runs of one chain and of {self.chains}, {int(max(self.steps)):,} steps each"
        return Cost(on_cores(count / STEPS_A_SECOND, self.runs) + 20, 300, words)

    def run(self, at: Place) -> Found:
        law = theta_law(OWN, STEP)
        marks = tuple(int(step) for step in self.steps)
        seen = {
            chains: [
                Spread(theta[:, 0], mark, law, chains)
                for mark, theta in zip(marks, self.thetas(at, chains, marks).swapaxes(0, 1), strict=True)
            ]
            for chains in (1, self.chains)
        }
        claims = self._of_law(seen) if self.show == "law" else self._of_error(seen)
        numbers = {
            f"{chains} chain(s), {each.step} steps": {
                "mean": each.theta.mean(axis=0).tolist(), "variance over theory's": each.total().numbers, "error over ω": each.error().numbers,
            }
            for chains, spreads in seen.items() for each in spreads
        }  # fmt: skip
        table = [
            f"θ* of these five bins {np.round(law.fixed, 4).tolist()}, by eq. 9 {np.round(printed_fixed(), 4).tolist()}; "
            f"E‖θ − θ*‖²/ω by theory {np.trace(law.covariance()):.3f}"
        ]
        table += [
            f"{chains} chain(s), {each.step:,} steps, ω = {rate(each.step):.2g}: variance over theory's {each.total()}, "
            f"by direction {', '.join(map(str, each.along()))}; E‖θ − θ*‖²/ω {each.error()}"
            for chains, spreads in seen.items()
            for each in spreads
        ]  # fmt: skip
        return Found(claims, {"fixed": law.fixed.tolist(), **numbers}, lambda: self._figure(seen), table)

    def _of_law(self, seen: Mapping[int, list[Spread]]) -> list[Claim]:
        claims = []
        for chains, spreads in seen.items():
            last, told = spreads[-1], f"{chains} chain(s), {spreads[-1].step:,} steps"
            before, after = spreads[0].off(), last.off()
            text = f"{chains} chain(s): the mean of θ comes nearer to θ* even in its standard deviations (the bin that is farthest)"
            claims.append(less(text, (f"{last.step:,} steps", after), (f"{spreads[0].step:,}", before)))
            claims += [
                near(f"{told}: the variance along direction {k} is what theory has", along, 1.0, SHARES, "theory")
                for k, along in enumerate(last.along(), 1)
            ]
            scores = last.scores()
            # four directions at once: the bound is that of one at 1 − (1 − .99)/4
            bound = lilliefors(self.runs, 0.01 / scores.shape[1])
            text = f"{told}: θ is normal (largest distance of Kolmogorov and Smirnov over the directions)"
            claims.append(at_most(text, Measured(float(distances(scores).max())), bound))
            for text, shape in SHAPES.items():
                found = Measured.resampled(lambda some, of=shape, values=scores: float(of(values[some])), self.runs)  # type: ignore[misc]
                claims.append(near(f"{told}: {text}", found, 0.0, TAILS, "normal"))
        one, many = (spreads[-1].theta for spreads in seen.values())

        def ratio(some: np.ndarray) -> float:
            return float(one[some].var(axis=0, ddof=1).sum() / many[some].var(axis=0, ddof=1).sum())

        times = Measured.resampled(ratio, self.runs)
        text = f"{self.chains} chains that share θ have 1/{self.chains} of the variance of one"
        claims.append(near(text, times, self.chains, SHARES * self.chains, "theory"))
        return claims

    def _of_error(self, seen: Mapping[int, list[Spread]]) -> list[Claim]:
        claims = []
        for chains, spreads in seen.items():
            wanted = float(np.trace(spreads[-1].law.covariance(0.0, chains)))
            first, last = spreads[-2].error(), spreads[-1].error()
            text = f"{chains} chain(s): E‖θ − θ*‖²/ω no longer grows from {spreads[-2].step:,} to {spreads[-1].step:,} steps (difference)"
            claims.append(at_most(text, last - first, SHARES * wanted))
            # the limit, with what it still lacks at this step
            bound = SHARES * wanted + abs(float(np.trace(spreads[-1].wanted)) / rate(spreads[-1].step) - wanted)
            claims.append(
                near(
                    f"{chains} chain(s), {spreads[-1].step:,} steps: E‖θ − θ*‖²/ω is theory's limit",
                    last,
                    wanted,
                    bound,
                    "theory",
                )
            )
        return claims

    def _figure(self, seen: Mapping[int, list[Spread]]) -> Any:
        from llc_core.plots.kinds import curves
        from llc_core.plots.style import beside_each_other

        if self.show == "error":
            named: dict[str, Any] = {}
            for chains, spreads in seen.items():
                errors = [each.error() for each in spreads]
                k = [each.step for each in spreads]
                named[f"{chains} chain(s)"] = (
                    k,
                    [each.value * rate(s) for each, s in zip(errors, k, strict=True)],
                    [each.se * rate(s) for each, s in zip(errors, k, strict=True)],
                )
                named[f"theory, {chains}"] = (k, [float(np.trace(each.wanted)) for each in spreads])
            return curves(
                named, dashes=("solid", "dashed"), xlabel="steps k", ylabel="E‖θ − θ*‖²", logx=True, logy=True, legend_position="right"
            )  # fmt: skip
        panels = []
        for chains, spreads in seen.items():
            scores = np.sort(spreads[-1].scores(), axis=0)
            normal = stats.norm.ppf((np.arange(self.runs) + 0.5) / self.runs)
            lines: dict[str, Any] = {f"direction {k + 1}": (normal, scores[:, k]) for k in range(scores.shape[1])}
            lines["theory"] = (normal, normal)
            panels.append(
                curves(lines, dashes=("solid",) * scores.shape[1] + ("dashed",), xlabel="normal quantile", title=f"{chains} chain(s)",
                       ylabel="θ less its mean, in theory's standard deviations", legend_position="top_left")
            )  # fmt: skip
        return beside_each_other(*panels)


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
        claims: list[Claim] = [
            near(
                "one θ: its variance is what theory has for chains that share it",
                copies["one θ"],
                1.0,
                2 * SHARES,
                "theory",
            )
        ]
        for name, every in ways.items():
            if every and every * rate(self.steps) <= FREE:
                claims.append(
                    near(
                        f"{name}: a chain's copy varies as one θ does, at 1/{every} of the means",
                        copies[name],
                        1.0,
                        2 * SHARES,
                        "one θ",
                    )
                )
        claims.append(
            near(
                f"never: a copy varies {self.chains} times as much",
                copies["never"],
                self.chains,
                SHARES * self.chains,
                "theory",
            )
        )
        claims.append(
            near(
                "never: the mean of all copies at the end varies as one θ does",
                means["never"],
                1.0,
                2 * SHARES,
                "one θ",
            )
        )
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
