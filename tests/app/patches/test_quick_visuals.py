"""What figures are answered is what they would find; that they ask, `tests/browser/test_patches.py` sees."""

from __future__ import annotations

from pathlib import Path

import bokeh

from app.patches.quick_visuals import SCRIPT

ROOT = Path(__file__).resolve().parents[3]
BOKEH = (Path(bokeh.__file__).parent / "server" / "static" / "js" / "bokeh.js").read_text(encoding="utf-8")


def test_what_is_mended_is_there():
    for name in ("core/visuals/visual", "models/plots/plot_canvas"):
        assert f"'{name}'" in SCRIPT and f"/* {name}.js */" in BOKEH
    for asks in (
        "_get_css_value(name) {\n            const style = getComputedStyle(this.obj.el)",
        "get base_font_size() {\n            const font_size = getComputedStyle(this.el).fontSize",
    ):
        assert asks.split("(")[0].removeprefix("get ") in SCRIPT and asks in BOKEH


def test_no_style_sheet_speaks_to_figures():
    """None sets a colour or a width of a figure, which Bokeh knows as `--bk-…`."""
    found = [path for path in (ROOT / "app").rglob("*") if path.suffix in {".css", ".html", ".js", ".py"}]
    assert len(found) > 100 and not [path for path in found if "--bk-" in path.read_text(encoding="utf-8")]
