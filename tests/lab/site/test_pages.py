"""Documents become pages: links to README and to notebooks hold, files come along, and the menu is that of docs/README.md."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.site import citations, pages

ROOT = Path(__file__).resolve().parents[3]


def test_links_hold_and_files_come_along(tmp_path):
    text = "[a](../README.md#who-it-is-for) [b](../lab/notebooks/00_start_here.ipynb) [c](how-to/nginx.conf) [d](words.md)\n"
    code = "```text\n[e](../README.md)\n```\n"
    found = pages.rewritten(ROOT / "docs/x.md", text + code, ROOT, tmp_path)
    assert "(../index.md#who-it-is-for) [b](../lab/notebooks/00_start_here.md)" in found
    assert "(how-to/nginx.conf) [d](words.md)" in found and code in found
    assert (tmp_path / "docs/how-to/nginx.conf").exists()


def test_the_menu_has_every_page_and_what_is_added():
    menus = "".join(pages.menus((ROOT / "docs/README.md").read_text(), {"To look up": [("Samplers", "docs/samplers")]}))
    for path in (ROOT / "docs").rglob("*.md"):
        if path.parent.name == "course" and path.name != "README.md":
            continue  # below the course, see the next test
        assert path.relative_to(ROOT).with_suffix("").as_posix() in menus
    assert "Samplers <docs/samplers>" in menus and "lab/benchmarks/RESULTS>" in menus


def test_the_course_has_its_notes_below_it(tmp_path):
    pages.write(ROOT, tmp_path, {})
    found = (tmp_path / "docs/course/README.md").read_text()
    menu = found[found.rindex("{toctree}") :]
    for path in (ROOT / "docs/course").glob("*.md"):
        assert path.name == "README.md" or f"\n{path.stem}\n" in menu


def test_without_a_package_none_is_offered(tmp_path):
    pages.write(ROOT, tmp_path, {})
    assert "From this site" not in (tmp_path / "docs/install.md").read_text()
    pages.write(ROOT, tmp_path, {}, "one.whl")
    found = (tmp_path / "docs/install.md").read_text()
    assert found.index('"one.whl[networks]"') < found.index("## In a clone")


def test_a_section_that_is_not_there_is_one_sentence():
    with pytest.raises(ValueError, match="has no section 'To eat'; it has To do."):
        list(pages.menus("## To do\n", {"To eat": []}))


def test_the_single_file_stands_on_the_front_page():
    found = pages.front_page("# LLC Lab\n\nWords.\n\n## Who\n", "## To do\n", {})
    assert found.index("Words.") < found.index('src="llc.html"') < found.index("## Who")
    with pytest.raises(ValueError, match="no heading of the second rank"):
        pages.front_page("# LLC Lab\n", "", {})


PAPER = "---\ntitle: 'A'\n---\n\n# Summary\n\nAs @one2020 says [@one2020; @two2021].\n"
BOOK = """@misc{one2020,
  author = {One, Ann},
  title = {{A} First},
  year = {2020},
  eprint = {1},
}

@book{two2021,
  author = {Two, B and Three, C and Four, D},
  title = {A Second},
  publisher = {Press},
  year = {2021},
}
"""


def test_citations_of_the_paper_become_names_and_years():
    found = citations.page(PAPER, BOOK)
    assert "As One (2020) says (One 2020; Two et al. 2021)." in found and "## Summary" in found
    assert "- Ann One (2020). *A First*. <https://arxiv.org/abs/1>" in found
    assert "- B Two, C Three, D Four (2021). *A Second*. Press" in found
    with pytest.raises(ValueError, match="cites two2021, which paper.bib has not"):
        citations.page(PAPER, BOOK.partition("@book")[0])
