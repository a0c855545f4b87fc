"""Notebooks become pages: with the outputs of a kept run of the same cells, and without any where there is none."""

from __future__ import annotations

import base64
import json

import pytest

from lab.site import gallery

DOT = base64.b64encode(b"\x89PNG").decode()


def code(source, *outputs):
    return {"cell_type": "code", "source": [source], "outputs": list(outputs)}


def displayed(**data):
    return {"output_type": "display_data", "data": {name.replace("_", "/", 1): value for name, value in data.items()}}


CELLS = [
    {"cell_type": "markdown", "source": ["# Title\n", "\n", "Words."]},
    code("print(1)", {"output_type": "stream", "name": "stdout", "text": ["1\n"]}),
    code("plot()", displayed(image_png=DOT)),
    code("table()", displayed(text_html=["<table>", "</table>"], text_plain="t")),
    code("figure()", displayed(text_html="<div id='p'></div><script>root.Bokeh.embed()</script>")),
    code("app.view()", displayed(text_html="<script>{'type': 'panel.models.layout.Column'}</script>")),
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
    assert "panel.models" not in found and gallery.NOT_RUN not in found


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
    assert found is not None and found["cells"][0]["outputs"][0]["data"]["text/plain"] == "2"
