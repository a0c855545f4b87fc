"""Networks and numbers of Deng et al. 2022 for pictures, by name. They are what the paper states, but for
those that `PictureSettings` names; nothing here was run at that size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from llc_core.fields import Settings, choice, field_names, hyper, known_keys, whole

SIZES = ("paper", "small")


@dataclass(frozen=True)
class PictureSettings(Settings):
    """What a table of pictures runs with; `llc_core.studies.pictures` uses every field.

    description: of the network, for `build_model`.  step_size, momentum: of SGHMC, in the paper's convention w ← w − ε∇U with
    U = N·L + (decay/2)‖w‖².  The step size is multiplied by `factor` at each of the epochs `milestones`.  temperature: T of
    exp(−U/T).  zeta, bins, bin_width, rate_of_theta: of contour sampling; the width in units of U.
    lowest, rate_released, begins: what contour sampling has in the released code in place of 0, `rate_of_theta` and the first epoch:
    the lower edge of its bins in units of U, the rate of θ, and the share of the epochs after which it begins.
    chains: networks side by side.  batch_size: of a step.  cycles: of cyclical steps.  augment: shift and mirror pictures while
    learning.
    erase: put random rectangles into pictures.  tail: share of a cycle, at its end, in which the steps of cycles stay as they are and networks
    count.  correction: of swaps, in units of U.  reduced_from, reduced_every: from that epoch on, and so often, energies of chains that
    interact get new anchors, which take most of the batches' noise out of them; 0: never.
    The paper states those, but for momentum, `factor`, decay and rate_of_theta on CIFAR; the following are this project's own choices too.
    draws_from: the epoch from which on the ends of epochs count.  hottest: of replica exchange, in units of T.
    Source: Deng, Liang, Hao, Lin & Liang 2022, section 5.4 and D.4.
    """

    description: Mapping[str, Any]
    epochs: int = hyper(500, 1)
    step_size: float = hyper(2e-6, 0.0, open_low=True)
    momentum: float = hyper(0.9, 0.0, 1.0, open_high=True)
    temperature: float = hyper(3e-4, 0.0, open_low=True)
    milestones: tuple[int, ...] = hyper((250, 375), read=lambda label, value: tuple(whole(label, e, 0) for e in value))
    factor: float = hyper(0.2, 0.0, open_low=True)
    zeta: float = hyper(3e6, 0.0, 1e9, open_high=True)
    bins: int = hyper(200, 2)
    bin_width: float = hyper(200.0, 0.0, open_low=True)
    rate_of_theta: float = hyper(0.01, 0.0, 1.0, open_high=True)
    lowest: float = hyper(0.0, 0.0, 1e9)
    rate_released: float = hyper(0.003, 0.0, 1.0, open_high=True)
    begins: float = hyper(0.75, 0.0, 1.0, open_high=True)
    decay: float = hyper(25.0, 0.0, 1e9, open_high=True)
    chains: int = hyper(4, 1)
    batch_size: int = hyper(256, 1)
    draws_from: int = hyper(375, 0)
    cycles: int = hyper(10, 1)
    hottest: float = hyper(10.0, 1.0, open_low=True)
    augment: bool = hyper(True)
    erase: bool = hyper(False)
    tail: float = hyper(0.15, 0.0, 1.0, open_low=True, open_high=True)
    correction: float = hyper(4000.0, 0.0)
    reduced_from: int = hyper(0, 0)
    reduced_every: int = hyper(2, 1)

    def agree(self) -> None:
        if self.draws_from >= self.epochs:
            raise ValueError(f"draws_from is {self.draws_from}; it must be less than epochs, {self.epochs}.")

    def rate(self, epoch: int) -> float:
        """The step size in an epoch, counted from 0."""
        return self.step_size * self.factor ** sum(epoch >= each for each in self.milestones)

    def model(self, classes: int = 100) -> dict[str, Any]:
        """For `build_model`."""
        return {**self.description, "classes": classes}

    @property
    def bin_edges(self) -> tuple[float, float]:
        """Lowest and highest energy of the contour's bins, in units of U/T as interactions have it."""
        return 0.0, self.bins * self.bin_width / self.temperature

    @property
    def released_edges(self) -> tuple[float, float]:
        """The same in the released code."""
        return tuple((self.lowest + k * self.bin_width) / self.temperature for k in (0, self.bins))  # type: ignore[return-value]

    def replace(self, **changes: Any) -> PictureSettings:
        """With other fields; ValueError with one sentence for a name or value that there is not."""
        known_keys("the settings of pictures", changes, set(field_names(self)) - {"description"})
        return super().replace(**changes)


PUBLISHED: Mapping[str, PictureSettings] = {
    "ResNet-20": PictureSettings({"kind": "resnet", "depth": 20}, lowest=2e4),
    "ResNet-32": PictureSettings({"kind": "resnet", "depth": 32}, lowest=2e4),
    "ResNet-56": PictureSettings({"kind": "resnet", "depth": 56}, lowest=1e4),
    "WRN-16-8": PictureSettings(
        {"kind": "wide_resnet", "depth": 16, "factor": 8}, bin_width=60.0, correction=1000.0, begins=0.8
    ),
}
"""By the names of the paper's tables."""

_NARROW = {"channels": 1, "side": 8, "width": 4, "norm": "group"}


def _small(name: str) -> PictureSettings:
    """The same depth, narrow, with group norms, which do not mix the pictures of a batch; for some hundred pictures of 8 × 8 pixels on
    a CPU. ε·N, decay/N and the milestones as shares of the epochs are those of the paper on 50,000 pictures, and so is ζ·T over the width, but
    for WRN-16-8, which has that of the others."""
    own = {**PUBLISHED[name].description, **_NARROW}
    if "factor" in own:
        own["factor"] = 2
    return PictureSettings(
        own, epochs=40, step_size=1.4e-4, milestones=(20, 30), draws_from=30, bin_width=5.0, zeta=75_000.0, decay=0.36,
        batch_size=64, cycles=5, augment=False,
    )  # fmt: skip


SMALL: Mapping[str, PictureSettings] = {name: _small(name) for name in PUBLISHED}
"""Copies for a CPU. Their numbers are this project's."""


def picture_settings(network: str, size: str = "paper") -> PictureSettings:
    """size: "paper", 32 × 32 pixels of three colours; or "small"."""
    of = PUBLISHED if choice("size", size, SIZES) == "paper" else SMALL
    return of[choice("network", network, tuple(PUBLISHED))]
