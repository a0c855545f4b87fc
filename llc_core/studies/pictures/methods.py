"""Ways to get an ensemble of classifiers, each at the same number of gradients but for the two single models."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from llc_core.decisions.named_agents import OpenContour
from llc_core.fields import hyper
from llc_core.interactions.base import Interaction, Layout, Seen, Shared, Twin
from llc_core.interactions.contour import SMALLEST
from llc_core.interactions.cyclical import Cyclical
from llc_core.interactions.replica_exchange import ReplicaExchange
from llc_core.networks.published import PictureSettings
from llc_core.samplers.base import Sampler
from llc_core.samplers.sgld import SGLD
from llc_core.studies.pictures.momentum import MomentumFirst


@dataclass(frozen=True)
class Method:
    """noise: whether steps have the noise of a sampler; without it they are SGD's.  alone: one network and no ensemble.
    linear: logistic regression in place of the network.  interaction: of the chains, from the settings and the steps of all epochs.
    steady: the step size does not fall at the milestones, since the interaction has a schedule of its own.
    momentum: whether there is one.  long: one chain over the epochs of all chains.  averages: networks are drawn from Gaussians around
    the ways (SWAG).  heats_decay: what the interaction multiplies the loss's slope by, it multiplies that of the decay by too.
    """

    noise: bool = True
    alone: bool = False
    linear: bool = False
    steady: bool = False
    momentum: bool = True
    long: bool = False
    averages: bool = False
    heats_decay: bool = False
    interaction: Callable[[PictureSettings, int], Interaction] | None = None

    def sampler(self, settings: PictureSettings) -> Sampler:
        """For U/T, so with the step size ε·T."""
        step = settings.step_size * settings.temperature
        if self.momentum and settings.momentum > 0:
            return MomentumFirst(step_size=step, friction=1 - settings.momentum)
        return SGLD(step_size=2 * step / (1 - settings.momentum))  # as far as momentum carries; its convention has ε/2

    @property
    def ensemble(self) -> bool:
        return not self.alone

    def networks(self, settings: PictureSettings) -> int:
        """Side by side."""
        return 1 if self.alone or self.long else settings.chains

    def epochs(self, settings: PictureSettings) -> int:
        return settings.epochs * (settings.chains if self.long else 1)


@dataclass(frozen=True)
class TailCycles(Cyclical):
    """Cycles whose step falls along the cosine until the last `tail` of each, and then stays; states count there and nowhere else.

    Source: Deng, Liang, Hao, Lin & Liang 2022, D.4.
    """

    tail: float = hyper(0.15, 0.0, 1.0, open_low=True, open_high=True)

    def in_tail(self, step: int) -> bool:
        return step % self.length >= (1 - self.tail) * self.length

    def share(self, step: int) -> float:
        return 0.5 * (math.cos(math.pi * min(step % self.length / self.length, 1 - self.tail)) + 1)

    def log_weight(self, step: int, shared: Shared, layout: Layout) -> Tensor | None:
        return layout.n_beta.new_full(layout.shape, 0.0 if self.in_tail(step) else -math.inf)


@dataclass(frozen=True)
class LessOften(ReplicaExchange):
    """Replicas that swap as if the hotter one's energy were larger by `margin`, in units of U/T: noise of batches lets others swap too often.

    Distribution: none exactly, but for energies with as much noise. Source: Deng et al. 2022, D.4, where it is the correction.
    """

    margin: float = hyper(0.0, 0.0)

    def log_ratio(self, loss: Tensor, n_beta: Tensor, step: int) -> Tensor:
        apart = (n_beta[:, :-1] - n_beta[:, 1:]) / n_beta[:, :1]
        return super().log_ratio(loss, n_beta, step) - apart * self.margin

    def twin(self, n_beta: Any, burn_in: int) -> Twin | None:
        return None


@dataclass(frozen=True)
class ReleasedContour(OpenContour):
    """Contour sampling from the step `begins` on, whose draws weigh θ(J) in place of θ(J)^ζ.

    Source: released code of Deng et al. 2022 (resnet100_cifar100), by whose words ζ can be too large for the exact weights.
    """

    begins: int = hyper(0, 0)

    def exchange(self, shared: Shared, seen: Seen, layout: Layout) -> tuple[Shared, Tensor | None]:
        if seen.step >= self.begins:
            return super().exchange(shared, seen, layout)
        return {**shared, "counts": torch.zeros_like(shared["counts"])}, None

    def log_weight(self, step: int, shared: Shared, layout: Layout) -> Tensor | None:
        """What no energy was counted for weighs nothing, before `begins` too."""
        theta = shared["theta"].clamp_min(SMALLEST).log().gather(1, shared["bin"])
        return torch.where(shared["counts"], theta, torch.full_like(theta, -torch.inf))


def released_contour(settings: PictureSettings, steps: int) -> Interaction:
    low, high = settings.released_edges
    return ReleasedContour(
        low=low, high=high, bins=settings.bins, zeta=settings.zeta, rate=settings.rate_released, rate_power=0.0, rate_offset=1.0,
        clip=5.0, begins=round(settings.begins * steps),
    )  # fmt: skip


def contour_of(settings: PictureSettings, steps: int) -> Interaction:
    low, high = settings.bin_edges
    return OpenContour(
        low=low, high=high, bins=settings.bins, zeta=settings.zeta, rate=settings.rate_of_theta, rate_power=0.0, rate_offset=1.0
    )  # fmt: skip


def _cycles(settings: PictureSettings, steps: int) -> Interaction:
    return Cyclical(length=max(2, steps // settings.cycles), keep=0.2)


def _ladder(settings: PictureSettings, steps: int) -> Interaction:
    return ReplicaExchange(levels=max(2, settings.chains), hottest=settings.hottest)


def _one_cycle(settings: PictureSettings, steps: int) -> Interaction:
    return Cyclical(length=max(2, steps), keep=1.0)


def _tails(settings: PictureSettings, steps: int) -> Interaction:
    return TailCycles(length=max(2, steps // settings.cycles), tail=settings.tail)


def _corrected(settings: PictureSettings, steps: int) -> Interaction:
    margin = settings.correction / settings.temperature
    return LessOften(levels=max(2, settings.chains), hottest=settings.hottest, margin=margin)


METHODS: Mapping[str, Method] = {
    "logistic regression": Method(noise=False, alone=True, linear=True),
    "SGD": Method(noise=False, alone=True),
    "deep ensemble": Method(noise=False),
    "SGLD": Method(momentum=False),
    "SGHMC": Method(),
    "cyclical SGHMC": Method(steady=True, interaction=_cycles),
    "replica exchange SGHMC": Method(interaction=_ladder),
    "ICSGHMC": Method(interaction=contour_of),
    "ICSGHMC, released": Method(interaction=released_contour, heats_decay=True),
    "M-SGD": Method(noise=False, steady=True, interaction=_one_cycle),
    "cycSGHMC": Method(steady=True, long=True, interaction=_tails),
    "reSGHMC": Method(interaction=_corrected),
    "cycSWAG": Method(noise=False, steady=True, long=True, averages=True, interaction=_tails),
    "MultiSWAG": Method(noise=False, averages=True),
}
"""The last five, SGHMC and ICSGHMC are those of Deng et al. 2022, Table 1, as it prints them. Replica exchange swaps by the rule for N·L alone,
without the decay, on batches that the levels share, and reSGHMC with the printed correction; their released code swaps whenever the hotter
loss is lower, which is no rule of that kind."""
