"""At a large ζ the old field leaves θ and the chains as they are, and claims that say otherwise are found wrong."""

from __future__ import annotations

import numpy as np
import pytest

from llc_core.plane.exact import plane_law
from llc_core.potentials.plane.surfaces import surface
from llc_core.studies.keeping import Kept
from llc_core.studies.papers.contour_sampling.random_fields import HIGH, LOW, NEW, NONE, OLD, RandomFields, at_modes
from llc_core.studies.papers.study import Place

pytest.importorskip("numba")
TINY = RandomFields(zetas=(0.75, 20.0), steps=30_000, trials=3, looks=3)


def test_a_chain_on_a_ridge_belongs_to_the_mode_it_came_from():
    along = np.array([0.1, 0.45, 0.55, 0.48, 0.6, 0.7, 0.8, 1.1, 0.5, 0.9])
    trail = np.stack([along, np.zeros_like(along)], axis=-1)[None, :, None]
    modes = at_modes(trail, np.array([[12]]))
    assert modes[0, :, 0].tolist() == [12] * 7 + [17] * 4
    ridge = np.full((1, 3, 1, 2), 0.5)
    assert at_modes(ridge, np.array([[3]]))[0, :, 0].tolist() == [3] * 4


def test_the_fixed_point_is_known_where_masses_are_too_small_for_a_number():
    """On U/s with ζ = 0.75·s it tends to exp(−u/0.75) of the lowest u of each bin, and at s = 1 it is the root of the masses."""
    edges, found = np.linspace(LOW, HIGH, 101), {}
    for scale in (1.0, 1e3, 1e6):
        law = plane_law(surface(n_beta=scale), points=500)
        found[scale] = law.theta(scale * edges, 0.75 * scale)
        if scale == 1.0:
            root = law.bins(edges) ** (1 / 0.75)
            assert np.abs(found[scale] - root / root.sum()).max() < 1e-12
    place = np.clip(np.searchsorted(edges, law.energy.ravel() / 1e6, side="left") - 1, 0, 99)
    least = np.array([(law.energy.ravel()[place == k] / 1e6).min(initial=np.inf) for k in range(100)])
    limit = np.exp(-least / 0.75) / np.exp(-least / 0.75).sum()
    assert np.abs(found[1e6] - limit).sum() < 1e-4 < np.abs(found[1.0] - limit).sum()
    assert np.abs(found[1e3] - limit).sum() < 0.05


@pytest.mark.slow
def test_the_old_field_does_nothing_at_a_large_zeta_and_the_new_one_does(tmp_path, monkeypatch):
    done = TINY.run(Place(Kept(tmp_path / "rows.jsonl"), tmp_path))
    held = {claim.text.partition(" (")[0]: claim.holds for claim in done.claims}
    assert held["ζ = 20: by the old field θ stays where it begins"] is True
    assert held["ζ = 20: by the new field θ comes most of the way"] is True
    assert held["ζ = 0.75: by the old field too θ comes most of the way"] is True
    assert [claim.ours for claim in done.claims] == [False, False, False, True, True] and done.draw is not None
    done.draw()
    rows = {way: TINY._made(20.0, way) for way in (OLD, NONE)}
    assert rows[OLD]["came"] == rows[NONE]["came"] and sum(rows[OLD]["turned"]) == 0
    made = RandomFields._made
    swapped = {NEW: OLD, OLD: NEW, NONE: NONE}
    monkeypatch.setattr(RandomFields, "_made", lambda self, zeta, way: made(self, zeta, swapped[way]))
    wrong = {claim.text.partition(" (")[0]: claim.holds for claim in TINY.run(Place(Kept(None), tmp_path)).claims}
    assert wrong["ζ = 20: by the old field θ stays where it begins"] is False
    assert wrong["ζ = 20: by the new field θ comes most of the way"] is False


def test_what_does_not_fit_is_one_sentence():
    with pytest.raises(ValueError, match="large is 20, above all of zetas"):
        RandomFields(zetas=(0.5, 2.0))
