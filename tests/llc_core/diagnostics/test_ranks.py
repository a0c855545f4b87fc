"""Quick normal scores: those of the library to the last bit, which its R-hat and ESS then take."""

from __future__ import annotations

import timeit

import numpy as np
import pytest

from llc_core.diagnostics import convergence
from llc_core.diagnostics.convergence import ess, r_hat

library = pytest.importorskip("arviz_stats.base").array_stats
RANDOM = np.random.default_rng(0)
TRACES = {
    "continuous": RANDOM.gamma(2.0, size=(700, 6)),
    "single precision": RANDOM.gamma(2.0, size=(301, 4)).astype(np.float32),
    "ties": RANDOM.integers(0, 9, (200, 4)).astype(float),
    "a chain that stands": np.where(np.arange(5) == 2, 0.25, RANDOM.normal(size=(150, 5))),
    "signs of zero": np.where(RANDOM.random((90, 3)) < 0.3, -0.0, RANDOM.integers(-1, 2, (90, 3)).astype(float)),
}


@pytest.mark.parametrize("trace", TRACES.values(), ids=TRACES)
def test_scores_r_hat_and_ess_are_the_library_s_to_the_last_bit(trace):
    np.testing.assert_array_equal(convergence.normal_scores(trace), library._z_scale(trace))
    given = {"chain_axis": 0, "draw_axis": 1}
    turned = np.ascontiguousarray(trace.T)
    assert r_hat(trace) == float(library.rhat(turned, **given)) and ess(trace) == float(library.ess(turned, **given))


def test_the_library_takes_them(monkeypatch):
    """Else nothing would be gained, and nobody would see it."""
    asked = []
    monkeypatch.setattr(convergence, "normal_scores", lambda values: asked.append(1) or library._z_scale(values))
    quick = convergence.with_quick_ranks(library)
    quick.rhat(TRACES["ties"].T, chain_axis=0, draw_axis=1)
    assert len(asked) == 2, "of the draws, and of their distances from the median"
    quick.ess(TRACES["ties"].T, chain_axis=0, draw_axis=1)
    assert len(asked) == 3


def test_the_library_itself_takes_longer():
    def least(scores) -> float:
        return min(timeit.repeat(lambda: scores(TRACES["continuous"]), number=10, repeat=7))

    assert least(library._z_scale) > 1.5 * least(convergence.normal_scores)
