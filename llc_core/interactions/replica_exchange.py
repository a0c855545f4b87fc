"""Replica exchange: copies at higher temperatures, which change places with those below. Long, since the swap stands here twice: as tensors
and for the compiled loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from llc_core.fields import hyper, numbers, short
from llc_core.interactions.base import Interaction, Layout, Seen, Shared, Twin
from llc_core.interactions.registry import register

MAX_LEVELS = 1000
CORRECTED_EVERY = 100
"""Steps after which the correction takes its next step."""


@register
@dataclass(frozen=True)
class ReplicaExchange(Interaction):
    """Every chain becomes a ladder of levels at nβ/T_j; neighbours swap with probability min(1, e^{(b_i − b_j)(L_i − L_j)}).

    Distribution: at every level that of the target at its nβ, so the first, T_1 = 1, is the target. The levels are the last field of
    the run's grid, and each gets an estimate of its own; ladders are independent, and errors count ladders.
    Only places change hands. Momenta and running means stay at their level, whose distribution they have.
    With losses of noise variance s² (of nβ_1·ΔL), the log-ratio is lowered by d²·s², d = 1/T_j − 1/T_i, which keeps the distribution of
    the swap; settings share their batches here, whose noise then mostly cancels, so that 0 is the default.
    Source: Swendsen & Wang 1986; even and odd pairs in turn: Syed, Bouchard-Côté, Deligiannidis & Doucet 2022; correction:
    Deng, Feng, Gao, Liang & Lin 2020.

    temperatures: [K] from 1 upwards; empty: `levels` of them, geometric from 1 to `hottest`. `adapted` moves them to equal rejection.
    correction, energy_variance: s² at first, and what it tends to by the steps 1/(k^0.6 + 100), every 100 steps.
    energy_samples: it tends to the sample variance of so many energies at each level's place but the hottest's, drawn again each time,
    in place of `energy_variance`; only `PlaneRun`, where noise is added to energies, can draw them.
    step_power: the step size of a level is that of the run times T^step_power.
    interval: steps between swaps.
    """

    temperatures: tuple[float, ...] = hyper((), read=numbers("a list such as [1, 3.5, 12]"))
    levels: int = hyper(
        4, 2, MAX_LEVELS, help="Levels of the ladder, geometric from 1 to the hottest. Each costs a gradient a step."
    )
    hottest: float = hyper(10.0, 1.0, 1e18, log=True, help="Temperature of the last level, where none are given.")
    swap: str = hyper(
        "even_odd", choices=("even_odd", "random"), help="Which pairs try: even and odd in turn, or at random."
    )
    interval: int = hyper(1, 1, 10**9, log=True, help="Steps between swaps.")
    correction: float = hyper(
        0.0, 0.0, 1e9, help="Variance of the energy's noise that swaps are corrected for at first; 0: no correction."
    )
    energy_variance: float = hyper(0.0, 0.0, 1e9, help="What the correction tends to.")
    energy_samples: int = hyper(
        0, 0, 10_000, help="Energies drawn again from which the correction learns; 0: a variance is given."
    )
    step_power: float = hyper(0.0, 0.0, 4.0, help="Step size of a level: that of the run times T to this power.")

    label: ClassVar[str] = "Replica exchange"
    across: ClassVar[str] = "levels"
    about: ClassVar[str] = (
        "Copies of a chain at higher temperatures cross barriers, and change places with the copies below them. The swap has an "
        "exact rule, so that the coldest copy samples the target."
    )
    source: ClassVar[str] = "Swendsen & Wang 1986; Syed et al. 2022"

    def agree(self) -> None:
        values = self.temperatures or tuple(float(t) for t in np.geomspace(1.0, self.hottest, self.levels))
        if len(values) < 2 or len(values) > MAX_LEVELS or values[0] != 1 or min(np.diff(values)) <= 0:
            raise ValueError(
                f"ReplicaExchange.temperatures is {short(list(values))}; give at least two that begin with 1 and rise."
            )
        if self.energy_samples == 1 or (self.energy_samples and (self.energy_variance or not self.correction)):
            raise ValueError(
                f"ReplicaExchange.energy_samples is {self.energy_samples}; give at least 2, a correction above 0 to begin with, and no "
                "energy_variance."
            )
        self._put("temperatures", values)
        self._put("levels", len(values))

    def members_of(self, chains: int, settings: int) -> int:
        return len(self.temperatures)

    def ladder(self, n_beta: float) -> tuple[float, ...]:
        """nβ of the levels, for the run's grid."""
        return tuple(n_beta / t for t in self.temperatures)

    def adapted(self, swap_rate: Any) -> ReplicaExchange:
        """This ladder with its temperatures moved to where all neighbours refuse equally often; its ends stay.

        swap_rate: [K − 1], or [G, K − 1] of which the mean is taken, from a first run: `Run.advance(…).observables["swap_rate"]`.
        The barrier Λ, the sum of the rates of rejection, is interpolated in log T and cut evenly. One round is rough where levels lie
        far apart; a second begins from a better ladder. ValueError where the rates are not those of this ladder.
        Source: Syed et al. 2022, algorithm 2.
        """
        rate = np.asarray(swap_rate, dtype=float)
        rate = rate.mean(axis=0) if rate.ndim == 2 and len(rate) else rate
        pairs = len(self.temperatures) - 1
        if rate.shape != (pairs,) or not ((rate >= 0) & (rate <= 1)).all():
            raise ValueError(f"swap_rate must be {pairs} numbers from 0 to 1, one for each pair of neighbours.")
        from scipy.interpolate import PchipInterpolator

        barrier = np.concatenate([[0.0], np.cumsum(np.maximum(1 - rate, 1e-3))])
        place = PchipInterpolator(barrier, np.log(self.temperatures))(np.linspace(0, barrier[-1], pairs + 1))
        inner = tuple(float(t) for t in np.exp(place[1:-1]))
        return self.replace(temperatures=(1.0, *inner, self.temperatures[-1]))

    # -- a step -------------------------------------------------------------------------------------------------------

    def init(self, layout: Layout) -> Shared:
        if self.energy_samples:
            raise ValueError(
                f"ReplicaExchange.energy_samples is {self.energy_samples}; energies are drawn again by PlaneRun alone: give energy_variance."
            )
        groups, members = layout.shape
        like = layout.n_beta
        return {
            "replica": torch.arange(members, device=like.device).expand(groups, members).clone(),
            "heading": torch.zeros(groups, members, dtype=torch.long, device=like.device),
            "round_trips": like.new_zeros(groups),
            "tried": like.new_zeros(groups, members - 1),
            "accepted": like.new_zeros(groups, members - 1),
        }

    def exchange(self, shared: Shared, seen: Seen, layout: Layout) -> tuple[Shared, Tensor | None]:
        if (seen.step + 1) % self.interval:
            return shared, None
        groups, members = layout.shape
        turn = (seen.step + 1) // self.interval
        pairs = torch.arange(members - 1, device=seen.loss.device)
        tries = (pairs % 2 == turn % 2).expand(groups, -1)
        if self.swap == "random":
            tries = (pairs % 2).double() == (seen.uniform[:, -1:] < 0.5).double()
        both = seen.alive[:, :-1] & seen.alive[:, 1:] & tries
        yes = both & (seen.uniform[:, :-1].log() < self.log_ratio(seen.loss, layout.n_beta, seen.step))
        # Where pair j swaps, place j takes j + 1 and place j + 1 takes j; the pairs that try have no member in common.
        none = yes.new_zeros(groups, 1)
        order = (
            torch.arange(members, device=yes.device)
            + torch.cat([yes, none], 1).long()
            - torch.cat([none, yes], 1).long()
        )
        return self._follow(shared, order, both, yes), order

    def log_ratio(self, loss: Tensor, n_beta: Tensor, step: int) -> Tensor:
        """[G, P − 1] log of the chance to swap levels j and j + 1."""
        apart = n_beta[:, :-1] - n_beta[:, 1:]
        share = apart / n_beta[:, :1]
        return apart * (loss[:, :-1] - loss[:, 1:]) - share * share * self.corrected(step)

    def corrected(self, step: int) -> float:
        """s² at this step."""
        left = np.prod([1 - rate_of_correction(k) for k in range(1, min(step // CORRECTED_EVERY, 100_000) + 1)])
        return float(self.energy_variance + (self.correction - self.energy_variance) * left) if self.correction else 0.0

    def learned(self, variance: float, energies: np.ndarray, look: int) -> float:
        """s² after energies [K − 1, energy_samples] drawn again at the levels' places, the time number `look`."""
        return variance + rate_of_correction(look) * (float(energies.var(axis=1, ddof=1).mean()) - variance)

    def _follow(self, shared: Shared, order: Tensor, tried: Tensor, accepted: Tensor) -> Shared:
        """The index process: a round trip leads from the coldest level to the hottest and back."""
        replica = shared["replica"].gather(1, order)
        heading = shared["heading"].clone()
        cold, hot = replica[:, :1], replica[:, -1:]
        back = heading.gather(1, cold) == -1
        heading = heading.scatter(1, hot, torch.where(heading.gather(1, hot) == 1, -1, heading.gather(1, hot)))
        heading = heading.scatter(1, cold, 1)
        return {
            "replica": replica,
            "heading": heading,
            "round_trips": shared["round_trips"] + back.squeeze(1).double(),
            "tried": shared["tried"] + tried.double(),
            "accepted": shared["accepted"] + accepted.double(),
        }

    def pace(self, step: int, layout: Layout) -> tuple[Tensor | float, Tensor | float]:
        if not self.step_power:
            return 1.0, 1.0
        return layout.n_beta.new_tensor([t**self.step_power for t in self.temperatures]).expand(layout.shape), 1.0

    # -- what there is to see -----------------------------------------------------------------------------------------

    def report(self, shared: Shared) -> dict[str, Tensor]:
        rate = shared["accepted"] / shared["tried"].clamp_min(1)
        return {"replica": shared["replica"], "round_trips": shared["round_trips"], "swap_rate": rate}

    def twin(self, n_beta: Any, burn_in: int) -> Twin | None:
        k = len(self.temperatures)
        learns = self.energy_samples > 0
        q = np.array([k, self.interval, self.swap == "random", self.correction, self.energy_variance, learns])
        # round trips, the correction itself where it learns and its product otherwise, replica, heading, tried, accepted
        first = self.correction if learns else 1.0
        vector = np.concatenate([[0.0, first], np.arange(k), np.zeros(k), np.zeros(2 * (k - 1))])
        return Twin(_step, q, vector)


def rate_of_correction(look: int) -> float:
    """Deng et al. 2022, D.2."""
    return float(1 / (look**0.6 + 100))


def _step(
    step: Any,
    losses: Any,
    n_beta: Any,
    alive: Any,
    uniform: Any,
    q: Any,
    vector: Any,
    order: Any,
    heat: Any,
    weight: Any,
) -> None:
    k, interval = int(q[0]), int(q[1])
    replica, heading = vector[2 : 2 + k], vector[2 + k : 2 + 2 * k]
    tried, accepted = vector[2 + 2 * k : 1 + 3 * k], vector[1 + 3 * k : 3 * k + k]
    for i in range(k):
        order[i] = i
        heat[i] = 1.0
        weight[i] = 1.0
    if not q[5] and step > 0 and step % CORRECTED_EVERY == 0:
        vector[1] *= 1 - 1 / ((step // CORRECTED_EVERY) ** 0.6 + 100)
    if (step + 1) % interval:
        return
    variance = vector[1] if q[5] else q[4] + (q[3] - q[4]) * vector[1] if q[3] > 0 else 0.0
    first = ((step + 1) // interval) % 2
    if q[2]:
        first = 1 if uniform[k - 1] < 0.5 else 0
    for j in range(first, k - 1, 2):
        if not (alive[j] and alive[j + 1]):
            continue
        tried[j] += 1
        apart = n_beta[j] - n_beta[j + 1]
        share = apart / n_beta[0]
        if np.log(uniform[j]) < apart * (losses[j] - losses[j + 1]) - share * share * variance:
            accepted[j] += 1
            order[j] = j + 1
            order[j + 1] = j
            held = replica[j]
            replica[j] = replica[j + 1]
            replica[j + 1] = held
    cold, hot = int(replica[0]), int(replica[k - 1])
    if heading[cold] == -1:
        vector[0] += 1
    if heading[hot] == 1:
        heading[hot] = -1
    heading[cold] = 1
