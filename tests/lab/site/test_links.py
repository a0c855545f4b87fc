"""Links without an end, and files of other machines, are found; what a click alone asks for is let be."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.site import links

PAGE = '<h1 id="here">A</h1><a href="inner/b.html#there">b</a><a href="#here">up</a><a href="https://a.org/x">out</a>'


@pytest.fixture
def site(tmp_path) -> Path:
    (tmp_path / "inner").mkdir()
    (tmp_path / "a.html").write_text(PAGE)
    (tmp_path / "inner/b.html").write_text('<p id="there"><img src="../c.png"><a href="../inner/">list</a>')
    (tmp_path / "inner/index.html").write_text('<link rel="stylesheet" href="../d.css"><link rel="icon" href="data:,">')
    (tmp_path / "c.png").write_bytes(b"")
    (tmp_path / "d.css").write_text("p { background: url('c.png') }")
    return tmp_path


def test_a_site_whose_links_have_ends_has_no_fault(site):
    assert list(links.faults(site)) == []


@pytest.mark.parametrize(
    "planted, words",
    [
        ('<a href="nothing.html">', "a.html links to nothing.html, which is not there."),
        ('<a href="inner/b.html#nowhere">', "the page has no such place."),
        ('<a href="#nowhere">', "the page has no such place."),
        ('<a href="../outside.html">', "which is not there."),
        ('<img src="none.png">', "which is not there."),
        ('<script src="https://cdn.example.org/a.js"></script>', "fetches https://cdn.example.org/a.js"),
        ('<link rel="stylesheet" href="//fonts.example.org/a.css">', "fetches //fonts.example.org/a.css"),
        ('<iframe src="https://a.org/">', "fetches https://a.org/"),
        ('<div data-figure="none.js">', "a.html links to none.js, which is not there."),
    ],
)
def test_a_planted_fault_is_found(site, planted, words):
    (site / "a.html").write_text(PAGE + planted)
    (found,) = links.faults(site)
    assert words in found


@pytest.mark.parametrize("planted", ["url(https://a.org/f.woff2)", "@import 'e.css'", "url(fonts/none.woff2)"])
def test_a_planted_fault_of_a_style_is_found(site, planted):
    (site / "d.css").write_text(planted)
    assert len(list(links.faults(site))) == 1
