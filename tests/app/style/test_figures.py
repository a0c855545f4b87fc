"""What all figures of the app have in common."""

from __future__ import annotations

from bokeh.models import BasicTickFormatter, LogTickFormatter

from app.style.figures import house_figure


def test_small_numbers_on_an_axis_are_written_out():
    """bokeh writes all ticks as powers of ten once one of them is as small as ten to the lower limit."""
    plot = house_figure("any", 100, y_axis_type="log")
    assert isinstance(plot.xaxis[0].formatter, BasicTickFormatter) and isinstance(
        plot.yaxis[0].formatter, LogTickFormatter
    )
    assert 0.001 > 10.0 ** plot.xaxis[0].formatter.power_limit_low >= 0.0001
