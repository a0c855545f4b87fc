"""Which chains belong to one problem and setting."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from llc_core.config import RunConfig


def settings(config: RunConfig) -> list[dict[str, Any]]:
    """The product of the grid's lists, first field varying slowest; [{}] without a grid."""
    names = list(config.grid)
    return [dict(zip(names, values, strict=True)) for values in itertools.product(*config.grid.values())]


@dataclass(frozen=True)
class Groups:
    """A group is the chains of one problem at one setting of the grid; all chains of a run are in one order.

    Problems vary slowest, then chains, and settings fastest: row (p·chains + c)·settings + s is chain c of problem p at
    setting s.

    problems: problems side by side.  chains: chains in each group.  settings: settings of the grid.
    """

    problems: int
    chains: int
    settings: int

    @property
    def count(self) -> int:
        """How many chains there are in all."""
        return self.problems * self.chains * self.settings

    def rows(self, problem: int, setting: int) -> slice:
        """The chains of one group, among all chains."""
        each = self.chains * self.settings
        return slice(problem * each + setting, (problem + 1) * each, self.settings)

    def split(self, values: Tensor) -> Tensor:
        """[problems, chains, settings, …], a view of values [C, …]: dimension 1 runs over the chains of a group."""
        return values.view(self.problems, self.chains, self.settings, *values.shape[1:])

    def smallest(self, values: Tensor) -> Tensor:
        """For every chain the smallest value in its group, in the shape of `values`, [C] or [C, 1]."""
        split = self.split(values)
        return split.amin(dim=1, keepdim=True).expand(split.shape).reshape(values.shape)

    def mean(self, values: Tensor) -> Tensor:
        """For every chain the mean over its group, in the shape of `values`, [C] or [C, 1]."""
        split = self.split(values)
        return split.mean(dim=1, keepdim=True).expand(split.shape).reshape(values.shape)

    def any(self, flags: Tensor) -> Tensor:
        """For every chain whether any flag of its group is set, in the shape of `flags`, [C] or [C, 1]."""
        split = self.split(flags)
        return split.any(dim=1, keepdim=True).expand(split.shape).reshape(flags.shape)
