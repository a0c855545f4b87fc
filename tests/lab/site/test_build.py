"""The whole site is built from files alone, without a warning or a broken link, in the time that is promised."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from lab.site import build, links
from llc_core.studies.papers.items import find
from llc_core.studies.papers.running import run_item
from llc_core.version import __version__

pytest.importorskip("sphinx")
pytest.importorskip("myst_parser")
pytest.importorskip("furo")

MOST_SECONDS = 300
"""Processor time. On quiet cores it is a fifth."""
WHEEL = f"llc_lab-{__version__}-py3-none-any.whl"


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    (folder / WHEEL).touch()
    (folder / "llc_lab-0.0.0-py3-none-any.whl").touch()
    for item in ("000/figure-2", "000/table-1"):  # less than a second
        run_item(find(item), "small", folder / "work" / "papers")
    start = time.process_time()
    assert build.build(folder / "html", folder / "work", packages=folder) == []
    assert time.process_time() - start < MOST_SECONDS
    return folder / "html"


@pytest.mark.slow
def test_the_site_has_every_page(site):
    root = build.ROOT
    for path in (root / "docs").rglob("*.md"):
        assert (site / path.relative_to(root)).with_suffix(".html").exists()
    for path in (root / "lab/notebooks").glob("*.ipynb"):
        assert (site / path.relative_to(root)).with_suffix(".html").exists()
    for name in ("index", "llc", "search", "docs/samplers", "docs/reference/estimates", "lab/benchmarks/RESULTS"):
        assert (site / f"{name}.html").exists(), name
    assert "katex.min.js" in (site / "docs/samplers.html").read_text()


@pytest.mark.slow
def test_the_site_alone_brings_the_package_and_the_hand_outs(site):
    install, course = (site / f"docs/{name}.html" for name in ("install", "course/README"))
    assert f'href="../{WHEEL}"' in install.read_text() and [path.name for path in site.glob("*.whl")] == [WHEEL]
    assert 'href="../../handouts.html"' in course.read_text() and (site / "handouts.html").exists()
    assert 'href="docs/install.html">install the package' in (site / "index.html").read_text()
    assert (site / "_static/icon.svg").read_text().startswith("<svg")


@pytest.mark.slow
def test_items_of_the_papers_are_linked_and_draw_with_one_bokeh(site):
    text, index = ((site / f"docs/{name}.html").read_text() for name in ("papers-small", "papers"))
    assert text.count("bokeh.min.js") == 1 and (site / "_static/bokeh.min.js").exists()
    assert 'id="paper-000-figure-2"' in text and 'href="papers-small.html#paper-000-figure-2"' in index
    assert 'href="docs/papers-small.html"' in (site / "index.html").read_text()
    figure = site / "papers/000-figure-2.js"
    figure.rename(figure.with_suffix(".away"))
    assert [fault for fault in links.faults(site) if "papers-small" in fault and "000-figure-2.js" in fault]
    figure.with_suffix(".away").rename(figure)


@pytest.mark.slow
def test_a_link_that_breaks_later_is_found(site):
    page = site / "docs/words.html"
    text = page.read_text()
    page.write_text(text.replace("</body>", '<a href="no-such-page.html">a</a></body>'))
    try:
        assert [fault for fault in links.faults(site) if "no-such-page" in fault]
    finally:
        page.write_text(text)


@pytest.mark.slow
@pytest.mark.parametrize("planted", ["[a](nothing.md)", "[a](#nowhere)", "![a](none.png)", "```{nonsense}\n```"])
def test_a_planted_fault_of_a_document_is_found(tmp_path, planted):
    source = tmp_path / "source"
    source.mkdir()
    (source / "index.md").write_text(f"# A\n\n{planted}\n")
    for name in ("static", "extra"):
        (tmp_path / name).mkdir()
    options = {**build.settings(tmp_path / "static", tmp_path / "extra"), "html_css_files": [], "html_js_files": []}
    found = build.rendered(source, tmp_path / "html", tmp_path / "kept", options)
    assert found or list(links.faults(tmp_path / "html"))
