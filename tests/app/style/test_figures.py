"""What all figures of the app have in common."""

from __future__ import annotations

from bokeh.models import BasicTickFormatter, BooleanFilter, CDSView, ColumnDataSource, LogTickFormatter

from app.style.figures import house_figure, lean


def test_small_numbers_on_an_axis_are_written_out():
    """bokeh writes all ticks as powers of ten once one of them is as small as ten to the lower limit."""
    plot = house_figure("any", 100, y_axis_type="log")
    assert isinstance(plot.xaxis[0].formatter, BasicTickFormatter) and isinstance(
        plot.yaxis[0].formatter, LogTickFormatter
    )
    assert 0.001 > 10.0 ** plot.xaxis[0].formatter.power_limit_low >= 0.0001


def test_a_lean_figure_has_fewer_models_and_keeps_what_chooses_rows():
    plot = house_figure("any", 100)
    sources = [ColumnDataSource({"x": [0, 1], "y": [0, 1]}) for _ in range(3)]
    chosen = BooleanFilter(booleans=[True, False])
    plot.line("x", "y", source=sources[0], view=CDSView(filter=chosen))
    for source in sources[1:]:
        plot.line("x", "y", source=source)
    before = len(plot.references())
    lean(plot)
    first, second, third = plot.renderers
    assert first.view.filter is chosen and second.view.filter is third.view.filter is not chosen
    assert second.view is not third.view, "each has the rows of its own source"
    # Two states of each mark, one filter that chooses all rows, and two policies.
    assert len(plot.references()) == before - 3 * 2 - 1 - 2
