"""Chains under metrics that share the map's symmetries are chains of functions; those under others are not."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from llc_core.references.functions import general_metrics
from llc_core.references.functions.equivalences import von_mises_force
from llc_core.references.functions.general_metrics import (
    boundary_terms,
    falling,
    image_drifts,
    linear_path,
    sorted_path,
    torus_path,
    unlike,
    wavy,
)

FLOAT = torch.float64
SAME, OTHER = 1e-9, 1e-2


def test_slopes_of_the_metrics_are_their_derivatives():
    at = torch.linspace(-2, 2, 12, dtype=FLOAT).reshape(3, 4)
    for metric in (wavy, falling, unlike):
        found = (metric(at + 1e-6)[0] - metric(at - 1e-6)[0]) / 2e-6
        assert metric(at)[1] == pytest.approx(found, abs=1e-8) and bool((metric(at)[0] > 0).all())


def test_a_linear_model_has_the_metric_of_its_prior_or_none():
    random = torch.Generator().manual_seed(1)
    matrix, root = (torch.randn(*shape, generator=random, dtype=FLOAT) for shape in ((3, 6), (6, 6)))
    targets, metric = torch.randn(3, generator=random, dtype=FLOAT), root @ root.T / 6 + torch.eye(6, dtype=FLOAT) / 2
    assert linear_path(matrix, targets, metric, metric, 0.5, 500, 0.004, 0) < SAME
    assert linear_path(matrix, targets, metric, torch.eye(6, dtype=FLOAT), 0.5, 500, 0.004, 0) > OTHER


@pytest.mark.slow
def test_a_metric_of_the_torus_wraps_and_one_of_another_period_does_not():
    force = von_mises_force(1.0)
    found = torus_path(force, wavy, 32, 1_500, 4e-3, 0)
    assert found["difference"] < SAME and found["moves"] > 100
    longer = torus_path(
        force, lambda w: (1 + 0.5 * torch.cos(math.pi * w), -math.pi / 2 * torch.sin(math.pi * w)), 32, 1_500, 4e-3, 0
    )
    assert longer["difference"] > OTHER


def test_a_metric_that_tells_weights_apart_is_caught():
    start = torch.randn(4, 3, generator=torch.Generator().manual_seed(2), dtype=FLOAT)
    alike = sorted_path(lambda w: -w, falling, start, 800, 4e-3, 0)
    assert alike["difference"] < SAME and alike["moves"] > 20
    assert sorted_path(lambda w: -w, unlike, start, 800, 4e-3, 0)["difference"] > OTHER


def test_itos_drift_is_that_of_the_langevin_dynamics_of_functions(monkeypatch: pytest.MonkeyPatch):
    ito, langevin = image_drifts(np.linspace(-3, 3, 31))
    assert np.abs(ito - langevin).max() < 1e-6 and np.abs(ito).max() > 1


def test_functions_keep_neumanns_condition_and_the_smaller_weight_does_not():
    for name, (lifted, flow) in boundary_terms(600).items():
        assert lifted + flow == pytest.approx(0, abs=1e-4), name
        assert (abs(flow) > 0.1) == (name == "the smaller weight")


@pytest.mark.slow
def test_the_divergence_is_what_keeps_the_posterior():
    def spread(whole: bool) -> float:
        ends = torus_path(von_mises_force(1.0), wavy, 4_000, 1_500, 1e-3, 3, whole)["ends"]
        return float(np.cos(2 * np.pi * ends).mean())

    grid = (np.arange(4000) + 0.5) / 4000 - 0.5
    mass = np.exp(np.cos(2 * np.pi * grid))
    over = mass / general_metrics.wavy(torch.from_numpy(grid))[0].numpy()
    for whole, density in ((True, mass), (False, over)):
        wanted = float((density * np.cos(2 * np.pi * grid)).sum() / density.sum())
        assert spread(whole) == pytest.approx(wanted, abs=5 * 0.72 / 4_000**0.5)
    assert (
        abs((mass * np.cos(2 * np.pi * grid)).sum() / mass.sum() - (over * np.cos(2 * np.pi * grid)).sum() / over.sum())
        > 0.1
    )
