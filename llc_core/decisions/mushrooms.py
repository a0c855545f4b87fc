"""The mushroom bandit: eat, or leave it."""

from __future__ import annotations

from pathlib import Path

import torch

from llc_core.compute.precision import EXACT, SINGLE
from llc_core.decisions.environment import Environment, Pulls
from llc_core.decisions.mushroom_table import MushroomTable, made_mushrooms, read_mushrooms

LEAVE, EAT = 0, 1
GOOD, BAD = 5.0, -35.0


class Mushrooms(Environment):
    """One mushroom at a time, drawn with replacement. Leaving it gives 0; eating gives 5 if it is edible, and otherwise −35 or 5
    with equal chance, −15 on average. Action 0 leaves, action 1 eats.

    table: rows, or a file that `read_mushrooms` reads; None: `made_mushrooms()`, labelled made.
    Source: Blundell, Cornebise, Kavukcuoglu & Wierstra 2015, section 5.3; Deng et al. 2022, D.3.
    """

    actions = 2

    def __init__(self, table: MushroomTable | str | Path | None = None):
        if table is None:
            table = made_mushrooms()
        self.table = table if isinstance(table, MushroomTable) else read_mushrooms(table)
        self.name, self.dim = self.table.name, self.table.features.shape[1]
        self._features = torch.from_numpy(self.table.features)
        self._edible = torch.from_numpy(self.table.edible)
        share = float(self.table.edible.mean())
        self.random_regret = share * GOOD / 2 - (1 - share) * (GOOD + BAD) / 4

    def draw(self, random: torch.Generator, count: int) -> Pulls:
        rows = torch.randint(len(self.table), (count,), generator=random, device="cpu")
        lucky = torch.rand(count, generator=random, **SINGLE) < 0.5
        edible = self._edible[rows]
        rewards, means = (torch.zeros(count, 2, **EXACT) for _ in range(2))
        rewards[:, EAT] = torch.where(edible | lucky, GOOD, BAD).double()
        means[:, EAT] = torch.where(edible, GOOD, (GOOD + BAD) / 2).double()
        return Pulls(self._features[rows], rewards, means)
