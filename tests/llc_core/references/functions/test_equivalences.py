"""Chains of weights and chains of functions: equal paths on shared noise, equal distributions, and the collapse of W-SGLD."""

from __future__ import annotations

import math

import pytest
import torch

from llc_core.references.functions import equivalences
from llc_core.references.functions.equivalences import (
    linear_equivalence,
    repelling_particles,
    sines_force,
    sorted_equivalence,
    torus_equivalence,
    von_mises_force,
    wrap,
)

FLOAT = torch.float64
SAME, OTHER = 1e-9, 1e-2


def _features() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    return torch.randn(4, 12, generator=generator, dtype=FLOAT), torch.randn(4, generator=generator, dtype=FLOAT)


def _sines() -> tuple[torch.Tensor, torch.Tensor]:
    inputs = torch.linspace(-2, 2, 8, dtype=FLOAT)
    return inputs, (torch.tensor([0.2, 0.9, 1.4, 2.0], dtype=FLOAT)[:, None] * inputs).sin().sum(0)


def _starts(chains: int) -> torch.Tensor:
    return 0.1 + 2 * torch.rand(chains, 4, generator=torch.Generator().manual_seed(2), dtype=FLOAT)


def test_twelve_weights_and_four_values_of_a_linear_model_take_one_path() -> None:
    assert linear_equivalence(*_features(), 0.5, steps=2_000, chains=4).difference < SAME


def test_a_linear_chain_of_functions_without_its_metric_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def plain(functions, noise, matrix, pull, step_size):  # type: ignore[no-untyped-def]
        return functions + step_size / 2 * (pull - functions) + math.sqrt(step_size) * noise @ matrix.T

    monkeypatch.setattr(equivalences, "linear_function_step", plain)
    assert linear_equivalence(*_features(), 0.5, steps=100).difference > OTHER


@pytest.mark.slow
def test_linear_chains_on_independent_noise_have_the_law_of_the_gaussian_process() -> None:
    matrix, targets = _features()
    chains, noise_variance, step_size = 3_000, 0.5, 0.004
    paths = linear_equivalence(matrix, targets, noise_variance, step_size, 1_000, chains, shared=False)
    kernel, identity = matrix @ matrix.T, torch.eye(4, dtype=FLOAT)
    mean = kernel @ torch.linalg.solve(kernel + noise_variance * identity, targets)
    # Euler's chain of a Gaussian target has precision P(I − εP/4) exactly; P is that of the weights.
    precision = torch.eye(12, dtype=FLOAT) + matrix.T @ matrix / noise_variance
    covariance = matrix @ torch.linalg.inv(precision - step_size / 4 * precision @ precision) @ matrix.T
    errors = (covariance.diagonal() / chains).sqrt()
    spread = (covariance.diagonal()[:, None] * covariance.diagonal() + covariance**2) / chains
    for ends in (paths.image[-1], paths.functions[-1]):
        assert bool(((ends.mean(0) - mean).abs() < 5 * errors).all())
        assert bool(((ends.T.cov() - covariance).abs() < 5 * spread.sqrt()).all())


def test_a_path_that_crosses_cells_is_the_wrapped_path() -> None:
    paths = torus_equivalence(torch.zeros(64, 1), von_mises_force(1.0), step_size=2e-3, steps=5_000)
    assert paths.difference < SAME
    assert paths.weights.round().abs().max() >= 2 and paths.moves >= 100


@pytest.mark.slow
def test_a_prior_that_is_not_periodic_is_caught() -> None:
    periodic = von_mises_force(1.0)
    paths = torus_equivalence(torch.zeros(64, 1), lambda w: periodic(w) - 5 * w, step_size=2e-3, steps=5_000)
    assert paths.weights.round().abs().max() >= 1, "a path that stays in its cell says nothing"
    assert paths.difference > OTHER


def _total_variation(points: torch.Tensor, concentration: float = 3.0) -> float:
    counts = torch.histogram(points.flatten(), torch.linspace(-0.5, 0.5, 51, dtype=FLOAT)).hist
    middles = (torch.arange(10_000, dtype=FLOAT) + 0.5) / 10_000 - 0.5
    mass = torch.exp(concentration * torch.cos(2 * math.pi * middles)).reshape(50, -1).sum(1)
    return float((counts / counts.sum() - mass / mass.sum()).abs().sum() / 2)


@pytest.mark.slow
def test_the_law_of_functions_is_right_from_twenty_million_cells() -> None:
    generator = torch.Generator().manual_seed(3)
    cells = torch.randint(-(10**7), 10**7, (20_000, 1), generator=generator)
    start = cells + torch.rand(20_000, 1, generator=generator, dtype=FLOAT)
    paths = torus_equivalence(start)
    assert _total_variation(paths.image[0]) > 0.3, "the start already had the law"
    assert _total_variation(paths.image[-1]) < 0.03
    assert _total_variation(paths.image[-1], concentration=2.0) > 0.03, "another law passes too"
    assert (paths.weights[-1].round() == start.round()).double().mean() > 0.5, "most weights never left their cell"


@pytest.mark.slow
def test_the_sorted_chain_is_the_chain_of_functions() -> None:
    paths = sorted_equivalence(_starts(8), sines_force(*_sines(), 0.3), step_size=0.004, steps=3_000)
    assert paths.difference < SAME and paths.moves >= 100


def test_noise_that_keeps_its_place_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.Tensor, "gather", lambda noise, *_: noise)
    assert sorted_equivalence(_starts(8), sines_force(*_sines(), 0.3), steps=200).difference > OTHER


@pytest.mark.slow
def test_neurons_that_are_not_exchangeable_are_caught() -> None:
    force, tilt = sines_force(*_sines(), 0.3), torch.tensor([0.0, 1.0, 2.0, 3.0], dtype=FLOAT)
    paths = sorted_equivalence(_starts(8), lambda w: force(w) + tilt, step_size=0.004, steps=3_000)
    assert paths.difference > OTHER


@pytest.mark.slow
def test_every_order_statistic_has_one_law_on_independent_noise() -> None:
    from scipy.stats import ks_2samp

    def pvalues(force) -> list[float]:  # type: ignore[no-untyped-def]
        paths = sorted_equivalence(_starts(1_000), force, step_size=0.004, steps=1_000, shared=False, seed=5)
        ends = paths.image[-1].T.numpy(), paths.functions[-1].T.numpy()
        return [float(ks_2samp(first, second).pvalue) for first, second in zip(*ends, strict=True)]

    force, tilt = sines_force(*_sines(), 0.3), torch.tensor([6.0, 2.0, -2.0, -6.0], dtype=FLOAT)
    assert min(pvalues(force)) > 0.01
    assert min(pvalues(lambda weights: force(weights) + tilt)) < 1e-4, "exchangeability does not matter to this test"


@pytest.mark.slow
def test_repelling_particles_collapse_far_apart_and_not_in_torus_distance() -> None:
    near = 0.05 * torch.randn(60, generator=torch.Generator().manual_seed(4), dtype=FLOAT)
    far = near + 1_000 * torch.arange(60)
    points = (torch.arange(10_000, dtype=FLOAT) + 0.5) / 10_000 - 0.5
    mass = torch.exp(3 * torch.cos(2 * math.pi * points))
    truth = float(((mass * points**2).sum() / mass.sum()).sqrt())
    assert wrap(repelling_particles(far)).std() < 1e-6
    for ends in (repelling_particles(near), repelling_particles(far, wrapped=True)):
        assert float(wrap(ends).std()) == pytest.approx(truth, rel=0.1)


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: linear_equivalence(torch.ones(4, 12), torch.ones(3)), "targets"),
        (lambda: linear_equivalence(*_features(), noise_variance=0.0), "noise_variance"),
        (lambda: torus_equivalence(torch.zeros(1, 1), steps=0), "steps"),
        (lambda: torus_equivalence(torch.zeros(1, 1), step_size=-1.0), "step_size"),
        (lambda: sorted_equivalence(-_starts(2), sines_force(*_sines())), "start"),
        (lambda: repelling_particles(torch.zeros(3), bandwidth=math.nan), "bandwidth"),
    ],
)
def test_bad_input_gets_a_sentence_that_names_the_field(call, word) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=word):
        call()
