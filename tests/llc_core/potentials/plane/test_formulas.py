"""Landscapes whose function a person has typed: what may be typed, exact slopes, the valley, and exact answers by quadrature."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from sentences import tells

from llc_core import density, estimate, planar_landscape, posterior, volume_scaling
from llc_core.potentials import build, price
from llc_core.potentials.plane.formulas import FUNCTIONS, plane_formula
from llc_core.theory import adaptive_quadrature

TYPED = (
    "w1^2 + w2^2 - 1",
    "w1*w2^3",
    "-(w1 - 2)/(1 + w2^2)",
    "exp(-w1^2)*sin(3*w2) + cosh(w2/3)^0.5",
    "sqrt(1 + w1^2)^w2 - 2^w1",
    "tanh(w1)*cos(w2) + log(2 + w1^2) - abs(w2 - 0.3)",
)


@pytest.mark.parametrize("text", TYPED)
def test_slopes_are_those_of_differences_and_of_torch(text):
    found = plane_formula(text)
    rng = np.random.default_rng(1)
    w = rng.uniform(-2, 2, (2, 40))
    slopes = found.slopes(list(w))
    step = 1e-6
    for i in (0, 1):
        up, down = w.copy(), w.copy()
        up[i] += step
        down[i] -= step
        by_hand = (found.value(list(up)) - found.value(list(down))) / (2 * step)
        # Central differences are wrong by step²·f''' / 6 and by rounding, 1e-16·f / step.
        assert slopes[i] == pytest.approx(by_hand, rel=1e-6, abs=1e-7)
    tensors = [torch.tensor(part, requires_grad=True) for part in w]
    value = found.value(tensors)
    value.sum().backward()
    assert value.detach().numpy() == pytest.approx(found.value(list(w)), rel=1e-12)
    for mine, tensor in zip(slopes, tensors, strict=True):
        assert tensor.grad.numpy() == pytest.approx(mine, rel=1e-10, abs=1e-12)


def test_it_means_what_python_means():
    w1, w2 = 0.7, -1.3
    scope = {"w1": w1, "w2": w2}
    texts = {
        "-w1^2*3": -(w1**2) * 3,
        "2^w1^2": 2 ** (w1**2),
        "w₁ − w₂·2": w1 - 2 * w2,
        "w1 - w2 - 1/8": w1 - w2 - 1 / 8,
    }
    for text, wanted in texts.items():
        point = [np.array([value]) for value in scope.values()]
        assert plane_formula(text).value(point)[0] == pytest.approx(wanted, rel=1e-14)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("2 + 3", "neither w1 nor w2"),
        ("x + w1", "the known names are w1, w2"),
        ("__import__('os').system('true')", "means nothing here"),
        ("w1.__class__", "means nothing here"),
        ("9^9^9*w1", "no finite number"),
        ("1/w1", "no finite number at w ="),
        ("sqrt(w1)", "no finite number at w ="),
        ("(" * 60 + "w1" + ")" * 60, "levels deep"),
        ("w1*" * 100 + "w1", "at most 200"),
        (["w1"], "must be a text"),
        (None, "must be a text"),
    ],
)
def test_what_is_no_function_of_the_plane_is_one_sentence(text, words):
    with pytest.raises(ValueError, match="rho") as error:
        planar_landscape("formula", rho=text)
    assert words in str(error.value)
    tells(error.value)


def test_w0_is_a_zero_and_its_lambda_is_told_only_where_it_is_known():
    circle = planar_landscape("formula", rho="w1^2 + w2^2 - 1", at=[0.6, 0.8])
    assert circle.local_learning_coefficient.value == Fraction(1, 2) and circle.learning_coefficient is None
    assert planar_landscape("formula", rho="w1*w2", at=[0, 0]).local_learning_coefficient is None
    with pytest.raises(ValueError, match="where ρ is 3 and not 0; give a point of the valley, such as"):
        planar_landscape("formula", rho="w1^2 + w2^2 - 1", at=[2, 0])
    with pytest.raises(ValueError, match="no zero of it was found"):
        planar_landscape("formula", rho="w1^2 + 1")
    found = planar_landscape("formula", rho="(w1 - 1)^2*(w2 + 2)")
    assert abs(found.model.rho([np.zeros(1), np.zeros(1)])[0][0]) <= 1e-9
    again = build(json.loads(json.dumps(found.to_dict())))
    assert again.to_dict() == found.to_dict() and price(found.to_dict()).parameters == 2


@pytest.mark.parametrize(("rho", "k"), [("w1", [1, 0]), ("w1*w2", [1, 1]), ("w1^2*w2", [2, 1])])
def test_adaptive_quadrature_agrees_with_that_along_axes(rho, k):
    """Two quadratures that share nothing but the distribution; each is as exact as its last halving says, 1e-4 and 1e-5 of the whole."""
    for at, n, localization in (([0, 0], 1000, 1.0), ([0, 1.5], 1000, 30.0), ([0, 0], 20_000, 5.0)):
        mine = planar_landscape("formula", rho=rho, at=at, n=n)
        named = planar_landscape("normal_crossing", k=k, at=at, n=n)
        wanted = named.expected_llc_at(named.n_beta, localization)
        assert mine.expected_llc_at(mine.n_beta, localization) == pytest.approx(wanted, abs=1e-5)


@pytest.mark.slow
def test_thin_ridges_off_the_axes_are_found():
    """Of a straight line the answer does not depend on its direction, however thin its ridge: here 1/300 of a first cell."""
    across = planar_landscape("formula", rho="20*w1", n=100_000, at=[0, 0])
    slanted = planar_landscape("formula", rho="12*w1 + 16*w2", n=100_000, at=[0, 0])
    values = [each.expected_llc_at(each.n_beta, 1.0) for each in (across, slanted)]
    assert values[1] == pytest.approx(values[0], abs=1e-6) and 0.4 < values[0] < 0.6


def test_what_does_not_settle_is_not_told(monkeypatch):
    monkeypatch.setattr(adaptive_quadrature, "MOST_CELLS", 3000)
    found = planar_landscape("formula", rho="w2 - sin(8*w1)")
    assert found.expected_llc_at(found.n_beta, 1.0) is None and found.expected_llc_at(found.n_beta, 0.0) is None


def test_the_other_quadratures_refuse_what_they_cannot_see():
    circle = planar_landscape("formula")
    for ask in (posterior, volume_scaling, lambda problem: density(problem, [0.0], [0.0])):
        with pytest.raises(ValueError, match="formula") as error:
            ask(circle)
        tells(error.value)


@pytest.mark.slow
@pytest.mark.long
def test_chains_on_a_circle_find_the_exact_answer():
    """MALA has no bias: four standard errors."""
    problem = planar_landscape("formula", rho="w1^2 + w2^2 - 1", at=[1, 0], n=300)
    found = estimate(problem, "MALA", chains=16, steps=6000, burn_in=0.2, seed=3)
    assert found.expected == pytest.approx(problem.expected_llc_at(problem.n_beta, 1.0))
    assert abs(found.llc - found.expected) < 4 * found.llc_se and math.isfinite(found.llc)


def test_the_functions_are_those_of_the_line():
    from llc_core.potentials.line.jets import FUNCTIONS as OF_THE_LINE

    assert set(FUNCTIONS) == set(OF_THE_LINE)
