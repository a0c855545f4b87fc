"""One-dimensional landscapes: exact derivatives, masses, tensors, drawn densities, formulas, and what is refused."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import torch
from scipy.integrate import quad
from scipy.special import digamma

import llc_core
from llc_core.potentials import LANDSCAPES, build, landscape
from llc_core.potentials.line.expressions import CONSTANTS, parse
from llc_core.potentials.line.jets import FUNCTIONS

torch.set_num_threads(1)

USER = {
    "two_modes": {"kind": "landscape", "expression": "exp(-(x-2)^2) + 0.5*exp(-(x+2)^2/0.5)", "of": "density"},
    "wavy": {"kind": "landscape", "expression": "x^4/4 - cos(3*x) + tanh(x)", "of": "energy"},
    "heavy": {"kind": "landscape", "expression": "1/(1+x^2)^3", "of": "density"},
    "drawn": {"kind": "landscape", "points": [[-2.0, 0.1], [-1.0, 1.0], [0.0, 0.4], [1.0, 1.0], [2.5, 0.05]]},
}
ALL = {**{name: {"kind": "landscape", "name": name} for name in LANDSCAPES}, **USER}
EVERY = pytest.mark.parametrize("description", ALL.values(), ids=ALL)


def middle(target, count=201):
    """Positions that carry the mass."""
    return np.linspace(target.quantile(1e-6), target.quantile(1 - 1e-6), count)


@EVERY
def test_slope_and_curvature_are_derivatives(description):
    target = build(description)
    x, h = middle(target), 1e-5
    slope = (target.energy(x + h) - target.energy(x - h)) / (2 * h)
    curvature = (target.slope(x + h) - target.slope(x - h)) / (2 * h)
    np.testing.assert_allclose(target.slope(x), slope, rtol=1e-6, atol=1e-6)
    # knots of a table: the curvature is continuous there, its difference quotient is not smooth
    np.testing.assert_allclose(
        target.curvature(x), curvature, rtol=1e-4, atol=2e-3 if "points" in description else 1e-5
    )


@EVERY
def test_density_is_normalised_bounds_hold_and_the_mode_is_the_minimum(description):
    target = build(description)
    low, high = target.bounds
    inner = [float(q) for q in target.quantile([0.01, 0.3, 0.7, 0.99])]
    inside = quad(target.density, low, high, points=inner, limit=800, epsabs=1e-11)[0]
    assert inside == pytest.approx(1, abs=2e-8)
    far = 20 * (high - low)
    with np.errstate(over="ignore", under="ignore"):
        outside = (
            quad(target.density, low - far, low, limit=400)[0] + quad(target.density, high, high + far, limit=400)[0]
        )
    assert outside < 1e-12
    x = np.linspace(low, high, 10_001)
    assert target.energy(target.mode) <= target.energy(x).min() + 1e-12
    assert abs(target.slope(target.mode)) < 1e-8
    u = np.linspace(0.01, 0.99, 9)
    below = [quad(target.density, low, float(x), points=inner, limit=800)[0] for x in target.quantile(u)]
    np.testing.assert_allclose(below, u, atol=1e-5)


@EVERY
@pytest.mark.parametrize("dtype, tolerance", [(torch.float64, 1e-12), (torch.float32, 2e-5)])
def test_tensors_agree_with_arrays(description, dtype, tolerance):
    target = build(description)
    x = middle(target)
    delta = torch.tensor(x - target.mode).unsqueeze(1).to(dtype)
    loss, grad = target.excess_loss_and_grad(delta)
    diagonal = target.hessian_diagonal(delta, None, torch.Generator())
    assert loss.shape == (len(x),) and grad.shape == diagonal.shape == (len(x), 1)
    assert loss.dtype == grad.dtype == diagonal.dtype == dtype

    def close(a, b):
        np.testing.assert_allclose(
            a.double().numpy().ravel(), b, rtol=tolerance, atol=tolerance * (1 + np.abs(b).max())
        )

    close(loss, target.energy(x) - target.energy(target.mode))
    close(grad, target.slope(x))
    close(diagonal, target.curvature(x))
    vector = torch.full_like(delta, -3.0)
    torch.testing.assert_close(target.hvp(delta, vector), -3 * diagonal)


@EVERY
def test_round_trip_and_description(description):
    target = build(description)
    assert target.to_dict() == description == json.loads(json.dumps(target.to_dict()))
    assert build(target.to_dict()) == target and landscape(target) is target
    assert target.dim == 1 and target.n_beta == 1.0 and target.localization == 0.0 and target.gradients == ("full",)
    assert target.label and target.formula and target.about.endswith(".")


@pytest.mark.parametrize("description", USER.values(), ids=USER)
def test_scalar_arithmetic_is_that_of_the_arrays(description):
    target = build(description)
    low, high = target.bounds
    for x in [*np.linspace(low - 5, high + 5, 41), 1e9, -1e9]:
        for name in ("energy", "slope", "curvature"):
            ours = getattr(target.scalar, name)(x, target.parameters)
            assert ours == pytest.approx(float(getattr(target, name)(x)), rel=1e-12), (name, x)


def test_expected_llc_is_the_exact_mean():
    assert landscape("normal").expected_llc() == pytest.approx(0.5, abs=1e-9)
    assert landscape("normal").expected_llc(300.0) == pytest.approx(0.5, abs=1e-9)
    assert landscape("quartic").expected_llc(0.01) == pytest.approx(0.25, abs=1e-9)
    assert landscape("skewed").expected_llc() == pytest.approx(2 * (math.log(2) - digamma(2)), abs=1e-9)
    assert landscape("student_t").expected_llc() == pytest.approx(3 * (digamma(3) - digamma(2.5)), abs=1e-7)
    assert landscape("student_t").expected_llc(0.1) is None, "that law has no finite mass"


def test_the_engine_finds_it():
    target = landscape("skewed")
    found = llc_core.estimate(target, steps=2000, chains=64, seed=1, progress=False)
    expected = target.expected_llc()
    assert found.expected == expected and found.llc_se < 0.03
    assert abs(found.llc - expected) < 4 * found.llc_se + 0.01


# -- user densities ---------------------------------------------------------------------------------------------------


def test_a_formula_is_the_law_it_says():
    for text, of in (("exp(-x^2/2)", "density"), ("x^2/2 + 7", "energy"), ("3*exp(-x*x/2)", "density")):
        target = landscape({"expression": text, "of": of})
        x = np.linspace(-5, 5, 101)
        assert target.table_error < 1e-6
        np.testing.assert_allclose(target.density(x), landscape("normal").density(x), atol=1e-9)
        np.testing.assert_allclose(target.slope(x), x, atol=1e-8)
        np.testing.assert_allclose(target.curvature(x), 1, atol=1e-6)


def test_the_stated_error_of_the_table_is_its_error():
    """On a formula with a kink, where it is not negligible, against the distribution itself."""
    target = landscape({"expression": "abs(x)", "of": "energy"})
    x = np.linspace(*target.bounds, 400_001)
    exact = np.exp(-np.abs(x))
    distance = np.abs(exact / exact.sum() - target.density(x) / target.density(x).sum()).sum() / 2
    assert 1e-8 < distance < 2 * target.table_error < 1e-3


def test_drawn_densities_go_through_their_points_and_have_no_other_modes():
    points = [[3.0, 0.3], [-2.0, 0.1], [-1.0, 1.0], [0.0, 1e-4], [1.0, 2.0], [2.0, 0.3]]
    target = landscape({"kind": "landscape", "points": points})
    x, density = np.array(sorted(points)).T
    ours = target.density(x)
    np.testing.assert_allclose(ours / ours[0], density / density[0], rtol=1e-4)
    fine = np.linspace(*target.bounds, 20_001)
    rising = np.diff(target.density(fine)) > 1e-6
    assert (np.diff(rising.astype(int)) == 1).sum() == 2, "it rises twice: to 1 and to 2"
    jump = np.abs(np.diff(target.slope(fine))).max()
    assert jump < 1.1 * np.abs(target.curvature(fine)).max() * (fine[1] - fine[0]), "the slope is continuous"


@pytest.mark.parametrize(
    "text",
    [
        "x^3 - 2*x**2 + 1",
        "exp(-x^2/2)*(1 + 0.3*sin(2*x))",
        "log(1 + x^2)/sqrt(2 + x)",
        "tanh(x)*cosh(x) - abs(x - 3)",
        "(2 + cos(x))^x + 2^-x",
        "-x^2^0.5e0 + pi*e",
        "1/(1 + x^4)",
    ],
)
def test_jets_are_derivatives_and_follow_the_usual_precedence(text):
    x, h = np.linspace(0.3, 2.0, 18), 1e-4
    value, first, second = parse(text).jet(x)
    above, below = parse(text).jet(x + h)[0], parse(text).jet(x - h)[0]
    np.testing.assert_allclose(first, (above - below) / (2 * h), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(second, (above - 2 * value + below) / h**2, rtol=1e-4, atol=1e-5)


def test_precedence():
    at = np.array([2.0])
    values = {
        "-x^2": -4,
        "2^3^2": 512,
        "6/2*3": 9,
        "1-2-3": -4,
        "2*-x": -4,
        "2^-1": 0.5,
        "−x·π": -2 * math.pi,
        "e^1": math.e,
    }
    for text, value in values.items():
        assert parse(text).jet(at)[0][0] == pytest.approx(value), text
    assert parse("0*x^2").jet(np.array([0.0])) == (0, 0, 0)
    assert parse("x^2").jet(np.array([-3.0])) == (9, -6, 2)
    assert parse("exp(-x^2/2)").latex == r"\exp\left(\frac{-x^{2}}{2}\right)"
    assert set(FUNCTIONS) == {"exp", "log", "sqrt", "sin", "cos", "tanh", "abs", "cosh"} and set(CONSTANTS) == {
        "pi",
        "e",
    }


@pytest.mark.parametrize(
    "description, sentence",
    [
        ("cauchy", "choose one of normal, double_well"),
        (7, "target must be"),
        ({"kind": "dln"}, "must be a landscape"),
        ({"kind": "landscape"}, "one of name, points and expression"),
        ({"name": "normal", "points": [[0, 1]] * 3}, "one of name, points and expression"),
        ({"name": "normal", "of": "energy"}, "of belongs to an expression"),
        ({"name": "normal", "scale": 2}, "Unknown key 'scale'"),
        ({"name": ["normal"]}, "landscape is "),
        ({"expression": "x^2", "of": "loss"}, "of is 'loss'"),
        ({"expression": 3}, "must be a text"),
        ({"expression": ""}, "is empty"),
        ({"expression": "x" * 201}, "201 characters"),
        ({"expression": "(" * 60 + "x" + ")" * 60}, "levels deep"),
        ({"expression": "-" * 100 + "x"}, "levels deep"),
        ({"expression": "x+"}, "ends too early"),
        ({"expression": "2x"}, r"write an operator such as \* before 'x'"),
        ({"expression": "sin x"}, "sin at character 1 needs its argument in parentheses"),
        ({"expression": "gamma(x)"}, "'gamma' at character 1 is not known"),
        ({"expression": "x)"}, "never opened"),
        ({"expression": "(x"}, "closing parenthesis is missing"),
        ({"expression": "*x"}, "missing before"),
        ({"expression": "__import__('os')"}, "means nothing here"),
        ({"expression": "x.real"}, "means nothing here"),
        ({"expression": "1e999*x"}, "too large a number"),
        ({"expression": "x"}, "negative at x = -50"),
        ({"expression": "0*x"}, "0 on all"),
        ({"expression": "1"}, "does not fall off"),
        ({"expression": "1/(1+x^2)"}, "does not fall off"),
        ({"expression": "exp(x^2)"}, "not a finite number"),
        ({"expression": "x^2*exp(-x^2)"}, "at x = 0; between its modes"),
        ({"expression": "log(x)", "of": "energy"}, "not a finite number"),
        ({"expression": "-x^2", "of": "energy"}, "does not rise"),
        ({"expression": "sqrt(x^2)", "of": "energy"}, "slope of the energy is not finite"),
        ({"points": "abc"}, "list of pairs"),
        ({"points": [[0, 1], [1, 1]]}, "2 points"),
        ({"points": [[0, 1]] * 61}, "61 points"),
        ({"points": [[0, 1], [1, 1], 2]}, "must be a pair"),
        ({"points": [[0, 1], [1, 1], [2, "a"]]}, "density of a point must be a number"),
        ({"points": [[0, 1], [1, math.nan], [2, 1]]}, "finite number"),
        ({"points": [[0, 1], [1, 0], [2, 1]]}, "at x = 1 is 0; it must be positive"),
        ({"points": [[0, 1], [0, 2], [2, 1]]}, "nearly the same x"),
        ({"points": [[0, 1], [1, 2], [51, 1]]}, "within"),
        ({"points": [[0, 1e-30], [1, 2], [3, 1]]}, "factor 1e"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(description, sentence):
    with pytest.raises(ValueError, match=sentence) as caught:
        landscape(description)
    assert str(caught.value).endswith(".") and "\n" not in str(caught.value)
