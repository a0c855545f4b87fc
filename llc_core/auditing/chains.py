"""Faults of the chains themselves: one that is not like the others, and burn-in that is counted."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from llc_core.auditing.noise import FEWEST_INDEPENDENT, Noise, probability
from llc_core.auditing.words import Finding, Flaw

CHANCE = 1e-4
"""Probability with which chance alone may name a fault, in each of the checks, over all that it tries."""
STILL = 1e-6
"""A chain that moves by less than this share of what the others do stands still."""
APART = 0.1
"""A chain this share of λ̂ away from the others is worth a word …"""
MATERIAL = 0.02
"""… and so is burn-in that puts λ̂ off by this share of it (`convergence.DRIFT_SHARE`)."""
TIMES = (0.02, 0.05, 0.1, 0.2, 0.4, 1.0)
"""Time constants of a start that are tried, as shares of the trace."""


def names(chains: tuple[int, ...]) -> str:
    """ "Chain 2", "Chains 0 and 1"."""
    if len(chains) == 1:
        return f"Chain {chains[0]}"
    return f"Chains {', '.join(map(str, chains[:-1]))} and {chains[-1]}"


def odd_ones(x: np.ndarray, numbers: np.ndarray) -> tuple[list[Finding], np.ndarray]:
    """Chains that stand still, or are far from the others; and which of [C] are not among them.

    x: [T, C] in units of λ̂.  numbers: [C], what the chains are called.
    """
    moves = np.abs(np.diff(x, axis=0)).mean(axis=0)
    still = moves <= STILL * moves.max(initial=0.0)
    if still.all():
        return [Flaw.STANDING_STILL.found(since="")], ~still
    found = []
    if still.any():
        which = tuple(int(i) for i in numbers[still])
        who = f"{names(which)} {'is' if len(which) == 1 else 'are'} cold"
        found.append(
            Flaw.COLD_CHAIN.found(
                chains=which, who=who, what="it never moved" if len(which) == 1 else "they never moved"
            )
        )
    good = ~still
    while good.sum() > 1:
        far = _farthest(x[:, good])
        if far is None:
            break
        index, distance = far
        both = good.sum() == 2
        chosen = np.flatnonzero(good)[[0, 1] if both else [index]]
        which = tuple(int(i) for i in numbers[chosen])
        if both:
            who, what = f"{names(which)} disagree", f"their means are {abs(distance):.3g} apart, in units of λ̂"
            found.append(Flaw.COLD_CHAIN.found(chains=which, who=who, what=what))
            break
        side = "above" if distance > 0 else "below"
        who, what = (
            f"{names(which)} sits far from the others",
            f"its mean is {abs(distance):.3g} {side} theirs, in units of λ̂",
        )
        found.append(Flaw.COLD_CHAIN.found(chains=which, who=who, what=what))
        good[chosen] = False
    return found, good


def _farthest(x: np.ndarray) -> tuple[int, float] | None:
    """The chain of [T, C] whose last half lies farthest from those of the others, and how far; None: chance may do that."""
    late = x[len(x) // 2 :]
    rows, chains = late.shape
    means = late.mean(axis=0)
    away = (means - means.mean()) * chains / (chains - 1)
    index = int(np.abs(means - np.median(means)).argmax())
    others = np.delete(late, index, axis=1) if chains > 2 else late
    noise = Noise.of(others - others.mean(axis=0))
    # What is taken off with a chain's own mean is missing in the covariance: the mean's own variance.
    lost = 1 - min(noise.time / rows, 0.9)
    error = noise.error(np.full(rows, 1 / rows), 1) / lost
    own = late[:, [index]]
    alone = Noise.of(own - own.mean())
    error = max(error, alone.error(np.full(rows, 1 / rows), 1) / (1 - min(alone.time / rows, 0.9)))
    if noise.independent < FEWEST_INDEPENDENT or not error > 0:
        return None
    sure = (
        probability(away[index] / (error * math.sqrt(chains / (chains - 1))), noise.independent / 2) * chains < CHANCE
    )
    size = abs(away[index])
    return (index, float(away[index])) if sure and size > APART * abs(x.mean()) else None


@dataclass(frozen=True)
class Start:
    """A fit of level + rise·exp(−t/time) to the mean of all chains.

    rise: of the first draw over the level; its error.  time: in draws.  chance: probability of such a rise by chance.
    """

    level: float
    rise: float
    error: float
    time: float
    chance: float
    rows: int

    @property
    def bias(self) -> float:
        """What the start adds to the mean of all draws."""
        return self.rise * self.time / self.rows * (1 - math.exp(-self.rows / self.time))

    @property
    def seen(self) -> bool:
        late = self.rise * math.exp(-self.rows / self.time)
        settled = abs(self.bias) > MATERIAL * abs(self.level)
        return self.chance < CHANCE and (settled or abs(late) > MATERIAL * abs(self.level))


def start_of(x: np.ndarray) -> Start | None:
    """The start that is best seen in [T, C]; None where the chains are too slow to tell."""
    rows, chains = x.shape
    mean, best = x.mean(axis=1), None
    for share in TIMES:
        time = share * rows
        shape = np.exp(-np.arange(rows) / time)
        basis = np.stack([np.ones(rows), shape], axis=1)
        weights = np.linalg.pinv(basis)
        level, rise = weights @ mean
        noise = Noise.of(x - (basis @ np.array([level, rise]))[:, None])
        if noise.independent < FEWEST_INDEPENDENT:
            continue
        error = noise.error(weights[1], chains) * math.sqrt(chains / max(chains - 1, 0.5))
        if not error > 0:
            continue
        chance = probability(rise / error, noise.independent - 3) * len(TIMES)
        if best is None or abs(rise / error) > abs(best.rise / best.error):
            best = Start(float(level), float(rise), error, time, chance, rows)
    return best


def burn_in(x: np.ndarray) -> tuple[Finding | None, Start | None]:
    """Whether draws before the chains had settled are part of the mean."""
    start = start_of(x)
    if start is None or not start.seen:
        return None, start
    way = "rising" if start.rise < 0 else "falling"
    if start.time >= 0.4 * len(x):
        return Flaw.NOT_SETTLED.found(way=way), start
    until = min(round(4 * start.time), len(x) - 1)
    return Flaw.BURN_IN.found(way=way, until=until, share=start.bias / abs(start.level or math.nan)), start
