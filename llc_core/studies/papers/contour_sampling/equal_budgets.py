"""P chains that share θ beside one chain of P times the steps, at several P: how the ratio of their variances grows (Deng et al. 2022)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from llc_core.fields import hyper
from llc_core.interactions.contour import Contour
from llc_core.references.learned_theta import ThetaLaw, theta_law
from llc_core.studies.papers.claims import Claim, Measured, at_least, near, ours
from llc_core.studies.papers.contour_sampling.theta_laws import OWN, STEP, STEPS_A_SECOND, OfTheta, Spread
from llc_core.studies.papers.study import Cost, Found, Place, on_cores, register, rising

OFFSET = 20.0
"""ω_k = 1/(k^α + 20): with the 100 of figure 7, k^α would rule only at many more steps."""
NEAR = 0.05
"""By how much a fitted exponent may miss 1 − α; what theory has at these k is in the table."""


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

    @property
    def runs(self) -> int:
        return len(self.many[self.counts[0]])

    def of(self, chains: int, some: np.ndarray) -> float:
        one, many = (float(theta[some].var(axis=0, ddof=1).sum()) for theta in (self.one[chains], self.many[chains]))
        return one / many

    def ratio(self, chains: int) -> Measured:
        """Summed variance of one chain's θ over that of P chains."""
        return Measured.resampled(lambda some: self.of(chains, some), self.runs)

    def exponent(self) -> Measured:
        """e of ratio = P^e; at P = 1 the two are the same, so that the line of logarithms goes through 0.

        Runs are drawn once for all P, as the one chain's P·k steps are steps of the same run.
        """
        return Measured.resampled(lambda some: slope(self.counts, [self.of(p, some) for p in self.counts]), self.runs)

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
class EqualBudgets(OfTheta):
    """chains: each P.  powers: each α of ω_k = 1/(k^α + OFFSET).  steps: k of the P chains; the one chain has P·k.
    runs: independent ones, for each α and P, and of the one chain for each α."""

    chains: tuple[int, ...] = hyper((2, 5, 10), read=rising("numbers of chains", 2, low=2))
    powers: tuple[float, ...] = hyper((0.6,), read=rising("powers", 1, above=0.5))
    steps: int = hyper(10_000, 100, 100_000_000)
    runs: int = hyper(400, 20, 100_000)
    seed: int = hyper(0, 0, 2**31)

    @property
    def counts(self) -> tuple[int, ...]:
        return tuple(int(count) for count in self.chains)

    def cost(self) -> Cost:
        moves = len(self.powers) * self.runs * self.steps * (sum(self.counts) + max(self.counts))
        words = (
            f"{self.runs} runs of {', '.join(map(str, self.counts))} chains × {self.steps:,} steps, "
            f"and of one of {self.steps * max(self.counts):,}, for α = {', '.join(f'{power:g}' for power in self.powers)}"
        )
        return Cost(on_cores(moves / STEPS_A_SECOND, self.runs) + 10, 300, words)

    def run(self, at: Place) -> Found:
        found = {power: self._ratios(power, at) for power in self.powers}
        laws = {power: theta_law(each.own, STEP) for power, each in found.items()}
        claims: list[Claim] = []
        table, numbers = [], {}
        for power, each in found.items():
            exponent = each.exponent()
            theory = {count: each.wanted(count, laws[power]) for count in self.counts}
            finite = slope(each.counts, list(theory.values()))
            text = f"α = {power:g}: the ratio of variances grows as P^(1 − α) (fitted exponent)"
            claims.append(near(text, exponent, 1 - power, NEAR, "1 − α"))
            claims += ours(
                [
                    near(
                        f"α = {power:g}: the exponent is what theory has at these steps",
                        exponent,
                        finite,
                        NEAR,
                        "theory",
                    )
                ]
            )
            for count in self.counts:
                ratio, told = each.ratio(count), f"α = {power:g}, P = {count}"
                claims.append(
                    at_least(f"{told}: one chain of {count} times the steps has more variance (ratio)", ratio, 1.0)
                )
                table.append(
                    f"{told}: ratio of variances {ratio}, by theory at these steps {theory[count]:.3g}, P^(1 − α) {count ** (1 - power):.3g}"
                )
                numbers[told] = {**ratio.numbers, "theory": theory[count]}
            table.append(
                f"α = {power:g}: exponent {exponent}, by theory at these steps {finite:.3g}, 1 − α {1 - power:.3g}"
            )
            numbers[f"α = {power:g}"] = {**exponent.numbers, "theory": finite}
        return Found(claims, numbers, lambda: self._figure(found), table)  # fmt: skip

    def _ratios(self, power: float, at: Place) -> Ratios:
        own = OWN.replace(rate_power=power, rate_offset=OFFSET)
        longer = tuple(self.steps * count for count in self.counts)
        one = self.thetas(at, 1, longer, own=own)[:, :, 0].swapaxes(0, 1)
        many = {count: self.thetas(at, count, (self.steps,), own=own)[:, 0, 0] for count in self.counts}
        return Ratios(own, self.steps, dict(zip(self.counts, one, strict=True)), many)

    def _figure(self, found: Mapping[float, Ratios]) -> Any:
        from llc_core.plots.kinds import curves
        from llc_core.plots.style import CHAINS

        named: dict[str, Any] = {}
        for power, each in found.items():
            ratios = [each.ratio(count) for count in self.counts]
            named[f"α = {power:g}"] = (self.counts, [one.value for one in ratios], [one.se for one in ratios])
            named[f"P^{1 - power:.3g}"] = (self.counts, [count ** (1 - power) for count in self.counts])
        colors = [color for color in CHAINS for _ in range(2)]
        return curves(
            named, colors=colors, dashes=("solid", "dashed"), xlabel="P", ylabel="variance of one long chain over that of P chains",
            logx=True, logy=True, height=420, legend_position="right",
        )  # fmt: skip
