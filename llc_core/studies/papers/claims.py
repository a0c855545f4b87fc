"""What a paper says, or this project of its own, and whether runs bear it out: yes, no, or not decided by them. Nothing here is
written by hand but the words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student_t

ERRORS = 2.0
"""A claim is decided where what was measured is this many standard errors away from the edge; as many more where the error itself is
that of a few repeats as Student's distribution asks for the same chance."""
FEWEST, EQUAL = 5, 1e-12
"""Fewer repeats that all say the same, but for rounding, do not tell an error."""


@dataclass(frozen=True)
class Measured:
    """A number and its standard error; 0 where it is exact.

    freedom: degrees of freedom of the error: one less than the repeats that it is from. Infinite where it is no estimate.
    """

    value: float
    se: float = 0.0
    freedom: float = math.inf

    @classmethod
    def of(cls, values: Any) -> Measured:
        """The mean of independent repeats [R], those that are not finite left out; without an error (nan) below two."""
        known = np.asarray(values, dtype=float).ravel()
        known = known[np.isfinite(known)]
        if not len(known):
            return cls(math.nan, math.nan)
        if len(known) == 1:
            return cls(float(known[0]), math.nan)
        return cls(float(known.mean()), float(known.std(ddof=1) / len(known) ** 0.5), len(known) - 1)

    @classmethod
    def resampled(
        cls, statistic: Callable[[np.ndarray], float], count: int, draws: int = 200, seed: int = 0
    ) -> Measured:
        """A statistic of `count` independent repeats and its error by the bootstrap.

        statistic: places [count] of the repeats, some of them several times ↦ the number.
        Of fewer than FEWEST repeats that all say the same the error is not known.
        """
        random = np.random.default_rng(seed)
        found = np.array([statistic(random.integers(0, count, count)) for _ in range(draws)])
        found = found[np.isfinite(found)]
        se = float(found.std(ddof=1)) if len(found) > draws // 2 else math.nan
        if count < FEWEST and len(found) and np.ptp(found) <= EQUAL * abs(found[0]):
            se = math.nan
        return cls(float(statistic(np.arange(count))), se, max(count - 1, 1))

    @property
    def numbers(self) -> dict[str, float]:
        """For a report: value and se."""
        return {"value": self.value, "se": self.se}

    def __sub__(self, other: Measured) -> Measured:
        """Of independent numbers; the degrees of freedom are those of Welch and Satterthwaite."""
        se = math.hypot(self.se, other.se)
        spent = sum((each.se / se) ** 4 / each.freedom for each in (self, other)) if se > 0 else 0.0
        return Measured(self.value - other.value, se, 1 / spent if spent else math.inf)

    @property
    def reach(self) -> float:
        """How far from the value the truth may lie: ERRORS standard errors, or what Student's distribution has in their place."""
        return self.se * (ERRORS if math.isinf(self.freedom) else float(student_t.isf(norm.sf(ERRORS), self.freedom)))

    def __str__(self) -> str:
        if not math.isfinite(self.value):
            return "no value"
        if self.se == 0:
            return f"{self.value:.5g}"
        return f"{self.value:.3g} ± {self.se:.1g}" if math.isfinite(self.se) else f"{self.value:.3g} (no error)"


@dataclass(frozen=True)
class Claim:
    """text: what is said.  holds: whether it does; None: these runs do not decide it.  found: the numbers, in words.
    ours: this project says so, as of a control or an exact answer, and the paper does not."""

    text: str
    holds: bool | None
    found: str
    ours: bool = False

    @property
    def verdict(self) -> str:
        return {True: "yes", False: "no", None: "not decided"}[self.holds]

    def __str__(self) -> str:
        return f"{self.text}{' (ours)' if self.ours else ''}: {self.verdict}, {self.found}"


def ours(claims: Iterable[Claim]) -> list[Claim]:
    """The same, as this project's own."""
    return [replace(each, ours=True) for each in claims]


Named = tuple[str, Measured]
"""Whose number it is, and the number."""


def less(text: str, one: Named, other: Named, *, apart: Measured | None = None) -> Claim:
    """Whether the first number is below the second, by more than the `reach` of their difference; equal ones leave it open.

    apart: the second less the first, where repeats come in pairs and the difference has an error of its own; a few pairs that all differ by
    the same leave it open too, since their error is not known.
    """
    found = f"{one[0]} {one[1]} against {other[0]} {other[1]}"
    if apart is None:
        margin = other[1] - one[1]
        return Claim(text, _sign(margin) if margin.value else None, found)
    return Claim(text, _sign(apart) if apart.se else None, f"{found}, difference of pairs {apart}")


def at_most(text: str, found: Measured, bound: float) -> Claim:
    """Whether a number is no larger than `bound`."""
    return Claim(text, _sign(Measured(bound) - found), f"{found}, bound {bound:.4g}")


def at_least(text: str, found: Measured, bound: float) -> Claim:
    """Whether a number is no smaller than `bound`."""
    return Claim(text, _sign(found - Measured(bound)), f"{found}, bound {bound:.4g}")


def near(text: str, found: Measured, wanted: float, within: float, what: str = "printed") -> Claim:
    """Whether a number is within `within` of the wanted one.  what: how the wanted one is called."""
    off = replace(found, value=abs(found.value - wanted))
    return Claim(text, _sign(Measured(within) - off), f"{found}, {what} {wanted:.4g}, allowed {within:.2g}")


def alike(text: str, found: Measured, other: Named, slack: float) -> Claim:
    """Whether two numbers agree within the `reach` of their difference and `slack`; not decided where that exceeds the slack, as errors
    that are large enough would let anything agree."""
    close = agree(found, other[1], slack)
    blurred = close and (found - other[1]).reach > slack
    return Claim(text, None if blurred else close, f"{found} against {other[0]} {other[1]}, allowed {slack:.2g}")


def agree(found: Measured, other: Measured, slack: float) -> bool | None:
    """Whether two numbers are no farther apart than the `reach` of their difference and `slack`; None without errors."""
    apart = found - other
    known = math.isfinite(apart.value) and math.isfinite(apart.se)
    return bool(abs(apart.value) <= apart.reach + slack) if known else None


def _sign(margin: Measured) -> bool | None:
    """True where the margin is above 0, False where it is below, None where its error leaves that open."""
    if not math.isfinite(margin.value) or not math.isfinite(margin.se):
        return None
    if abs(margin.value) < margin.reach:
        return None
    return bool(margin.value >= 0)
