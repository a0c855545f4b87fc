"""The figures of a sweep hold its series, in few models, and their legend switches curves."""

from __future__ import annotations

import numpy as np
import pytest
from synthetic_store import synthetic_rows

from llc_core.samplers.registry import samplers
from llc_core.sweeps.figures import FIGURES
from llc_core.sweeps.scales import PRINTED, look, squeeze
from llc_core.sweeps.series import PAPER, curves

hv = pytest.importorskip("holoviews", reason="holoviews is in an extra, and this file is also read with the core alone")
GlyphRenderer = pytest.importorskip("bokeh.models").GlyphRenderer

FOUND = [c for c in curves(synthetic_rows(3)) if c.gradient != "minibatch"]
VALUES = {
    "relative_error": lambda c: squeeze(c.mean),
    "mean_against_sd": lambda c: squeeze(c.sd),
    "nan_share": lambda c: c.nan,
    "order_preservation": lambda c: c.order,
}


def drawn(figure):
    """The figure, and the glyph and the columns of what stands for curves."""
    plot = hv.render(figure, backend="bokeh")
    glyphs = [each for each in plot.renderers if isinstance(each, GlyphRenderer)]
    found = [(type(each.glyph).__name__, each.data_source.data) for each in glyphs]
    return plot, [(glyph, data) for glyph, data in found if "index" in data or "xs" in data]


@pytest.mark.parametrize("name", FIGURES)
def test_figures_hold_the_series(name):
    plot, found = drawn(FIGURES[name](FOUND, title="of all"))
    assert plot.name == name and plot.title.text == "of all" and len(plot.legend[0].items) == len(FOUND)
    (points,) = (data for _, data in found if "index" in data)
    for c in FOUND:
        mine = [i for i, key in enumerate(points["key"]) if key == c.key]
        wanted = VALUES[name](c)
        assert len(mine) == np.isfinite(wanted).sum()
        assert [points["y"][i] for i in mine] == pytest.approx(wanted[[points["index"][i] for i in mine]])
    counts = [(glyph, len(data["key"])) for glyph, data in found if glyph in ("MultiLine", "MultiPolygons")]
    half = ("MultiLine", len(FOUND) // 2)
    assert counts == [*([("MultiPolygons", len(FOUND))] if name == "relative_error" else []), half, half]
    low, high = plot.y_range.start, plot.y_range.end
    assert all(low <= y <= high for y in points["y"])
    assert len(plot.references()) < 110, "curves of one gradient are one element"


@pytest.mark.parametrize("name", FIGURES)
def test_without_curves_there_is_an_empty_figure(name):
    plot, found = drawn(FIGURES[name]([]))
    assert plot.name == name and not plot.legend and not found


def test_bands_and_the_legend_can_be_left_out():
    plot, found = drawn(FIGURES["relative_error"](FOUND, spread=False, legend=False))
    assert not plot.legend and {glyph for glyph, _ in found} == {"MultiLine", "Scatter"}


def test_a_click_on_the_legend_finds_every_row_of_its_curve():
    plot, _ = drawn(FIGURES["relative_error"](FOUND))
    (change,) = plot.legend[0].js_event_callbacks["legend_item_click"]
    assert [item.name for item in plot.legend[0].items] == [c.key for c in FOUND]
    for renderer in change.args["renderers"]:
        keys = renderer.data_source.data["key"]
        assert set(keys) <= {c.key for c in FOUND} and len(renderer.view.filter.booleans) == len(keys)
    assert len(change.args["renderers"]) == 4


def test_printed_and_corrected_samplers_are_told_apart():
    looks = {name: look(name) for name in (*samplers(), *PRINTED)}
    assert len(set(looks.values())) == len(looks)
    assert len({looks[name][0] for name in (*PAPER, *PRINTED)}) == 7, "a colour each in the figures of the paper"
