"""A cyclical step size: large steps that explore, small ones whose states count."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from llc_core.fields import hyper
from llc_core.interactions.base import Interaction, Layout, Shared
from llc_core.interactions.registry import register


@register
@dataclass(frozen=True)
class Cyclical(Interaction):
    """Step t has the size ε·(cos(π·(t mod n)/n) + 1)/2 with n = length; states count where that is below `keep`·ε.

    Distribution: that of the sampler, with the error of the steps that are kept; at fixed step sizes no cycle forgets the ones before
    faster than its own length allows. Members do not see each other: a group is one chain.
    Source: Zhang, Li, Zhang, Chen & Wilson 2020, eq. 1; kept states: code of Deng et al. 2022.

    length: steps of a cycle.  quiet: share of each cycle, from its beginning, without noise.
    """

    length: int = hyper(1000, 2, 10**9, log=True, help="Steps of a cycle, over which the step size falls to 0.")
    keep: float = hyper(
        0.9, 0.0, 1.0, open_low=True, help="States count where the step is below this share of the largest."
    )
    quiet: float = hyper(0.0, 0.0, 0.9, help="Share of a cycle, from its beginning, that has no noise.")

    label: ClassVar[str] = "Cyclical steps"
    about: ClassVar[str] = (
        "The step size falls from its largest value to 0 along a cosine and starts again. Large steps leave a basin, small ones "
        "sample it."
    )
    source: ClassVar[str] = "Zhang, Li, Zhang, Chen & Wilson 2020"

    @property
    def period(self) -> int:
        return self.length

    @property
    def heats_noise(self) -> bool:
        return self.quiet > 0

    def share(self, step: int) -> float:
        """Size of a step in units of the largest."""
        return 0.5 * (math.cos(math.pi * (step % self.length) / self.length) + 1)

    def pace(self, step: int, layout: Layout) -> tuple[Tensor | float, Tensor | float]:
        return self.share(step), float(step % self.length >= self.quiet * self.length)

    def log_weight(self, step: int, shared: Shared, layout: Layout) -> Tensor | None:
        return layout.n_beta.new_full(layout.shape, 0.0 if self.share(step) < self.keep else -math.inf)
