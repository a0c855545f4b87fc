"""The stages of a deep linear network over time: its loss, λ and its singular values, one below the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from llc_core.plots.kinds import curves
from llc_core.plots.style import CHAINS, ESTIMATE, QUIET, TRUTH, bars, below_each_other, finished, holoviews


def stages(found: Any, estimates: Sequence[Any] = ()) -> Any:
    """found: `llc_core.Stages`.  estimates: one of each stage, as `found.estimate()` gives them; drawn with two standard errors."""
    hv = holoviews()
    times = np.maximum(found.times, found.times[found.times > 0].min(initial=1.0))
    # The longest rests are drawn as long as they are: learning is a matter of moments.
    axis: dict[str, Any] = {"xlabel": "time of the flow", "xlim": (0.0, 1.05 * float(times[-1]))}
    learned = (found.singular_values > found.teacher / 2).sum(axis=1)
    steps = []
    for stage in found:
        there = times[learned == stage.rank]
        level = float(stage.coefficient)
        steps.append(
            hv.Curve(
                ([there[0], max(there[-1], axis["xlim"][1] if stage is found[-1] else 0.0)], [level] * 2),
                label="exact λ",
            )
        )
    parts = [step.opts(color=TRUTH, line_dash="dashed", line_width=2) for step in steps]
    if estimates:
        at = np.array([stage.time for stage in found])
        llc, error = (np.array([getattr(each, name) for each in estimates]) for name in ("llc", "llc_se"))
        parts += [
            bars(at, llc, error, ESTIMATE),
            hv.Scatter((at, llc), label="λ̂ ± 2 s.e.").opts(color=ESTIMATE, size=8),
        ]
    ladder = finished(hv.Overlay(parts), ylabel="λ", legend_position="bottom_right", **axis)
    fall = curves({"loss": (times, found.loss)}, colors=(ESTIMATE,), ylabel="½‖P − T‖²", show_legend=False, **axis)
    named = {
        f"{value:g}": (times, column) for value, column in zip(found.teacher, found.singular_values.T, strict=True)
    }
    ground = [hv.HLine(float(value)).opts(color=QUIET, line_dash="dotted", line_width=1) for value in found.teacher]
    values = curves(named, ground=ground, colors=CHAINS, ylabel="singular values", legend_position="right", **axis)
    return below_each_other(fall, ladder, values)
