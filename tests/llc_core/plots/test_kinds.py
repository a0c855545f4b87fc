"""Kinds of figures: every number that is given is drawn, in its place, and nothing else is."""

from __future__ import annotations

import holoviews as hv
import numpy as np
import pytest

from llc_core.plots.kinds import curves, densities, in_places
from llc_core.plots.style import beside_each_other, diagonal, line_at

X = np.array([1.0, 2.0, 4.0])


def elements(figure, kind):
    return [each for each in figure.traverse(lambda each: each, [kind]) if type(each) is kind]


def test_curves_bring_their_errors_and_bands():
    figure = curves({"bars": (X, X, X / 10), "band": (X, X, (X - 1, X + 1)), "plain": (X, 2 * X)}, ground=line_at(3.0))
    assert [each.label for each in elements(figure, hv.Curve)] == ["bars", "band", "plain"]
    (errors,), (area,), (dots,) = (elements(figure, kind) for kind in (hv.ErrorBars, hv.Area, hv.Scatter))
    np.testing.assert_allclose(errors.dimension_values(2), 2 * X / 10)
    np.testing.assert_array_equal(area["high"], X + 1)
    assert dots.label == "bars" and [each.data for each in elements(figure, hv.HLine)] == [3.0]
    hv.render(figure, backend="bokeh")


def test_what_is_not_finite_is_left_out_with_its_error():
    (curve,) = elements(curves({"": (X, [1.0, np.nan, 3.0])}), hv.Curve)
    assert list(curve["x"]) == [1.0, 4.0]
    (bars,) = elements(curves({"": (X, [1.0, np.nan, 3.0], [0.1, 0.2, 0.3])}), hv.ErrorBars)
    np.testing.assert_allclose(bars.dimension_values(2), [0.2, 0.6])


def test_points_alone_and_the_diagonal():
    figure = curves({"seeds": (X, X + 1)}, ground=[diagonal(X, X + 1)], lines=False)
    assert [each.label for each in elements(figure, hv.Curve)] == ["equal"]
    assert list(elements(figure, hv.Curve)[0]["x"]) == [1.0, 5.0] and len(elements(figure, hv.Scatter)[0]) == 3


def test_as_many_x_as_y():
    with pytest.raises(ValueError, match="The curve 'a' has 3 x and 2 y; give as many of both"):
        curves({"a": (X, [1.0, 2.0])})


def test_histograms_lie_beside_curves_of_their_own_places():
    figure = densities([0.0, 1.0, 3.0], {"U": [0.2, 0.4], "V": [0.5, 0.25]}, {"target": [0.3, 0.3], "law": (X, X)})
    assert [each.label for each in elements(figure, hv.Histogram)] == ["U", "V"]
    target, law = elements(figure, hv.Curve)
    assert list(target["x"]) == [0.5, 2.0] and list(law["x"]) == list(X)


@pytest.mark.parametrize("lying", [False, True])
def test_ways_stand_beside_each_other_in_the_place_of_their_name(lying):
    found = {"mean": ([1.0, 2.0], [0.1, 0.2]), "median": ([3.0, 4.0],)}
    figure = in_places(["a", "b"], found, truths={"λ": [5.0, 6.0]}, lying=lying)
    across, up = ("y", "x") if lying else ("x", "y")
    truth, mean, median = elements(figure, hv.Scatter)
    assert (list(truth[up]), list(mean[up]), list(median[up])) == ([5.0, 6.0], [1.0, 2.0], [3.0, 4.0])
    first, second = (1.0, 0.0) if lying else (0.0, 1.0)
    assert list(truth[across]) == [first, second]
    assert (mean[across] < truth[across]).all() and (truth[across] < median[across]).all()
    plot = hv.render(figure, backend="bokeh")
    assert set((plot.yaxis if lying else plot.xaxis)[0].major_label_overrides.values()) == {"a", "b"}
    assert len(plot.legend[0].items) == 3


def test_figures_beside_each_other_share_the_row():
    drawn = hv.render(beside_each_other(*(curves({"": (X, X)}) for _ in range(3)), columns=3), backend="bokeh")
    assert {figure.width for figure, _, _ in drawn.children} == {300}
