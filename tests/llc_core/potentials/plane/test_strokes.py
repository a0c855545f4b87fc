"""Valleys that are drawn: the curves, their distances and slopes, where they cross, and λ against quadrature."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from sentences import tells

from llc_core import estimate, planar_landscape
from llc_core.potentials import build, price
from llc_core.potentials.plane.pointer import stroke_of
from llc_core.potentials.plane.strokes import MOST_POINTS, Strokes, read_strokes
from llc_core.theory.adaptive_quadrature import adaptive_mean

WAVE = [[-2, 0.3], [-1, 1], [0, -0.5], [1.2, 0.4], [2, -1]]
BOW = [[-2, -1], [0, 0.5], [2, -1]]
ACROSS = [[0, -2], [0.3, 0], [0, 2]]
RING = [[1, 0], [0, 1], [-1, 0], [0, -1], [1, 0]]
LEVEL, STEEP, SLOPED = [[-2, 0], [2, 0]], [[0, -2], [0, 2]], [[-2, -2], [2, 2]]
EIGHT = [[-1.5, -1], [1, 1], [1.5, 0], [1, -1], [-1.5, 1]]


def places(count: int = 400) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.random.default_rng(1).uniform(-3, 3, (2, count))
    return x, y


def test_a_ring_is_a_circle_and_two_points_are_a_segment():
    x, y = places()
    ring = read_strokes([RING]).curves[0]
    assert ring.length == pytest.approx(2 * math.pi, rel=1e-12)
    assert np.sqrt(ring.distances(x, y).min(axis=0)) == pytest.approx(np.abs(np.hypot(x, y) - 1), abs=1e-12)
    middle = ring.offsets(np.zeros(1), np.zeros(1))
    assert np.hypot(middle.along, middle.up) == pytest.approx(1, rel=1e-12)
    segment = read_strokes([LEVEL]).curves[0]
    beyond = np.hypot(np.maximum(np.abs(x) - 2, 0), y)
    assert np.sqrt(segment.distances(x, y).min(axis=0)) == pytest.approx(beyond, abs=1e-12)


@pytest.mark.parametrize("points", [WAVE, ACROSS, EIGHT, RING])
def test_the_way_to_a_curve_is_that_to_its_outline(points):
    x, y = places()
    curve = read_strokes([points]).curves[0]
    spacing = 0.004
    outline = curve.outline(spacing)
    assert np.hypot(*np.diff(outline, axis=1)).max() <= spacing, "arcs join, in their order"
    for point in points:
        assert np.hypot(*(outline - np.array(point)[:, None])).min() < 1e-9
    ways = curve.offsets(x, y)
    nearest = np.hypot(x[:, None] - outline[0], y[:, None] - outline[1]).min(axis=1)
    # The outline's nearest point is off by half its spacing along the curve, hence by its square or less in the distance.
    found = np.hypot(ways.along, ways.up)
    assert (found <= nearest + 1e-12).all() and (nearest - found <= spacing / 2).all()
    foot = x - ways.along, y - ways.up
    assert np.sqrt(curve.distances(*foot).min(axis=0)) == pytest.approx(np.zeros(len(x)), abs=1e-9)


def test_slopes_are_those_of_differences_and_bounded_as_said():
    x, y = places(100)
    strokes = read_strokes([WAVE, ACROSS, RING])
    step = 1e-6
    slopes = strokes.slopes(x, y)
    for i, (dx, dy) in enumerate(((step, 0), (0, step))):
        by_hand = (strokes.product(x + dx, y + dy) - strokes.product(x - dx, y - dy)) / (2 * step)
        # Central differences are wrong by step²·f''' / 6 and by rounding, 1e-16·f / step; curvature is below 10 here.
        assert slopes[:, i] == pytest.approx(by_hand, rel=1e-5, abs=1e-6)
    rho = strokes.product(x, y)
    gradient = (rho[:, None] * slopes).sum(axis=0) / np.hypot(*rho)
    assert (np.hypot(*gradient) <= strokes.steepness(x, y) * (1 + 1e-9)).all()


def test_tensors_and_arrays_agree_and_the_gradient_is_that_of_the_loss():
    problem = planar_landscape("drawn", strokes=[WAVE, ACROSS], n=50)
    delta = torch.tensor(np.array(places(20)).T)
    loss, grad = problem.excess_loss_and_grad(delta)
    arrays, tensors = problem.model.rho(list(delta.numpy().T)), problem.model.rho(delta.unbind(dim=1))
    assert np.array(arrays) == pytest.approx(torch.stack(tensors).numpy(), rel=1e-12)
    step = 1e-6
    for i in (0, 1):
        shift = torch.zeros(2, dtype=torch.float64)
        shift[i] = step
        up, down = (problem.excess_loss_and_grad(delta + sign * shift)[0] for sign in (1, -1))
        assert grad[:, i].numpy() == pytest.approx(((up - down) / (2 * step)).numpy(), rel=1e-4, abs=1e-5)
    per_sample = problem.per_sample_loss(delta, 0, 50).mean(dim=1) - problem.baseline_loss
    assert per_sample.numpy() == pytest.approx(loss.numpy(), rel=1e-9, abs=1e-9)


def crossing_angles(strokes: Strokes) -> list[float]:
    return sorted(math.degrees(math.atan2(y, x)) % 180 for x, y in strokes.crossings)


def test_crossings_are_found_exactly():
    strokes = read_strokes([RING, SLOPED, LEVEL])
    assert len(strokes.crossings) == 5  # four on the ring, and the middle
    for point in strokes.crossings:
        assert len(strokes.bundles(*point)) == 2
        assert (
            sorted(np.sqrt(curve.distances(*np.array([[c] for c in point])).min()) for curve in strokes.curves)[1]
            < 1e-12
        )
    assert crossing_angles(read_strokes([RING, SLOPED])) == pytest.approx([45, 45])
    assert read_strokes([LEVEL, [[-2, 1], [2, 1]]]).crossings == []
    tee = read_strokes([LEVEL, [[0, 0], [0, 2]]])
    assert tee.crossings[0] == pytest.approx((0, 0)) and len(tee.crossings) == 1
    assert sorted(len(rays) for rays in tee.bundles(0, 0)) == [1, 2]


def of_population(problem, n_beta: float) -> float:
    """λ̂ of K itself, without the noise of a data set, held near w0."""
    square = -1 / (2 * problem.noise_std**2)
    found = adaptive_mean(problem, np.array([0, 0, square, square]), n_beta, 10.0)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("strokes", "at"),
    [([WAVE], None), ([RING], [0.0, 1.0]), ([LEVEL], [2.0, 0.0]), ([WAVE], [-2, 0.3]), ([EIGHT], None)],
)
def test_one_stroke_has_half_everywhere(strokes, at):
    problem = planar_landscape("drawn", strokes=strokes, at=at, n=100)
    local = problem.local_learning_coefficient
    assert (local.value, local.multiplicity) == (Fraction(1, 2), 1) and problem.learning_coefficient == local
    few, many = of_population(problem, 1e3), of_population(problem, 1e4)
    # At a point inside λ̂ is off by 1/nβ; at an end by the half disc beyond it, √(π/nβ) of the valley's length, or less.
    assert abs(many - 0.5) < 0.02 and (abs(many - 0.5) < 0.4 * abs(few - 0.5))


@pytest.mark.slow
def test_two_strokes_that_cross_have_half_twice():
    problem = planar_landscape("drawn", strokes=[BOW, ACROSS], n=100)
    local = problem.local_learning_coefficient
    assert (local.value, local.multiplicity) == (Fraction(1, 2), 2) and problem.learning_coefficient == local
    # λ̂ = 1/2 − 1/(log nβ + c): with m = 2 the inverse of what is missing grows by log 10 with each decade, once the valley is so
    # narrow, 1/√nβ, that its bends and the way to the localisation's edge do not count.
    missing = [1 / (0.5 - of_population(problem, n_beta)) for n_beta in (1e4, 1e5)]
    assert missing[1] - missing[0] == pytest.approx(math.log(10), rel=0.05)
    beside = planar_landscape("drawn", strokes=[WAVE, ACROSS], at=[-2, 0.3])
    assert beside.local_learning_coefficient.multiplicity == 1 and beside.learning_coefficient.multiplicity == 2


@pytest.mark.slow
def test_three_strokes_through_a_point_have_a_third():
    problem = planar_landscape("drawn", strokes=[LEVEL, STEEP, SLOPED], n=100)
    local = problem.local_learning_coefficient
    assert (local.value, local.multiplicity) == (Fraction(1, 3), 1)
    # The disc around 0 weighs nβ^(−1/3) and the lines nβ^(−1/2): what is missing falls with nβ^(−1/6).
    few, many = (1 / 3 - of_population(problem, n_beta) for n_beta in (1e4, 1e5))
    assert many / few == pytest.approx(10 ** (-1 / 6), rel=0.05)


def test_strokes_that_touch_are_not_told():
    beside = [[-1, 1], [0, 0], [1, 1]]
    problem = planar_landscape("drawn", strokes=[LEVEL, beside], at=[0, 0], n=100)
    assert problem.local_learning_coefficient is None and problem.learning_coefficient is None
    again = planar_landscape("drawn", strokes=[LEVEL, LEVEL], at=[1, 0], n=100)
    assert again.local_learning_coefficient is None


@pytest.mark.slow
def test_chains_find_the_exact_answer():
    problem = planar_landscape("drawn", strokes=[BOW], n=200)
    exact = problem.expected_llc()
    found = estimate(problem, sampler={"name": "MALA"}, steps=600, chains=40, burn_in=0.2, seed=3)
    assert abs(found.llc - exact) < 4 * found.llc_se, (found.llc, found.llc_se, exact)


def test_json_and_price():
    problem = planar_landscape("drawn", strokes=[WAVE, ACROSS], n=100)
    again = build(json.loads(json.dumps(problem.to_dict())))
    assert again.to_dict() == problem.to_dict()
    assert price(problem.to_dict()).parameters == 2


@pytest.mark.parametrize(
    ("strokes", "words"),
    [
        ([], "strokes is"),
        ("x", "strokes is"),
        ([LEVEL] * 5, "1 to 4"),
        ([[[0, 0]]], r"strokes\[0\] is"),
        ([[[0, 0]] * 99], f"2 to {MOST_POINTS}"),
        ([[[0, 0], [1]]], "two numbers"),
        ([[[0, 0], [1, "a"]]], r"strokes\[0\]\[1\]"),
        ([[[0, 0], [1, math.nan]]], r"strokes\[0\]\[1\]"),
        ([[[0, 0], [9, 0]]], "−5 and 5"),
        ([[[0, 0], [0, 0.001]]], "leave one of them out"),
    ],
)
def test_what_is_no_drawing_is_told(strokes, words):
    with pytest.raises(ValueError, match=words) as told:
        planar_landscape("drawn", strokes=strokes)
    tells(told.value)


def test_w0_must_be_a_point_of_the_valley():
    with pytest.raises(ValueError, match=r"lies on no stroke; give a point of the valley, such as \(1, 0\)"):
        planar_landscape("drawn", strokes=[LEVEL], at=[1, 0.5])


def test_any_points_make_curves_or_a_sentence():
    rng = np.random.default_rng(5)
    x, y = places(50)
    made = 0
    for _ in range(60):
        points = np.round(rng.uniform(-3, 3, (int(rng.integers(2, 9)), 2)), 2).tolist()
        try:
            strokes = read_strokes([points])
        except ValueError as error:
            assert "turns back too sharply" in str(error) or "leave one" in str(error)
            continue
        made += 1
        ways = strokes.curves[0].offsets(x, y)
        assert np.isfinite([ways.along, ways.up]).all()
        for point in points:
            assert strokes.curves[0].distances(*np.array([[c] for c in point])).min() < 1e-16
    assert made > 50


def test_a_pointer_becomes_a_stroke():
    t = np.linspace(0, 2 * math.pi, 200)
    shake = np.random.default_rng(2).normal(0, 0.01, (2, 200))
    ring = stroke_of(np.cos(t) + shake[0], np.sin(t) + shake[1])
    assert ring[0] == ring[-1] and 4 <= len(ring) <= MOST_POINTS, "a stroke that ends where it began is closed"
    assert read_strokes([ring]).curves[0].length == pytest.approx(2 * math.pi, rel=0.05)
    line = stroke_of([-2, -1, 2, 2, 2], [0, 0, 0, 0, math.nan])
    assert line[0] == [-2, 0] and line[-1] == [2, 0] and all(y == 0 for _, y in line)
    assert max(max(map(abs, p)) for p in stroke_of([0, 99], [0, 99])) == 5
    for few in ([[0], [0]], [[], []], [[0, 0.1], [0, 0]]):
        with pytest.raises(ValueError, match="too short"):
            stroke_of(*few)
