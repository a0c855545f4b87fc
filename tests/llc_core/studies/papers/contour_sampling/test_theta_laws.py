"""The spread of θ is theory's, for chains that run side by side too; copies that meet at every step are one θ."""

from __future__ import annotations

import numpy as np
import pytest

from llc_core.studies.keeping import Kept
from llc_core.studies.papers.contour_sampling import theta_laws
from llc_core.studies.papers.contour_sampling.contours import learned, line_loop, two_sided
from llc_core.studies.papers.contour_sampling.theta_laws import OWN, STEP, Spread, ThetaCopies, theta_law
from llc_core.studies.papers.study import Place

pytest.importorskip("numba")


@pytest.mark.slow
def test_the_printed_fixed_point_is_that_of_fine_bins():
    """Far from it at five bins, at any ε, and nearer at fifteen: sums of |differences| .275, .269 and .164."""

    def off(bins: int, step: float) -> float:
        own = OWN.replace(bins=bins)
        inner = np.exp(-own.edges[:-1])
        wanted = (inner - np.append(inner[1:], 0.0)) ** (1 / own.zeta)
        return float(np.abs(theta_law(own, step).fixed - wanted / wanted.sum()).sum())

    assert theta_laws.printed_fixed() == pytest.approx([0.538, 0.242, 0.109, 0.049, 0.063], abs=6e-4)
    assert off(5, STEP) == pytest.approx(off(5, STEP / 5), abs=0.02)
    assert off(15, STEP / 5) < 0.7 * off(5, STEP / 5)


@pytest.mark.slow
def test_copies_that_meet_at_every_step_are_one_theta():
    loop = line_loop(two_sided)
    one = learned(loop, OWN, 3, [50, 400], 5, STEP)
    copies = learned(loop, OWN, 3, [50, 400], 5, STEP, every=1)
    assert one.shape == (2, 1, OWN.bins) and copies.shape == (2, 3, OWN.bins)
    assert np.abs(copies - one).max() < 1e-12
    apart = learned(loop, OWN, 3, [400], 5, STEP, every=0)
    assert np.ptp(apart, axis=1).max() > 1e-3, "copies that never meet differ"
    assert np.array_equal(apart[0, 0], learned(loop, OWN, 3, [400], 5, STEP, every=500)[0, 0])


@pytest.mark.slow
def test_chains_have_the_spread_of_theory(tmp_path):
    """Within four standard errors at 300 runs, where 1/ω is a hundred times what chains remember."""
    thetas = ThetaCopies(runs=300).thetas(Place(Kept(None), tmp_path), 1, (20_000,))
    found = Spread(thetas[:, 0, 0], 20_000, theta_law(OWN, STEP), 1).total()
    assert abs(found.value - 1) < 4 * found.se and found.se < 0.15


@pytest.mark.slow
def test_copies_are_told_with_their_messages(tmp_path):
    done = ThetaCopies(runs=20, steps=2_000, every=(10,)).run(Place(Kept(None), tmp_path))
    assert [line.rsplit("; ")[1] for line in done.table] == [
        "400 bytes a step as means of copies, 80 as indices of bins",
        "40 bytes a step",
        "0 bytes a step",
    ]
    assert theta_laws.rate(2_000) * 10 < theta_laws.FREE and len(done.claims) == 4


@pytest.mark.slow
def test_runs_side_by_side_are_the_same(tmp_path):
    own = OWN.replace(rate_offset=20.0)
    alone, beside = (
        ThetaCopies(runs=20).thetas(Place(Kept(None), tmp_path, workers=workers), 2, (200, 500), own=own)
        for workers in (1, 3)
    )
    assert alone.shape == (20, 2, 1, OWN.bins) and np.array_equal(alone, beside)
    assert np.abs(np.diff(alone[:, -1, 0], axis=0)).max() > 0, "each run has its own noise"
