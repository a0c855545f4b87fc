"""What a calibration recommends is right on models with a known λ, says why, and follows verdicts that refuse."""

from __future__ import annotations

import math

import pytest
import torch
from cases import few
from torch import nn

from llc_core import (
    CrossEntropy,
    DeepLinearNetwork,
    NetworkPotential,
    calibrate,
    estimate,
    gibbs_reference,
    planar_landscape,
)
from llc_core.studies.calibration.recommending import change_of, said

torch.set_num_threads(1)
ERRORS = 4


def linear(features: int, outputs: int, rows: int = 1000, seed: int = 0) -> NetworkPotential:
    """Its weights are the truth of noisy data, and so no minimum of them. λ = features · outputs/2."""
    torch.manual_seed(seed)
    model, x = nn.Linear(features, outputs, bias=False), torch.randn(rows, features)
    return NetworkPotential(model, "squared_error", (x, (model(x) + 0.7 * torch.randn(rows, outputs)).detach()))


def softmax() -> NetworkPotential:
    """8 features, 3 classes: of 24 weights 16 count, and λ = 8."""
    torch.manual_seed(3)
    model, x = nn.Linear(8, 3, bias=False), torch.randn(3000, 8)
    return NetworkPotential(model, CrossEntropy(), (x, torch.multinomial(model(x).softmax(1).detach(), 1).squeeze(1)))


def deep(widths: list[int], rank: int, seed: int) -> tuple[NetworkPotential, DeepLinearNetwork]:
    """The same deep linear network as a torch.nn.Module, without noise."""
    known = DeepLinearNetwork.random(widths=widths, layer_ranks=[rank] * (len(widths) - 1), seed=seed, n=2000)
    pairs = zip(widths, widths[1:], strict=False)
    model = nn.Sequential(*[nn.Linear(a, b, bias=False) for a, b in pairs])
    with torch.no_grad():
        for layer, weight in zip(model, known.weights, strict=True):
            layer.weight.copy_(torch.as_tensor(weight))
    torch.manual_seed(seed)
    x = torch.randn(2000, widths[0])
    return NetworkPotential(model, "squared_error", (x, model(x).detach())), known


@pytest.fixture(scope="module")
def found():
    return calibrate(linear(5, 2), steps=600)


@pytest.mark.slow
def test_a_w0_above_the_minimum_is_polished_and_lambda_is_right(found):
    known, advice = 5.0, found.recommended
    assert advice, str(found)
    assert advice.settings["polish"] is True and advice.estimate.polished.distance > 0
    assert abs(advice.llc - known) < ERRORS * advice.llc_se < 0.2 * known
    assert found.estimate.llc < known - 0.4, "the pick alone is too low, as w0 lies above the minimum"


@pytest.mark.slow
def test_its_settings_repeat_the_run_and_it_says_why_and_what_else(found):
    again = estimate(linear(5, 2), progress=False, **found.recommended.settings)
    assert again.llc == found.recommended.llc
    lines = str(found).splitlines()
    assert lines[0].startswith("Use UnderdampedLangevin with step_size = ") and "polish = True" in lines[0]
    assert f"λ̂ = {again.llc:.4g}" in lines[0] and "agree and have settled" in lines[1]
    assert any(line.startswith("Why polish = True: w0 lies above the minimum") for line in lines)
    beside = found.recommended.neighbours
    assert [each.n_beta for each in beside] == pytest.approx([again.n_beta * share for share in (0.5, 1, 1)])
    assert [each.setting.get("localization") for each in beside] == [None, pytest.approx(0.1), pytest.approx(10.0)]
    assert sum(line.startswith("At ") for line in lines) == 3 and "γ" in found.recommended.beside[-1]


@pytest.mark.slow
def test_w0_stays_where_it_is_meant_to():
    problem = linear(4, 1, 400)
    kept = calibrate(problem, steps=600, polish=False).recommended
    assert "polish" not in kept.settings and kept.settings["temperatures"] == (1.0, 0.25)
    assert abs(kept.llc - 2.0) < ERRORS * kept.llc_se and "Why temperatures" in str(kept)


def test_without_being_confirmed_there_is_the_map_alone():
    bare = calibrate(planar_landscape("quadratic"), "SGLD", chains=4, steps=400, confirm=False)
    assert bare.recommended is None and "Use UnderdampedLangevin" not in str(bare)


@pytest.mark.slow
def test_another_gamma_is_never_taken_though_a_verdict_asks_for_it(found):
    advice = found.recommended
    asked = type(advice.verdict)(False, "Much is γ's.", change={"localization": 0.1})
    other = type(advice)(advice.settings, advice.estimate)
    object.__setattr__(other.estimate, "converged", asked)
    try:
        assert change_of(other, None) == {}
        object.__setattr__(asked, "change", {"n_beta": 30.0})
        assert change_of(other, None) == {"n_beta": 30.0}
    finally:
        object.__setattr__(other.estimate, "converged", advice.verdict)
    assert "localization = 1" in said(advice.settings)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "known"),
    few([(lambda: linear(8, 3), 12.0), (softmax, 8.0), (lambda: linear(6, 5, 2000, 4), 15.0)], 1, unpack=True),
)
def test_regular_models(make, known):
    advice = calibrate(make(), steps=1000).recommended
    assert advice, str(advice)
    assert abs(advice.llc - known) < ERRORS * advice.llc_se + 0.02 * known
    assert advice.llc_se < 0.04 * known


@pytest.mark.slow
@pytest.mark.rare
@pytest.mark.parametrize(("widths", "rank", "seed"), few([([6, 4, 6], 4, 0), ([5, 3, 4], 2, 5)], 1, unpack=True))
def test_deep_linear_networks_as_modules(widths, rank, seed):
    """Beside the exact λ and the posterior's own mean, which differ at a finite n where w0 is singular."""
    problem, known = deep(widths, rank, seed)
    reference = gibbs_reference(DeepLinearNetwork(known.weights, noise_std=0, n=2000))
    advice = calibrate(problem, steps=2000).recommended
    assert advice, str(advice)
    assert abs(advice.llc - reference.llc) < ERRORS * math.hypot(advice.llc_se, reference.llc_se)
    assert abs(advice.llc - float(known.local_learning_coefficient)) < ERRORS * advice.llc_se + 0.05 * advice.llc
