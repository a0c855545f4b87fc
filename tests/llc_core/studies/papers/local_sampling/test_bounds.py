"""The bound on λ̂'s spread and the conditions of convergence: known cases hold, planted faults are named."""

from __future__ import annotations

import math

import numpy as np
import pytest

from llc_core import planar_landscape
from llc_core.studies.keeping import Kept
from llc_core.studies.papers.local_sampling import bounds, conditions
from llc_core.studies.papers.local_sampling.bounds import Bounds
from llc_core.studies.papers.local_sampling.conditions import Conditions
from llc_core.studies.papers.local_sampling.volumes import regular_constant
from llc_core.studies.papers.study import Place

ROWS = [{"k": [1, 0]}]


def test_a_regular_loss_has_its_known_spread(tmp_path):
    """λ̂ = ½ − (β/2)·χ²₁ where γ does not matter, so that its variance is β²/2 and its mean ½ − β/2."""
    done = Bounds(rows=ROWS, n=[1000, 10_000], data_sets=400).run(Place(Kept(None), tmp_path))
    assert [claim.holds for claim in done.claims] == [True, True]
    for n in (1000, 10_000):
        values, beta = np.array(done.numbers["1,0 | 0,0"][f"{n}"]), 1 / math.log(n)
        assert abs(values.mean() - (0.5 - beta / 2)) < 4 * values.std() / 20 + 0.01
        # of a χ² variable the variance over 400 draws has an error of √(14/400) of it
        assert values.var(ddof=1) == pytest.approx(beta**2 / 2, rel=4 * (14 / 400) ** 0.5)


def test_a_spread_beyond_the_bound_is_named(tmp_path, monkeypatch):
    own = bounds.posterior

    def wider(problem, **options):
        found = own(problem, **options)
        return type(found)(
            found.llc.mean() + 5 * (found.llc - found.llc.mean()), found.llc_sd, found.singular_fluctuation, 0.0
        )

    monkeypatch.setattr(bounds, "posterior", wider)
    done = Bounds(rows=ROWS, n=[100, 1000], data_sets=100).run(Place(Kept(None), tmp_path))
    assert done.claims[0].holds is False and done.draw is not None


def test_conditions_fail_as_the_degree_of_the_network_says(tmp_path):
    done = Conditions(layers=[1, 2], width=3, rays=8).run(Place(Kept(None), tmp_path))
    assert len(done.claims) == 14 and all(claim.holds for claim in done.claims)
    pytest.importorskip("holoviews")
    assert done.draw() is not None


def test_a_wrong_constant_of_dissipativity_is_found(tmp_path, monkeypatch):
    """Half of M in its place: then some direction between w0 and 0 has less than the bound."""
    own = Conditions._looked

    def planted(self, m):
        found = own(self, m)
        return {**found, "slack": [each - 1 for each in found["slack"]], "flat": 0}

    monkeypatch.setattr(conditions.Conditions, "_looked", planted)
    done = Conditions(layers=[2], width=3, rays=8).run(Place(Kept(None), tmp_path))
    assert [claim.text.partition(": ")[2][:12] for claim in done.claims if not claim.holds] == [
        "with γ the l",
        "directions a",
    ]


def test_the_inequality_is_tight_where_the_product_is_half_of_the_best():
    """⟨w, ∇L⟩ is least, −(M/2)‖P̂‖²_S, where P = P̂/2: at layers of one number that is seen by hand."""
    import torch

    from llc_core import DeepLinearNetwork

    problem = DeepLinearNetwork([np.array([[1.2]]), np.array([[0.9]])], n=1000, seed=0)
    best = 1.08 + float(problem.data.snx / problem.data.sxx)
    t = torch.linspace(0, 2, 2001, dtype=torch.float64)[:, None]
    w0 = torch.tensor([1.2, 0.9], dtype=torch.float64)
    inner = (t * w0 * problem.excess_loss_and_grad((t - 1) * w0)[1]).sum(dim=1)
    assert float(inner.min()) == pytest.approx(-(2 / 2) * best**2 * float(problem.data.sxx), rel=1e-4)


def test_the_constant_of_a_regular_minimum():
    """K = (s₁²w₁² + s₂²w₂²)/(2·noise²): an ellipse, and a strip where one scale is missing."""
    problem = planar_landscape("quadratic", scales=[1.0, 0.4])
    assert regular_constant(problem) == pytest.approx(math.pi * 2 * 0.25 / 0.4 / 4, rel=1e-6)
    strip = planar_landscape("normal_crossing", k=[1, 0])
    assert regular_constant(strip) == pytest.approx(2 * math.sqrt(0.5) / 2, rel=1e-6)
    assert regular_constant(planar_landscape("normal_crossing", k=[1, 1])) is None
    assert regular_constant(planar_landscape("normal_crossing", k=[2, 0])) is None
