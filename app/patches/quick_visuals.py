"""Bokeh's figures ask the page for no styles at each drawing. What they ask and why that is needless here: `quick_visuals.js`.

Holds for bokeh 3.9.2.  Upstream: https://github.com/bokeh/bokeh/issues/15286
Gains: a whole run of Many modes takes the browser 6.1 processor seconds in place of 7.1 (`lab/benchmarks/results/served.md`).
"""

from pathlib import Path

SCRIPT = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
"""For pages whose styles leave figures alone, as those that this app serves do."""
