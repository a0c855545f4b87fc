"""What `llc-lab paper` left becomes one page: figures, claims, commands; and where nothing ran, or not to its end, it says so."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from lab.site import papers
from llc_core.studies.papers.items import find
from llc_core.studies.papers.running import run_item

pytest.importorskip("holoviews")

INDEX = Path(__file__).resolve().parents[3] / "docs" / "papers.md"
FIGURE, TABLE = find("000/figure-2"), find("000/table-1")
CHEAPEST = (FIGURE, TABLE)
"""Less than a second together, as they are at the small size: one with a figure, one with a table."""


@pytest.fixture(scope="module")
def ran(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("ran")
    for item in CHEAPEST:
        run_item(item, "small", folder)
    return folder


@pytest.fixture
def results(ran, tmp_path) -> Path:
    """A copy, in which a test may change something."""
    return Path(shutil.copytree(ran, tmp_path / "results"))


@pytest.fixture
def written(tmp_path):
    """Writes the page of a folder of results; gives its text, and that of the list of items."""

    def write(results: Path) -> tuple[str, str]:
        docs = tmp_path / "docs"
        docs.mkdir()
        shutil.copy(INDEX, docs)
        papers.write(docs, results, tmp_path / "files")
        return (docs / f"{papers.PAGE}.md").read_text(), (docs / INDEX.name).read_text()

    return write


def changed(results: Path, **news) -> None:
    """Put other values into the numbers of the item with a table."""
    path = results / "000-table-1.small.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **news}))


def cards(text: str) -> dict[str, str]:
    """The part of each item by its place."""
    return {part.partition(")=")[0]: part for part in text.split("\n(")[1:]}


def test_a_card_has_figure_claims_and_command(results, written, tmp_path):
    text, _ = written(results)
    card, report = cards(text)["paper-000-figure-2"], json.loads((results / "000-figure-2.small.json").read_text())
    assert len(report["claims"]) == 12 and card.count('<li class="holds"><b>holds</b>') == 12
    for claim in report["claims"]:
        assert claim["found"] in card
    assert "```bash\nllc-lab paper 000/figure-2 --size small\n```" in card
    assert "The volume of small losses scales as ε to the power λ." in card and "Run at the small size: " in card
    assert 'data-figure="../papers/000-figure-2.js"' in card and 'href="../papers/000-figure-2.small.json"' in card
    script = (tmp_path / "files" / "000-figure-2.js").read_text()
    (place,) = [part.partition('"')[0] for part in card.split('<div id="')[1:]]
    assert script.startswith("Bokeh.embed.embed_items({") and place in script and '"name": "Figure"' in script
    assert (tmp_path / "files" / "000-figure-2.small.json").exists()


def test_bokeh_is_loaded_once_and_the_page_is_light(results, written, tmp_path):
    text, _ = written(results)
    assert text.count("bokeh.min.js") == 1 and "embed_items" not in text
    before = (results / "000-figure-2.small.html").stat().st_size
    assert before > 2_000_000 > 10 * (tmp_path / "files" / "000-figure-2.js").stat().st_size
    assert len(text) < 50_000


def test_a_table_without_a_figure_is_open(results, written, tmp_path):
    card = cards(written(results)[0])["paper-000-table-1"]
    assert "<details open><summary>Table</summary><pre>" in card and "100M" in card and "data-figure" not in card
    assert not (tmp_path / "files" / "000-table-1.js").exists()


def test_verdicts_are_told_and_counted(results, written):
    claims = [
        {"text": "a < b", "holds": True, "found": "1 ± 0.1", "ours": False},
        {"text": "b", "holds": False, "found": "2", "ours": True},
        {"text": "c", "holds": None, "found": "3", "ours": False},
    ]
    changed(results, claims=claims)
    text, _ = written(results)
    card = cards(text)["paper-000-table-1"]
    assert '<li class="holds"><b>holds</b> a &lt; b: <span>1 ± 0.1</span></li>' in card
    assert '<li class="does"><b>does not hold</b> b (ours): <span>2</span></li>' in card
    assert '<li class="undecided"><b>undecided</b> c: <span>3</span></li>' in card
    assert "| all | 2 | 13 | 1 | 1 |" in text and "| [000](#paper-000) | 2 | 13 | 1 | 1 |" in text


def test_what_has_changed_since_is_told(results, written):
    changed(results, settings={"name": "Classes", "problems": 3}, rows="some with other states of the engine: 1234abcd")
    found = cards(written(results)[0])
    told = ("The settings of this item have changed", "by earlier states of the engine")
    assert all(words in found["paper-000-table-1"] for words in told)
    assert not any(words in found["paper-000-figure-2"] for words in told)


def test_what_did_not_run_is_named_with_its_reason(results, written):
    text, index = written(results)
    assert "Not in these results: Figure 3, Figure 4," in text and "Appendix A, Appendix E." in text
    assert "- Figure 1: a drawing of ideas, without numbers; nothing to run." in text
    assert "| [figure 2](#paper-000-figure-2) | the volume" in index and "| [table 1](#paper-000-table-1) |" in index
    assert index.count("](#paper-") == 2 and f"]({papers.PAGE}.md)" in index


@pytest.mark.parametrize("there", [True, False])
def test_no_results_are_one_sentence(written, tmp_path, there):
    if there:
        (tmp_path / "none").mkdir()
    text, index = written(tmp_path / "none")
    assert text == papers.ABSENT and "`make papers` runs every figure and table" in text
    assert "](#paper-" not in index and f"]({papers.PAGE}.md)" in index


def test_a_page_that_is_not_finished_is_not_shown(results, written):
    page = results / "000-figure-2.small.html"
    page.write_text(page.read_text()[:-1000])
    text, _ = written(results)
    assert (
        "paper-000-figure-2" not in text and "paper-000-table-1" in text and "Not in these results: Figure 2," in text
    )


@pytest.mark.parametrize("planted", ["numbers", "page"])
def test_files_of_another_kind_are_one_sentence(results, planted):
    if planted == "numbers":
        (results / "000-table-1.small.json").write_text("{")
    else:
        (results / "000-table-1.small.html").write_text("<html><head></head><body></body></html>\n")
    with pytest.raises(ValueError, match=r"^000-table-1\.small is no result of llc-lab paper \(.*\); remove it"):
        papers.read(TABLE, results)


def test_a_card_says_what_stands_in_place_of_what_is_printed():
    item = find("004/figure-5")
    report = {"claims": [], "settings": item.sizes["small"].to_dict(), "rows": "all with this engine"}
    text = papers.card(papers.Result(item, Path("numbers.json"), report, "runs.", "", None))
    title = text.splitlines()[3]
    assert title.startswith("The same for other tables; here wine (scikit-learn") and "in place of boston, " in title
