"""Networks and numbers of Deng et al. 2022 for pictures, by name. They are what the paper states; nothing here was run at that size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from llc_core.fields import choice

SIZES = ("paper", "small")


@dataclass(frozen=True)
class PictureSettings:
    """description: of the network, for `build_model`.  step_size, momentum: of SGHMC, in the paper's convention w ← w − ε∇U.

    The step size is multiplied by `factor` at each of the epochs `milestones`.  temperature: T of exp(−U/T).
    zeta, bins, bin_width: of contour sampling, the width in units of U.
    Source: Deng, Liang, Hao, Lin & Liang 2022, section 4.4 and D.4.
    """

    description: Mapping[str, Any]
    epochs: int = 500
    step_size: float = 2e-6
    momentum: float = 0.9
    temperature: float = 3e-4
    milestones: tuple[int, ...] = (250, 375)
    factor: float = 0.2
    zeta: float = 3e6
    bins: int = 200
    bin_width: float = 200.0
    small: Mapping[str, Any] = field(default_factory=dict)

    def rate(self, epoch: int) -> float:
        """The step size in an epoch, counted from 0."""
        return self.step_size * self.factor ** sum(epoch >= each for each in self.milestones)

    def model(self, size: str = "paper", classes: int = 100) -> dict[str, Any]:
        """For `build_model`. size: "paper", 32 × 32 pixels of three colours; or "small", for the digits of 8 × 8 pixels on a CPU: the
        same depth, narrow, and with group norms, which do not mix the pictures of a batch."""
        own = self.small if choice("size", size, SIZES) == "small" else {}
        return {**self.description, "classes": classes, **own}

    @property
    def bin_edges(self) -> tuple[float, float]:
        """Lowest and highest energy of the contour's bins, in units of U/T as interactions have it."""
        return 0.0, self.bins * self.bin_width / self.temperature


_SMALL = {"channels": 1, "side": 8, "width": 4, "norm": "group"}


def _resnet(depth: int) -> PictureSettings:
    return PictureSettings({"kind": "resnet", "depth": depth}, small=_SMALL)


PUBLISHED: Mapping[str, PictureSettings] = {
    "ResNet-20": _resnet(20),
    "ResNet-32": _resnet(32),
    "ResNet-56": _resnet(56),
    "WRN-16-8": PictureSettings(
        {"kind": "wide_resnet", "depth": 16, "factor": 8}, bin_width=60.0, small={**_SMALL, "factor": 2}
    ),
}
"""By the names of the paper's tables."""
