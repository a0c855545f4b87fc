"""Which chains belong to one problem and setting."""

from __future__ import annotations

import torch

from llc_core.config import RunConfig
from llc_core.groups import Groups, settings

GROUPS = Groups(problems=2, chains=3, settings=4)


def test_every_chain_is_in_one_group():
    assert GROUPS.count == 24
    rows = [list(range(24))[GROUPS.rows(problem, setting)] for problem in range(2) for setting in range(4)]
    assert sorted(sum(rows, [])) == list(range(24)) and all(len(mine) == 3 for mine in rows)
    assert rows[1] == [1, 5, 9] and rows[4] == [12, 16, 20], "settings vary fastest, problems slowest"


def test_groups_are_reduced_one_by_one():
    values = torch.randn(24, generator=torch.Generator().manual_seed(0))
    flags = values > 1
    smallest, some = GROUPS.smallest(values), GROUPS.any(flags)
    assert int(flags.sum()) > 0 and not bool(some.all())
    for problem in range(2):
        for setting in range(4):
            mine = GROUPS.rows(problem, setting)
            assert torch.equal(smallest[mine], values[mine].min().expand(3))
            assert torch.equal(some[mine], flags[mine].any().expand(3))
    assert torch.equal(GROUPS.smallest(values.unsqueeze(1)), smallest.unsqueeze(1)), "columns stay columns"
    assert GROUPS.split(torch.zeros(24, 5, 2)).shape == (2, 3, 4, 5, 2)


def test_settings_are_the_product_of_the_grid():
    grid = {"step_size": [1e-3, 1e-2], "n_beta": [5.0, 6.0]}
    found = settings(RunConfig(sampler={"name": "SGLD"}, grid=grid))
    assert [(s["step_size"], s["n_beta"]) for s in found] == [(1e-3, 5.0), (1e-3, 6.0), (1e-2, 5.0), (1e-2, 6.0)]
    assert settings(RunConfig()) == [{}]
