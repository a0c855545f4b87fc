"""Contour sampling: chains that flatten the energy, and pay it back by weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from llc_core.fields import hyper, numbers
from llc_core.interactions.base import Interaction, Layout, Seen, Shared, Twin
from llc_core.interactions.contour_loop import contour_step
from llc_core.interactions.registry import register

SMALLEST = 1e-300
PILOT_FLOOR = 1e-4
"""Added to a pilot's shares, so that no bin begins empty."""


@register
@dataclass(frozen=True)
class Contour(Interaction):
    """∇L is multiplied by 1 + ζ·d log θ/dE, E = nβ·ΔL, where θ(J) learns the mass of the energy's J-th bin.

    Distribution: ∝ exp(−U)/θ(J)^ζ, whose weighted averages, with weights θ(J)^ζ, are those of the target. The members of a group
    share θ: θ ← θ + ω·mean_p θ(J_p)^a·(e_{J_p} − θ), with a = 1 in the new field and a = ζ in the old one. With a = 1 its
    fixed point is (mass of the bin)^{1/ζ}, normalised, where bins are fine; coarse ones have another one.
    One member and the old field are CSGLD; several and the new one ICSGLD.
    Source: Deng, Liang, Hao, Lin & Liang 2022, eqs. 2 to 5, 8, 9 and 15 to 17; Deng, Lin & Liang 2020 (CSGLD).

    low, high: of the bins, in units of E; energies outside belong to the outermost bins.
    theta: what θ begins with; empty: uniform, or what a pilot of so many first steps saw, which do not flatten.
    rate, rate_power, rate_offset: ω_k = min(rate, 1/(k^rate_power + rate_offset)); rate = 0 leaves θ as it is.
    """

    low: float = hyper(0.0, -1e9, 1e9, help="Lower edge of the energy's bins, in units of nβ·ΔL.")
    high: float = hyper(12.5, -1e9, 1e9, help="Upper edge of the energy's bins, in units of nβ·ΔL.")
    bins: int = hyper(100, 2, 1_000_000, help="Bins of the energy, each with its own θ.")
    scale: str = hyper("linear", choices=("linear", "log"), help="Bins of equal width in E or in log E.")
    zeta: float = hyper(0.75, 0.0, 1e7, symbol=r"\zeta", help="How flat: 0 is no flattening, 1 visits all bins alike.")
    members: int = hyper(0, 0, 100_000)
    field: str = hyper("new", choices=("new", "old"), help="Weight of an update: θ(J), or θ(J) to the power ζ.")
    difference: str = hyper(
        "backward", choices=("backward", "forward"), help="Which neighbour the slope of log θ takes."
    )
    clip: float = hyper(0.0, 0.0, 1e6, help="The multiplier stays within ± this; 0: it is not bounded.")
    rate: float = hyper(3e-3, 0.0, 0.5, symbol=r"\omega", help="Largest step of θ; 0 leaves it as it begins.")
    rate_power: float = hyper(0.6, 0.0, 1.0, help="How fast the steps of θ fall.")
    rate_offset: float = hyper(100.0, 1.0, 1e9, help="Steps of θ are at most 1 over this.")
    pilot: int = hyper(0, 0, 10**9, help="First steps that do not flatten, from whose visits θ begins; 0: uniform θ.")
    freeze: str = hyper("after_burn_in", choices=("after_burn_in", "never"), help="When θ stops learning.")
    theta: tuple[float, ...] = hyper((), read=numbers("a list of as many numbers as there are bins"))

    label: ClassVar[str] = "Contour sampling"
    about: ClassVar[str] = (
        "The chains of a group learn together how much mass each level of the energy has. They move as if "
        "every level had the same. Where the estimate of the mass falls, the force turns round and carries a "
        "chain out of its basin. Weights give back the target."
    )
    source: ClassVar[str] = "Deng, Liang, Hao, Lin & Liang 2022; Deng, Lin & Liang 2020"

    def agree(self) -> None:
        if self.low >= self.high:
            raise ValueError(f"Contour.low is {self.low:g}; it must be below high, {self.high:g}.")
        if self.scale == "log" and self.low <= 0:
            raise ValueError(f"Contour.low is {self.low:g}; bins of log E need a low above 0, for example 1e-6.")
        if self.theta and (len(self.theta) != self.bins or min(self.theta) <= 0):
            raise ValueError(
                f"Contour.theta has {len(self.theta)} numbers; give {self.bins}, one for each bin, all above 0."
            )

    @property
    def width(self) -> float:
        """Of a bin, in E or in log E."""
        if self.scale == "log":
            return math.log(self.high / self.low) / self.bins
        return (self.high - self.low) / self.bins

    @property
    def edges(self) -> np.ndarray:
        """[bins + 1] in units of E."""
        space = np.geomspace if self.scale == "log" else np.linspace
        return space(self.low, self.high, self.bins + 1)

    def members_of(self, chains: int, settings: int) -> int:
        members = self.members or chains
        if chains % members:
            raise ValueError(
                f"chains is {chains}, which groups of {members} members do not fill; use a multiple of members."
            )
        return members

    def largest_heat(self) -> float | None:
        return max(self.clip, 1.0) if self.clip else None

    # -- a step -------------------------------------------------------------------------------------------------------

    def init(self, layout: Layout) -> Shared:
        groups, members = layout.shape
        like = layout.n_beta
        first = like.new_tensor(self.theta) if self.theta else like.new_full((self.bins,), 1 / self.bins)
        return {
            "theta": first.expand(groups, self.bins).clone(),
            "visits": like.new_zeros(groups, self.bins),
            "bin": torch.zeros(groups, members, dtype=torch.long, device=like.device),
            "energy": like.new_zeros(groups, members),
            "flat": like.new_zeros(()),
        }

    def bin_of(self, energy: Tensor) -> Tensor:
        """J from 0, of E in any shape: u_J < E ≤ u_{J+1}."""
        if self.scale == "log":
            place = (energy.clamp_min(SMALLEST).log() - math.log(self.low)) / self.width
        else:
            place = (energy - self.low) / self.width
        return (place.ceil() - 1).clamp(0, self.bins - 1).long()

    def exchange(self, shared: Shared, seen: Seen, layout: Layout) -> tuple[Shared, Tensor | None]:
        theta, visits, bins = shared["theta"], shared["visits"], self.bin_of(seen.energy)
        learns = self.freeze == "never" or seen.step < layout.burn_in
        # Sums over one-hot rows: scatter adds in any order on some devices.
        hits = (bins.unsqueeze(2) == torch.arange(self.bins, device=bins.device)).to(theta)
        hits = hits * seen.alive.unsqueeze(2)
        if seen.step < self.pilot:
            if seen.step >= self.pilot // 4:
                visits = visits + hits.sum(dim=1)
        else:
            if seen.step == self.pilot and self.pilot:
                theta = visits / visits.sum(dim=1, keepdim=True).clamp_min(1) + PILOT_FLOOR
            if learns and self.rate > 0:
                theta = theta + self._rate(seen.step) * self._pull(theta, bins, hits, seen.alive)
        flat = theta.new_tensor(0.0 if seen.step < self.pilot else 1.0)
        return {"theta": theta, "visits": visits, "bin": bins, "energy": seen.energy, "flat": flat}, None

    def _pull(self, theta: Tensor, bins: Tensor, hits: Tensor, alive: Tensor) -> Tensor:
        weight = theta.gather(1, bins) ** (1.0 if self.field == "new" else self.zeta) * alive
        living = alive.sum(dim=1, keepdim=True).clamp_min(1)
        return ((weight.unsqueeze(2) * hits).sum(dim=1) - weight.sum(dim=1, keepdim=True) * theta) / living

    def _rate(self, step: int) -> float:
        return min(self.rate, 1 / ((step - self.pilot + 1) ** self.rate_power + self.rate_offset))

    def heat(self, shared: Shared, layout: Layout) -> Tensor | None:
        theta, bins = shared["theta"], shared["bin"]
        log = theta.clamp_min(SMALLEST).log()
        if self.difference == "backward":
            rise = log.gather(1, bins) - log.gather(1, (bins - 1).clamp_min(0))
        else:
            rise = log.gather(1, (bins + 1).clamp_max(self.bins - 1)) - log.gather(1, bins)
        slope = rise / self.width
        if self.scale == "log":
            slope = slope / shared["energy"].clamp(self.low, self.high)
        heat = 1 + shared["flat"] * self.zeta * slope
        return heat.clamp(-self.clip, self.clip) if self.clip else heat

    def log_weight(self, step: int, shared: Shared, layout: Layout) -> Tensor | None:
        return self.zeta * shared["theta"].clamp_min(SMALLEST).log().gather(1, shared["bin"])

    # -- what there is to see -----------------------------------------------------------------------------------------

    def report(self, shared: Shared) -> dict[str, Tensor]:
        return {"theta": shared["theta"]}

    def caveat(self) -> str:
        if self.freeze == "never":
            return "θ goes on learning after burn-in, so weights of another θ mix; use freeze='after_burn_in'."
        return ""

    def twin(self, n_beta: Any, burn_in: int) -> Twin | None:
        stop = np.inf if self.freeze == "never" else burn_in
        log = self.scale == "log"
        low = math.log(self.low) if log else self.low
        numbers = [self.bins, low, self.width, self.zeta, self.field == "new", self.difference == "backward", self.clip]
        numbers += [self.rate, self.rate_power, self.rate_offset, self.pilot, stop, log, self.low, self.high]
        theta = np.array(self.theta) if self.theta else np.full(self.bins, 1 / self.bins)
        return Twin(contour_step, np.array(numbers, dtype=float), np.concatenate([theta, np.zeros(self.bins)]))
