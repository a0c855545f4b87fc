"""A legend whose entries switch their curves on and off, for figures outside the page."""

from __future__ import annotations

from collections.abc import Sequence

from bokeh.models import BooleanFilter, CDSView, ColumnDataSource, CustomJS, Legend, LegendItem
from bokeh.plotting import figure

from app.components.base import text_beside
from app.pages.benchmark.columns import label, look
from app.pages.benchmark.drawing.filling import renderers
from llc_core.sweeps.series import Curve


def add_legend(plot: figure, found: Sequence[Curve]) -> None:
    """Put it below a figure that shows these curves."""
    drawn = renderers(plot)
    looks = [look(c.sampler) for c in found]
    marks = ColumnDataSource(
        {
            "x": [float("nan")] * len(found), "y": [float("nan")] * len(found), "key": [c.key for c in found],
            "color": [color for color, _ in looks], "marker": [marker for _, marker in looks],
            "alpha": [1.0] * len(found),
        }
    )  # fmt: skip
    swatches = plot.scatter("x", "y", source=marks, color="color", marker="marker", alpha="alpha", size=9)
    items = [
        LegendItem(label=label(c.sampler, c.gradient), renderers=[swatches], index=i, name=c.key)
        for i, c in enumerate(found)
    ]
    legend = Legend(
        items=items, orientation="horizontal", ncols=3, border_line_alpha=0, background_fill_alpha=0, tags=[[]],
        label_text_font_size="13px", margin=4, padding=4, click_policy="none",
    )  # fmt: skip
    for renderer in drawn.values():
        renderer.view = CDSView(filter=BooleanFilter([True] * len(renderer.data_source.data["key"])))
    args = {"legend": legend, "renderers": list(drawn.values()), "marks": marks}
    legend.js_on_event("legend_item_click", CustomJS(args=args, code=text_beside(__file__, "legend_switch.js")))
    plot.add_layout(legend, "below")
