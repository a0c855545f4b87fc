"""The No-U-Turn sampler as a reference: exact gradients, no step size to choose, all chains side by side. Long, since a trajectory, its
turns and its step size are read together.

A trajectory is doubled, forward or backward in time, until its two ends come nearer to each other or a half of it would. Chains do not
wait for each other: each begins its next trajectory when the last one is done.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
import torch

from llc_core.compute.precision import EXACT
from llc_core.compute.streams import numpy_stream
from llc_core.config import MAX_STEPS, RunConfig
from llc_core.engine.summary import Chains, make_estimate
from llc_core.engine.target import Target
from llc_core.fields import whole
from llc_core.potentials.base import Potential
from llc_core.results import Estimate

START_SPREAD = 1e-2
FIRST_STEP = 0.1
"""Of the leapfrog steps, before any was tried."""
WANTED = 0.95
"""Mean acceptance at which steps are held. Arms of a cross grow thin far out: at the usual 0.8 longer steps miss them, and λ̂ of w₁w₂ was
.016 ± .005 below quadrature, at 0.95 .006 ± .004 above."""
DEEPEST = 10
"""Doublings of one trajectory at most."""
DIVERGENT = 1000.0
"""A trajectory ends where the energy has risen by more."""
MAX_DIM = 5_000
"""Trees have up to 2¹⁰ gradients on all data: larger problems would take hours."""
ONES = np.array([number.bit_count() for number in range(1 << DEEPEST)])
TAIL = np.array([(~number & number + 1).bit_length() - 1 for number in range(1 << DEEPEST)])
"""Of each number, how many of its binary digits are 1, and how many of those that come last."""


@dataclass(frozen=True)
class Draws:
    """places: w − w0, [steps, C, D].  losses: ΔL on each chain's data there, [steps, C].  divergences: trajectories that were cut off.
    config: what ran, with nβ and γ as numbers."""

    places: np.ndarray
    losses: np.ndarray
    divergences: int
    config: RunConfig
    seconds: float


def nuts_reference(
    problem: Potential,
    *,
    chains: int = 4,
    steps: int = 1000,
    warmup: int = 300,
    n_beta: float | None = None,
    localization: float | None = None,
    seed: int = 0,
) -> Estimate:
    """λ̂ of the localised posterior by NUTS, in float64 on all data.

    Returns an `Estimate` whose trace holds nβ·ΔL after each of `steps` steps; `diagnostics["divergences"]` counts
    trajectories that were cut off. With several data sets, `chains` is a multiple of their number.
    Source: Hoffman & Gelman 2014, with multinomial weights as in Betancourt 2017.
    """
    return estimate_of(
        problem,
        nuts_draws(
            problem,
            chains=chains,
            steps=steps,
            warmup=warmup,
            n_beta=n_beta,
            localization=localization,
            seed=seed,
        ),
    )


def nuts_draws(
    problem: Potential,
    *,
    chains: int = 4,
    steps: int = 1000,
    warmup: int = 300,
    n_beta: float | None = None,
    localization: float | None = None,
    seed: int = 0,
) -> Draws:
    """As `nuts_reference`, with the places themselves.

    warmup: steps, which are not kept, in which each chain's step size is adapted. All parameters have the mass 1.
    """
    if not isinstance(problem, Potential):
        raise ValueError(f"problem must be a potential, not a {type(problem).__name__}.")
    if problem.problems > 1:
        raise ValueError(f"problem has {problem.problems} networks side by side; give one, such as problem.member(0).")
    if problem.dim > MAX_DIM:
        raise ValueError(f"problem has {problem.dim:,} parameters; the NUTS reference takes at most {MAX_DIM:,}.")
    steps, warmup = whole("steps", steps, 2, MAX_STEPS), whole("warmup", warmup, 1, MAX_STEPS)
    config = RunConfig(
        problem=problem.to_dict(),
        sampler={"name": "NUTS", "warmup": warmup},
        gradient="full",
        n_beta=problem.n_beta if n_beta is None else n_beta,
        localization=problem.localization if localization is None else localization,
        chains=chains,
        steps=steps,
        burn_in=0,
        seed=seed,
        device="cpu",
        dtype="float64",
    )
    assert config.n_beta is not None and config.localization is not None
    column = torch.ones(config.chains, 1, **EXACT)
    law = Law(Target(problem, config.n_beta * column, config.localization * column))
    started = time.perf_counter()
    random = numpy_stream(config.seed, "nuts")
    first = np.asarray(problem.start or [0.0] * problem.dim)
    walk = _Walk(law, first + START_SPREAD * random.standard_normal((config.chains, problem.dim)), random, warmup)
    places = np.empty((steps, config.chains, problem.dim))
    losses = np.empty((steps, config.chains))
    while (walk.done < warmup + steps).any():
        for chain in walk.advance():
            step = walk.done[chain] - 1 - warmup
            if 0 <= step < steps:
                places[step, chain], losses[step, chain] = walk.at[chain], walk.loss[chain]
    return Draws(places, losses, walk.divergences, config, time.perf_counter() - started)


def estimate_of(problem: Potential, draws: Draws) -> Estimate:
    """The estimate that draws make."""
    config = draws.config
    assert config.n_beta is not None and config.localization is not None
    trace = draws.losses * config.n_beta
    steps, chains = trace.shape
    seen = Chains(
        per_chain=trace.mean(axis=0),
        living=np.ones(chains, dtype=bool),
        trace=trace,
        trace_steps=np.arange(steps),
        n_beta=config.n_beta,
        localization=config.localization,
        steps=steps,
        burn_in=0,
        seconds=draws.seconds,
        steps_per_second=chains * steps / max(draws.seconds, 1e-9),
    )
    return make_estimate(problem, config, seen, measured={"divergences": float(draws.divergences)})


@dataclass(frozen=True)
class Law:
    """U and its gradient for C chains, as arrays."""

    target: Target

    def __call__(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """U [C], ∇U [C, D] and ΔL [C] at places [C, D]."""
        energy = self.target.evaluate(torch.from_numpy(places.copy()), None)
        return energy.potential[:, 0].numpy(), energy.force.numpy(), energy.excess_loss.numpy()


@dataclass
class _Steps:
    """Dual averaging of log ε for each chain, [C] each. Source: Hoffman & Gelman 2014, equation 6."""

    log: np.ndarray
    center: np.ndarray = field(init=False)
    mean: np.ndarray = field(init=False)
    lack: np.ndarray = field(init=False)
    count: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.center, self.mean = self.log + np.log(10), self.log.copy()
        self.lack, self.count = np.zeros_like(self.log), np.zeros_like(self.log)

    def take(self, some: np.ndarray, acceptance: np.ndarray) -> None:
        self.count[some] += 1
        t = self.count[some]
        self.lack[some] += (WANTED - acceptance - self.lack[some]) / (t + 10)
        self.log[some] = self.center[some] - np.sqrt(t) / 0.05 * self.lack[some]
        share = t**-0.75
        self.mean[some] = share * self.log[some] + (1 - share) * self.mean[some]

    def settle(self, some: np.ndarray) -> None:
        self.log[some] = self.mean[some]


class _Walk:
    """All chains, each somewhere on its own trajectory.

    at, loss: where each chain is, [C, D] and [C].  done: its finished trajectories, [C].  Ends of a trajectory are kept as [2, C, D],
    the earlier one first. A half that is being made has checkpoints, the leaves at which smaller halves of it began: that is all that
    the test of their turns needs (Phan, Pradhan & Jankowiak 2019, algorithm 2).
    """

    def __init__(self, law: Law, at: np.ndarray, random: np.random.Generator, warmup: int):
        self.law, self.random, self.warmup, self.at = law, random, warmup, at
        count, dim = at.shape
        self.potential, self.force, self.loss = law(at)
        self.done, self.divergences = np.zeros(count, dtype=int), 0
        self.steps = _Steps(np.full(count, np.log(FIRST_STEP)))
        self.z, self.r, self.f = (np.zeros((2, count, dim)) for _ in range(3))
        self.first = np.zeros(count)
        self.weight, self.depth = np.zeros(count), np.zeros(count, dtype=int)
        self.total = np.zeros((count, dim))
        self.tried, self.accepted = np.zeros(count), np.zeros(count)
        # of the half that is being made
        self.side, self.leaf = np.zeros(count, dtype=int), np.zeros(count, dtype=int)
        self.moving = [np.zeros((count, dim)) for _ in range(3)]
        self.half, self.half_total = np.zeros(count), np.zeros((count, dim))
        self.chosen, self.chosen_at = (np.zeros(count), np.zeros(count), np.zeros((count, dim))), np.zeros((count, dim))
        self.kept_r, self.kept_total = (np.zeros((DEEPEST, count, dim)) for _ in range(2))
        self._begin(np.arange(count))

    def _begin(self, some: np.ndarray) -> None:
        """New momenta and an empty trajectory."""
        momentum = self.random.standard_normal((len(some), self.at.shape[1]))
        self.first[some] = self.potential[some] + np.square(momentum).sum(axis=1) / 2
        for end in (0, 1):
            self.z[end, some], self.r[end, some], self.f[end, some] = self.at[some], momentum, self.force[some]
        self.total[some] = momentum
        self.weight[some] = self.depth[some] = self.tried[some] = self.accepted[some] = 0
        self._double(some)

    def _double(self, some: np.ndarray) -> None:
        """Choose a side, and begin there at the end of what is there."""
        side = self.random.integers(0, 2, len(some))
        self.side[some], self.leaf[some], self.half[some], self.half_total[some] = side, 0, -np.inf, 0
        for moving, ends in zip(self.moving, (self.z, self.r, self.f), strict=True):
            moving[some] = ends[side, some]

    def advance(self) -> np.ndarray:
        """One leapfrog step of every chain; returns the chains whose trajectory is finished."""
        z, r, f = self.moving
        step = np.exp(self.steps.log)[:, None] * (2 * self.side - 1)[:, None]
        r -= step / 2 * f
        z += step * r
        with np.errstate(all="ignore"):
            potential, force, loss = self.law(z)
            r -= step / 2 * force
            rise = potential + np.square(r).sum(axis=1) / 2 - self.first
        f[:] = force
        rise = np.where(np.isfinite(rise), rise, np.inf)
        divergent = rise > DIVERGENT
        self.tried += 1
        self.accepted += np.exp(-np.maximum(rise, 0))
        self.half_total += r
        self.half = np.logaddexp(self.half, -rise)
        with np.errstate(invalid="ignore"):
            taken = np.flatnonzero(np.log(self.random.random(len(z))) < -rise - self.half)
        for kept, new in zip((*self.chosen, self.chosen_at), (potential, loss, force, z), strict=True):
            kept[taken] = new[taken]
        bad = divergent | self._turned(r)
        self.leaf += 1
        whole_half = np.flatnonzero(~bad & (self.leaf == 1 << self.depth))
        ended = np.flatnonzero(bad)
        self.divergences += int(divergent.sum())
        if len(whole_half):
            ended = np.concatenate([ended, self._joined(whole_half)])
        if len(ended):
            self._finished(ended)
        return ended

    def _turned(self, r: np.ndarray) -> np.ndarray:
        """Whether a smaller half that ends at this leaf has turned, [C]."""
        turned = np.zeros(len(r), dtype=bool)
        place, ones = ONES[self.leaf >> 1], TAIL[self.leaf]
        even = np.flatnonzero(self.leaf % 2 == 0)
        self.kept_r[place[even], even], self.kept_total[place[even], even] = r[even], self.half_total[even]
        # as many halves end at a leaf as its number has ones at its end
        for back in range(int(ones.max(initial=0))):
            some = np.flatnonzero(ones > back)
            at = place[some] - back
            begin = self.kept_r[at, some]
            total = self.half_total[some] - self.kept_total[at, some] + begin
            turned[some] |= turns(begin, r[some], total)
        return turned

    def _joined(self, some: np.ndarray) -> np.ndarray:
        """Add halves that are whole to their trajectories; returns the chains whose trajectory ends there."""
        better = np.log(self.random.random(len(some))) < self.half[some] - self.weight[some]
        moved = some[better]
        self.at[moved] = self.chosen_at[moved]
        for own, new in zip((self.potential, self.loss, self.force), self.chosen, strict=True):
            own[moved] = new[moved]
        self.weight[some] = np.logaddexp(self.weight[some], self.half[some])
        self.total[some] += self.half_total[some]
        for ends, moving in zip((self.z, self.r, self.f), self.moving, strict=True):
            ends[self.side[some], some] = moving[some]
        self.depth[some] += 1
        over = turns(self.r[0, some], self.r[1, some], self.total[some]) | (self.depth[some] == DEEPEST)
        if not over.all():
            self._double(some[~over])
        return np.asarray(some[over])

    def _finished(self, some: np.ndarray) -> None:
        self.done[some] += 1
        done = self.done[some]
        warm = some[done <= self.warmup]
        if len(warm):
            self.steps.take(warm, self.accepted[warm] / self.tried[warm])
            self.steps.settle(warm[self.done[warm] == self.warmup])
        self._begin(some)


def turns(one: np.ndarray, other: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Whether an end of a stretch moves towards the other one, [C].

    one, other: momenta at its ends, [C, D].  total: sum of the momenta of all its leaves. Half of each end is left out of it, so that it is
    the way between them (Betancourt 2017, appendix A.4.2).
    """
    along = total - (one + other) / 2
    return np.asarray(((one * along).sum(axis=1) <= 0) | ((other * along).sum(axis=1) <= 0))
