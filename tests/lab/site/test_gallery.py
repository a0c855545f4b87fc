"""Notebooks become pages: with the outputs of a kept run of the same cells, and without any where there is none."""

from __future__ import annotations

import base64
import json

import pytest

from lab.site import figures, gallery

DOT = base64.b64encode(b"\x89PNG").decode()


def code(source, *outputs):
    return {"cell_type": "code", "source": [source], "outputs": list(outputs)}


def displayed(**data):
    return {"output_type": "display_data", "data": {name.replace("_", "/", 1): value for name, value in data.items()}}


STYLES = {
    "stylesheets": [
        "p { color: red }",
        {"name": "ImportedStyleSheet", "id": "s", "attributes": {"url": "https://cdn.example.org/a.css"}},
        {"id": "s"},
    ]
}


def document(root):
    """An output as HoloViews and Panel write it."""
    found = {"d": {"version": "3", "roots": [root], "defs": [{"name": "Row"}, {"name": "ReactiveHTML1"}]}}
    items = [{"docid": "d", "roots": {"r": "place"}, "root_ids": ["r"], "notebook_comms_target": "c"}]
    return f"<div></div><script>\n  var docs_json = {json.dumps(found)};\n  var render_items = {json.dumps(items)};\n</script>"


CELLS = [
    {"cell_type": "markdown", "source": ["# Title\n", "\n", "Words."]},
    code("print(1)", {"output_type": "stream", "name": "stdout", "text": ["1\n"]}),
    code("plot()", displayed(image_png=DOT)),
    code("table()", displayed(text_html=["<table>", "</table>"], text_plain="t")),
    code(
        "figure()", displayed(text_html=document({"name": "Row", "id": "r", "attributes": {"children": [], **STYLES}}))
    ),
    code("app.view()", displayed(text_html=document({"name": "panel.models.layout.Column", "id": "r"}))),
    code("unseen()", displayed(text_html=document({"name": "panel.models.browser.BrowserInfo", "id": "r"}))),
    code(
        "load()",
        {"output_type": "display_data", "data": {"application/vnd.holoviews_load.v0+json": "", "text/html": "x"}},
    ),
]
NOTEBOOK = {"metadata": {}, "cells": CELLS}


def test_a_page_has_cells_and_outputs(tmp_path):
    found = gallery.page(NOTEBOOK, tmp_path, "n", True)
    assert found.startswith("# Title\n") and "```python\nprint(1)\n```\n\n```text\n1\n```" in found
    assert "![Figure](n-2-0.png)" in found and (tmp_path / "n-2-0.png").read_bytes() == b"\x89PNG"
    assert "<table></table>" in found and gallery.SCRIPT in found and gallery.NEEDS_KERNEL in found
    assert "panel.models" not in found and gallery.NOT_RUN not in found and found.count(gallery.NEEDS_KERNEL) == 1


def test_a_figure_asks_no_other_machine_and_talks_to_no_kernel():
    found = figures.figure(document({"name": "Row", "id": "r", "attributes": {**STYLES, "label": "</script>"}}))
    assert 'id="place" data-root-id="r"' in found and "p { color: red }" in found
    assert "example.org" not in found and '{"id": "s"}' not in found and "comms" not in found
    assert '"defs": [{"name": "Row"}]' in found and found.count("</script>") == 1


def test_a_grid_fits_its_column_and_keeps_its_height():
    def plot(height, **more):
        return {"name": "Figure", "attributes": {"width": 450, "height": height, "sizing_mode": "fixed", **more}}

    plots = [[plot(200), 0, 0], [plot(260), 0, 1], [plot(300, width=240), 1, 0], [plot(300, sizing_mode=None), 1, 1]]
    grid = {"name": "GridPlot", "id": "r", "attributes": {"children": plots}}
    before, after = figures.parts(document(grid)), figures.parts(document(grid), fit=True)
    assert before.height == after.height == 560 and before.places == after.places
    assert "stretch_width" not in before.script and after.script.count("stretch_width") == 4
    assert after.script.count('"max_width": 450, "min_width": 300') == 2
    assert after.script.count('"max_width": 240, "min_width": 240') == 1


def test_an_output_that_is_no_figure_is_one_sentence():
    with pytest.raises(ValueError, match="no document of Bokeh"):
        figures.figure("<div></div>")


def test_a_notebook_that_was_not_run_says_so(tmp_path):
    bare = {"metadata": {}, "cells": [{**cell, "outputs": []} for cell in CELLS]}
    found = gallery.page(bare, tmp_path, "n", False)
    assert gallery.NOT_RUN in found and gallery.SCRIPT not in found and "<table>" not in found


def test_a_fence_is_longer_than_those_in_the_text():
    assert gallery.fenced("```\na\n```", "text") == "````text\n```\na\n```\n````"


@pytest.mark.parametrize("same", [True, False])
def test_a_kept_run_is_used_while_the_cells_are_the_same(tmp_path, same):
    path, kept = tmp_path / "n.ipynb", tmp_path / "kept"
    path.write_text(json.dumps(NOTEBOOK))
    assert gallery.current(path, kept) is None
    kept.mkdir()
    mark = gallery.digest(NOTEBOOK) if same else "another"
    (kept / path.name).write_text(json.dumps({**NOTEBOOK, "metadata": {gallery.MARK: mark}}))
    assert (gallery.current(path, kept) is not None) == same


@pytest.mark.slow
def test_a_notebook_runs_and_is_kept(tmp_path):
    pytest.importorskip("nbclient")
    cells = [
        {"cell_type": "code", "source": "1 + 1", "outputs": [], "metadata": {}, "execution_count": None, "id": "a"}
    ]
    path = tmp_path / "n.ipynb"
    path.write_text(json.dumps({"metadata": {}, "cells": cells, "nbformat": 4, "nbformat_minor": 5}))
    gallery.run(path, tmp_path / "kept" / path.name)
    found = gallery.current(path, tmp_path / "kept")
    assert found is not None and "".join(found["cells"][0]["outputs"][0]["data"]["text/plain"]) == "2"
