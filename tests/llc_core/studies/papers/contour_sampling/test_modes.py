"""The 25 modes: nearest neighbours measure KL, weighted places lose their weights without copies, and a tiny run has all it tells."""

from __future__ import annotations

import math

import numpy as np
import pytest

from llc_core.plane.exact import plane_law
from llc_core.potentials.plane.surfaces import surface
from llc_core.studies.keeping import Kept
from llc_core.studies.papers.contour_sampling.mode_methods import NOISE, exact_points, kept, kl_by_neighbours, of_cells
from llc_core.studies.papers.contour_sampling.modes import share_of
from llc_core.studies.papers.items import find
from llc_core.studies.papers.study import Place


def test_nearest_neighbours_measure_kl():
    """Of N(0, I) from N(m, s²I) in the plane: log s² + (2 + |m|²)/(2s²) − 1. Standard error at 4,000 points: some .03."""
    random = np.random.default_rng(1)
    exact = random.standard_normal((4_000, 2))
    for shift, scale in ((0.0, 1.0), (1.0, 1.0), (0.5, 2.0)):
        wanted = math.log(scale**2) + (2 + shift**2) / (2 * scale**2) - 1
        found = kl_by_neighbours(exact, [shift, 0.0] + scale * random.standard_normal((4_000, 2)))
        assert found == pytest.approx(wanted, abs=0.12)
    assert math.isnan(kl_by_neighbours(exact, exact[:1]))


def test_weighted_places_are_kept_by_their_weight_and_never_twice():
    random = np.random.default_rng(2)
    places = np.concatenate(
        [random.uniform(-1, 1, (30_000, 2)), random.uniform(-1, 1, (30_000, 2))[:5].repeat(20, axis=0)]
    )
    found = kept(places, 1.0 + (places[:, 0] > 0), random)
    assert len(np.unique(found, axis=0)) == len(found)
    share = (found[:, 0] > 0).mean()
    assert share == pytest.approx(2 / 3, abs=4 * math.sqrt(2 / 9 / len(found)))
    assert len(kept(places, np.zeros(len(places)), random)) == 0


def test_exact_draws_have_the_exact_masses():
    law = plane_law(surface(noise=NOISE), points=500)
    masses, draws = law.cells(5), law.draw(20_000, np.random.default_rng(0))
    found = of_cells(draws)
    assert np.abs(found - masses).max() < 5 * math.sqrt(masses.max() / 20_000) and np.abs(draws).max() <= 2.5
    assert kl_by_neighbours(draws[:2_000], draws[2_000:]) == pytest.approx(0, abs=0.12)


def test_each_trial_has_exact_points_of_its_own():
    law = plane_law(surface(noise=NOISE), points=200)
    first, second = exact_points(law, 2, 5)
    assert not np.isin(first, second).any() and np.array_equal(exact_points(law, 1, 5)[0], first)


def test_the_error_of_a_share_covers_it_where_none_or_all_held():
    for share in (0.05, 0.5, 0.95):
        held = np.random.default_rng(3).random((2_000, 20)) < share
        covered = [abs(found.value - share) <= 2 * found.se for found in map(share_of, held)]
        assert np.mean(covered) > 0.9
    assert share_of(np.ones(20, dtype=bool)).se > 0


@pytest.mark.slow
def test_a_tiny_run_has_chains_particles_and_ladders(tmp_path):
    study = find("002/figure-6").sizes["small"]
    wanted = ("SGLD, five chains", "ICSGLD, 4,000 pilot steps", "SVGD, 12.5 × the gradients", "replicas at 1, 3.46, 12")
    methods = [
        each.replace(times=1.0, chains=100) if each.particles else each
        for each in study.methods
        if each.label in wanted
    ]
    study = study.replace(methods=methods, ours=("replicas at 1, 3.46, 12",), gradients=60_000, trials=3, looks=3)
    for show in ("course", "cells"):
        done = study.replace(show=show).run(Place(Kept(tmp_path / "rows.jsonl"), tmp_path))
        assert len(done.claims) == 2 + 1 + 2 and done.draw() is not None
    assert [row["steps"] for row in done.numbers.values()] == [12_000, 12_000, 600, 20_000]
    assert all(len(row["by neighbours"]) == 2 and row["seconds"] > 0 for row in done.numbers.values())
    assert not any("3.46" in claim.text for claim in done.claims) and any("3.46" in line for line in done.table)
    done = study.replace(ours=()).run(Place(Kept(tmp_path / "rows.jsonl"), tmp_path))
    holds = {claim.text: claim.holds for claim in done.claims}
    assert (
        holds["ICSGLD, 4,000 pilot steps is nearer to the exact masses than replicas at 1, 3.46, 12 (KL of the cells)"]
        is False
    )
    with pytest.raises(ValueError, match="ours is 'Nobody'; give the label of a method"):
        study.replace(ours=("Nobody",))
