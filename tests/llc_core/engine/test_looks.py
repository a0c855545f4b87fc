"""A look at the chains on their way, while `Run.advance` does many steps."""

from __future__ import annotations

import numpy as np
import pytest

from llc_core import DeepLinearNetwork, Run, RunConfig


@pytest.fixture(scope="module")
def tiny() -> DeepLinearNetwork:
    return DeepLinearNetwork.random(widths=[3, 3, 3], layer_ranks=[2, 2], n=10_000, seed=1)


def test_a_look_sees_where_a_run_that_is_cut_there_is(tiny):
    config = RunConfig(sampler={"name": "UnderdampedLangevin"}, steps=120, chains=3)
    seen: list[np.ndarray] = []
    run, other = Run(config, tiny), Run(config, tiny)
    snapshot = run.advance(50, seen.append, 7)
    assert len(seen) == 8, "after every seventh step, and after the last one"
    for place, steps in zip(seen, [7] * 7 + [1], strict=True):
        other.advance(steps)
        assert place.shape == (3, tiny.dim) and np.array_equal(place, other.displacements)
    assert snapshot.steps == 50 and len(snapshot.recorded) == 50
    run.advance(1000, seen.append, 1000)
    assert run.finished and len(seen) == 9
