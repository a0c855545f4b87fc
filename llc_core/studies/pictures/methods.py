"""Ways to get an ensemble of classifiers, each at the same number of gradients but for the two single models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from llc_core.decisions.named_agents import OpenContour
from llc_core.interactions.base import Interaction
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
    momentum: whether there is one.
    """

    noise: bool = True
    alone: bool = False
    linear: bool = False
    steady: bool = False
    momentum: bool = True
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


def _contour(settings: PictureSettings, steps: int) -> Interaction:
    low, high = settings.bin_edges
    return OpenContour(
        low=low, high=high, bins=settings.bins, zeta=settings.zeta, rate=settings.rate_of_theta, rate_power=0.0, rate_offset=1.0
    )  # fmt: skip


def _cycles(settings: PictureSettings, steps: int) -> Interaction:
    return Cyclical(length=max(2, steps // settings.cycles), keep=0.2)


def _ladder(settings: PictureSettings, steps: int) -> Interaction:
    return ReplicaExchange(levels=max(2, settings.chains), hottest=settings.hottest)


METHODS: Mapping[str, Method] = {
    "logistic regression": Method(noise=False, alone=True, linear=True),
    "SGD": Method(noise=False, alone=True),
    "deep ensemble": Method(noise=False),
    "SGLD": Method(momentum=False),
    "SGHMC": Method(),
    "cyclical SGHMC": Method(steady=True, interaction=_cycles),
    "replica exchange SGHMC": Method(interaction=_ladder),
    "ICSGHMC": Method(interaction=_contour),
}
"""Deng et al. 2022 compare SGD, cyclical and replica exchange SGHMC, ICSGHMC, and averages of weights (SWAG) that are not here.
Replica exchange here swaps by its exact rule on batches that the levels share; their released code swaps whenever the hotter loss is
lower, which is no rule of that kind."""
