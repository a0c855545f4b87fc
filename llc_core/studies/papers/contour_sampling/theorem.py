"""The error of θ falls as ω_k, θ is normal, and P chains that share it beat one chain of P times the steps (Deng et al. 2022: lemma 2,
theorem 1, corollary 1). Long, since one study shows all three, on one target and with one ω_k."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import stats

from llc_core.fields import hyper
from llc_core.interactions.contour import Contour
from llc_core.references.learned_theta import ThetaLaw, theta_law
from llc_core.studies.papers.claims import Claim, Measured, at_least, at_most, less, near, ours
from llc_core.studies.papers.contour_sampling.theta_laws import (
    OWN,
    SHARES,
    STEP,
    STEPS_A_SECOND,
    OfTheta,
    Spread,
    printed_fixed,
)
from llc_core.studies.papers.study import Cost, Found, Place, on_cores, register, rising

OFFSET = 20.0
"""ω_k = 1/(k^α + 20): with the 100 of figure 7, k^α would rule only at many more steps."""
NEAR = 0.05
"""By how much a fitted exponent may miss 1 − α; what theory has at these k is in the table."""
DRAWS, DRAWN = 20_000, 300
TAILS = 0.5
"""What skewness and excess kurtosis of a normal may seem to be."""
SHAPES: Mapping[str, Callable[[np.ndarray], Any]] = {
    "it leans to no side (skewness, the largest)": lambda scores: np.abs(stats.skew(scores)).max(),
    "its tails are those of a normal (excess kurtosis, the mean)": lambda scores: stats.kurtosis(scores).mean(),
}
TALL = 360
"""Of each panel, in pixels."""
Spreads = Mapping[int, list[Spread]]
"""By the number of chains, at each step."""


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


def of_power(power: float) -> Contour:
    """What all three parts run, with this α in ω_k."""
    return OWN.replace(rate_power=power, rate_offset=OFFSET)


@dataclass(frozen=True)
class Ratios:
    """Of one α.  one, many [runs, bins] by P: θ of one chain after P·k steps, and of P chains after k."""

    own: Contour
    steps: int
    one: Mapping[int, np.ndarray]
    many: Mapping[int, np.ndarray]

    @property
    def counts(self) -> list[int]:
        return list(self.many)

    def of(self, chains: int, some: np.ndarray) -> float:
        one, many = (float(theta[some].var(axis=0, ddof=1).sum()) for theta in (self.one[chains], self.many[chains]))
        return one / many

    def ratio(self, chains: int) -> Measured:
        """Summed variance of one chain's θ over that of P chains."""
        return Measured.resampled(lambda some: self.of(chains, some), len(self.many[chains]))

    def exponent(self) -> Measured:
        """e of ratio = P^e; at P = 1 the two are the same, so that the line of logarithms goes through 0.

        Runs are drawn once for all P, as the one chain's P·k steps are steps of the same run.
        """
        runs = len(self.many[self.counts[0]])
        return Measured.resampled(lambda some: slope(self.counts, [self.of(p, some) for p in self.counts]), runs)

    def wanted(self, chains: int, law: ThetaLaw) -> float:
        """The ratio by theory at these steps."""
        one, many = (
            float(np.trace(Spread(np.zeros((1, self.own.bins)), steps, law, count, self.own).wanted))
            for steps, count in ((self.steps * chains, 1), (self.steps, chains))
        )
        return one / many


def slope(counts: list[int], ratios: list[float]) -> float:
    """Of log ratio over log P, by least squares through 0."""
    logs = np.log(counts)
    return float(logs @ np.log(ratios) / (logs @ logs))


@register
@dataclass(frozen=True)
class SharedTheta(OfTheta):
    """The error of θ at all `steps`; its law at the last of them; and equal budgets, P chains against one.

    runs: independent ones of one chain and of `chains` that share θ.  power: α of their ω_k = 1/(k^α + OFFSET).
    steps: k at which θ is held against theory.
    budget_runs, budget_steps: of each P in `counts`, for each α in `powers`; the one chain has P times the steps.
    """

    runs: int = hyper(400, 20, 100_000)
    chains: int = hyper(5, 2, 1000)
    power: float = hyper(0.6, 0.5, 1.0, open_low=True)
    steps: tuple[int, ...] = hyper((10_000, 100_000), read=rising("numbers of steps", 2, low=100))
    counts: tuple[int, ...] = hyper((2, 5, 10), read=rising("numbers of chains", 2, low=2))
    powers: tuple[float, ...] = hyper((0.6,), read=rising("powers", 1, above=0.5))
    budget_runs: int = hyper(400, 20, 100_000)
    budget_steps: int = hyper(10_000, 100, 100_000_000)
    seed: int = hyper(0, 0, 2**31)

    @property
    def marks(self) -> tuple[int, ...]:
        return tuple(int(step) for step in self.steps)

    @property
    def several(self) -> tuple[int, ...]:
        """Each P of equal budgets."""
        return tuple(int(count) for count in self.counts)

    def cost(self) -> Cost:
        spread = self.runs * (1 + self.chains) * max(self.marks)
        budgets = len(self.powers) * self.budget_runs * self.budget_steps * (sum(self.several) + max(self.several))
        words = (
            f"{self.runs} runs of one chain and of {self.chains}, {max(self.marks):,} steps each; "
            f"{self.budget_runs} of {', '.join(map(str, self.several))} chains × {self.budget_steps:,} steps, "
            f"and of one of {self.budget_steps * max(self.several):,}, for α = {', '.join(f'{power:g}' for power in self.powers)}"
        )
        seconds = on_cores(spread / STEPS_A_SECOND, self.runs) + on_cores(budgets / STEPS_A_SECOND, self.budget_runs)
        return Cost(seconds + 10, 300, words)

    def run(self, at: Place) -> Found:
        # neither θ* nor the chain's noise depends on ω_k: one law for every α
        law = theta_law(OWN, STEP)
        seen = {chains: self._spreads(chains, law, at) for chains in (1, self.chains)}
        budgets = {power: self._ratios(power, at) for power in self.powers}
        numbers: dict[str, Any] = {
            f"{chains} chain(s), {each.step} steps": {
                "mean": each.theta.mean(axis=0).tolist(),
                "variance over theory's": each.total().numbers,
                "error over ω": each.error(each.rate).numbers,
            }
            for chains, spreads in seen.items()
            for each in spreads
        }
        claims, table = of_error(seen)
        for more, lines in (self._of_law(seen), of_budgets(budgets, law, numbers)):
            claims, table = claims + more, [*table, "", *lines]
        return Found(claims, {"fixed": law.fixed.tolist(), **numbers}, lambda: self._figure(seen, budgets), table)

    def _spreads(self, chains: int, law: ThetaLaw, at: Place) -> list[Spread]:
        own = of_power(self.power)
        thetas = self.thetas(at, chains, self.marks, own=own)[:, :, 0].swapaxes(0, 1)
        return [Spread(theta, mark, law, chains, own) for mark, theta in zip(self.marks, thetas, strict=True)]

    def _ratios(self, power: float, at: Place) -> Ratios:
        own, runs = of_power(power), self.replace(runs=self.budget_runs)
        longer = tuple(self.budget_steps * count for count in self.several)
        one = runs.thetas(at, 1, longer, own=own)[:, :, 0].swapaxes(0, 1)
        many = {count: runs.thetas(at, count, (self.budget_steps,), own=own)[:, 0, 0] for count in self.several}
        return Ratios(own, self.budget_steps, dict(zip(self.several, one, strict=True)), many)

    def _of_law(self, seen: Spreads) -> tuple[list[Claim], list[str]]:
        claims, table = [], ["2. θ is normal, with the covariance of theory"]
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
            table += [
                f"{chains} chain(s), {each.step:,} steps: variance over theory's {each.total()}, "
                f"by direction {', '.join(map(str, each.along()))}"
                for each in spreads
            ]
        one, many = (spreads[-1].theta for spreads in seen.values())

        def ratio(some: np.ndarray) -> float:
            return float(one[some].var(axis=0, ddof=1).sum() / many[some].var(axis=0, ddof=1).sum())

        times = Measured.resampled(ratio, self.runs)
        text = f"{self.chains} chains that share θ have 1/{self.chains} of the variance of one"
        claims.append(near(text, times, self.chains, SHARES * self.chains, "theory"))
        return claims, table

    def _figure(self, seen: Spreads, budgets: Mapping[float, Ratios]) -> Any:
        from llc_core.plots.kinds import curves
        from llc_core.plots.style import CHAINS, beside_each_other, ticks_at

        pairs = [color for color in CHAINS for _ in range(2)]
        named: dict[str, Any] = {}
        for chains, spreads in seen.items():
            k, errors = [each.step for each in spreads], [each.error() for each in spreads]
            named[f"{chains} chain(s)"] = (k, [each.value for each in errors], [each.se for each in errors])
            named[f"theory, {chains}"] = (k, [float(np.trace(each.wanted)) for each in spreads])
        panels = [
            curves(named, colors=pairs, dashes=("solid", "dashed"), xlabel="steps k", ylabel="E‖θ − θ*‖²", logy=True, **ticks_at(self.marks),
                   title="1. The error of θ falls as ω", height=TALL, legend_position="top_right")
        ]  # fmt: skip
        for chains, spreads in seen.items():
            scores = np.sort(spreads[-1].scores(), axis=0)
            normal = stats.norm.ppf((np.arange(self.runs) + 0.5) / self.runs)
            named = {f"direction {k + 1}": (normal, scores[:, k]) for k in range(scores.shape[1])}
            named["theory"] = (normal, normal)
            panels.append(
                curves(named, dashes=("solid",) * scores.shape[1] + ("dashed",), xlabel="normal quantile",
                       ylabel="θ less its mean, over theory's sd", title=f"2. θ is normal: {chains} chain(s)",
                       height=TALL, legend_position="top_left")
            )  # fmt: skip
        named = {}
        for power, each in budgets.items():
            ratios = [each.ratio(count) for count in self.several]
            named[f"α = {power:g}"] = (self.several, [one.value for one in ratios], [one.se for one in ratios])
            named[f"P^{1 - power:.3g}"] = (self.several, [count ** (1 - power) for count in self.several])
        panels.append(
            curves(named, colors=pairs, dashes=("solid", "dashed"), xlabel="P", ylabel="variance of one chain over that of P",
                   title="3. Equal budgets: P^(1 − α)", logy=True, **ticks_at(self.several), height=TALL, legend_position="top_left")
        )  # fmt: skip
        return beside_each_other(*panels)


def of_error(seen: Spreads) -> tuple[list[Claim], list[str]]:
    """E‖θ − θ*‖² over ω_k: it has a limit, which is theory's."""
    claims, law = [], seen[1][0].law
    table = [
        "1. The error of θ falls as ω_k",
        f"θ* of these five bins {np.round(law.fixed, 4).tolist()}, by eq. 9 {np.round(printed_fixed(), 4).tolist()}; "
        f"E‖θ − θ*‖²/ω by theory {np.trace(law.covariance()):.3f} for one chain",
    ]
    for chains, spreads in seen.items():
        wanted = float(np.trace(law.covariance(0.0, chains)))
        before, end = spreads[-2], spreads[-1]
        text = (
            f"{chains} chain(s): E‖θ − θ*‖²/ω no longer grows from {before.step:,} to {end.step:,} steps (difference)"
        )
        claims.append(at_most(text, end.error(end.rate) - before.error(before.rate), SHARES * wanted))
        # the limit, with what it still lacks at this step
        bound = SHARES * wanted + abs(float(np.trace(end.wanted)) / end.rate - wanted)
        text = f"{chains} chain(s), {end.step:,} steps: E‖θ − θ*‖²/ω is theory's limit"
        claims.append(near(text, end.error(end.rate), wanted, bound, "theory"))
        table += [
            f"{chains} chain(s), {each.step:,} steps, ω = {each.rate:.2g}: E‖θ − θ*‖²/ω {each.error(each.rate)}"
            for each in spreads
        ]
    return claims, table


def of_budgets(
    budgets: Mapping[float, Ratios], law: ThetaLaw, numbers: dict[str, Any]
) -> tuple[list[Claim], list[str]]:
    """Var θ of one chain after P·k steps over that of P chains after k.  numbers: gets the ratios and the exponents."""
    claims: list[Claim] = []
    table = ["3. P chains that share θ, and one chain of P times the steps"]
    for power, each in budgets.items():
        exponent = each.exponent()
        theory = {count: each.wanted(count, law) for count in each.counts}
        finite = slope(each.counts, list(theory.values()))
        text = f"α = {power:g}: the ratio of variances grows as P^(1 − α) (fitted exponent)"
        claims.append(near(text, exponent, 1 - power, NEAR, "1 − α"))
        text = f"α = {power:g}: the exponent is what theory has at these steps"
        claims += ours([near(text, exponent, finite, NEAR, "theory")])
        for count in each.counts:
            ratio, told = each.ratio(count), f"α = {power:g}, P = {count}"
            text = f"{told}: one chain of {count} times the steps has more variance (ratio)"
            claims.append(at_least(text, ratio, 1.0))
            table.append(
                f"{told}: ratio of variances {ratio}, by theory at these steps {theory[count]:.3g}, P^(1 − α) {count ** (1 - power):.3g}"
            )
            numbers[told] = {**ratio.numbers, "theory": theory[count]}
        table.append(
            f"α = {power:g}: exponent {exponent}, by theory at these steps {finite:.3g}, 1 − α {1 - power:.3g}"
        )
        numbers[f"α = {power:g}"] = {**exponent.numbers, "theory": finite}
    return claims, table
