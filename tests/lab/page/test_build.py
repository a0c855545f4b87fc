"""The page without a server is one small file that asks nobody for anything, and its runs are those of the engine."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest
import reading

from app.components.drawings.valley import Valley
from app.components.drawings.weights import Weights
from lab.page import build, record
from llc_core import DeepLinearNetwork

ROOT = Path(__file__).resolve().parents[3]
MOST_BYTES = 500_000
NAMES = {"http://www.w3.org/2000/svg", "http://localhost:5006/app"}
"""Addresses that nothing is asked of: a name, and words for a reader."""
RUNS = json.loads((ROOT / "lab/page/runs.json").read_text())


def asked(page: str) -> list[str]:
    """Whatever a page would fetch, or could."""
    addresses = [
        found for found in re.findall(r"""(?:https?:)?//[\w.-]+\.?[\w:]*/[^\s'"`<>)]*""", page) if found not in NAMES
    ]
    attributes = re.findall(r"""\b(?:src|href)=["'](?!data:,)[^"']*""", page)
    return addresses + attributes + re.findall(r"\bfetch\(|XMLHttpRequest|WebSocket|\bimport\(|@import|\burl\(", page)


def test_the_page_is_small_and_asks_nobody(tmp_path, capsys):
    build.main([str(tmp_path / "page.html")])
    page = (tmp_path / "page.html").read_text()
    assert len(page.encode()) < MOST_BYTES and page.startswith("<!doctype html>") and page.count("</script>") == 1
    assert asked(page) == []
    assert "Open it in a browser" in capsys.readouterr().out


@pytest.mark.parametrize(
    "planted",
    ['<script src="a.js">', "<img src='https://a.org/b.png'>", "fetch('/a')", "@import 'a.css'", "'//a.org/b'"],
)
def test_a_planted_request_is_found(planted):
    assert asked(build.build() + planted)


def test_what_would_end_the_script_is_refused(monkeypatch):
    monkeypatch.setattr(build, "script", lambda: "const a = '</script>'")
    with pytest.raises(ValueError, match="write the tag in two pieces"):
        build.build()


def test_a_component_that_exports_more_is_refused():
    with pytest.raises(ValueError, match="Two must export one function"):
        build.component(type("Two", (), {"_esm": Valley._esm + "export const a = 1"}))


@pytest.mark.parametrize("of", [Valley, Weights])
def test_a_component_comes_with_all_of_its_script(of):
    """A part that was taken out of the valley's script into a file of its own was missing here, and nothing moved."""
    assert of._esm.replace("export ", "") in build.script()


@pytest.mark.parametrize("run", RUNS, ids=lambda run: str(run["ranks"]))
def test_recorded_runs_have_the_exact_coefficient(run):
    """λ̂ of finite samples is off by some percent of λ, however long the run."""
    problem = DeepLinearNetwork.random(widths=run["widths"], layer_ranks=run["ranks"])
    exact = problem.local_learning_coefficient.value
    assert Fraction(*run["lambda"]) == exact
    assert len(run["w0"]) == problem.dim and run["steps"] > run["burn_in"]
    assert abs(run["estimate"] - float(exact)) < 4 * run["error"] + 0.03 * float(exact)
    assert sum(run["hat"][-1]) / len(run["hat"][-1]) == pytest.approx(run["estimate"], rel=5e-3)


@pytest.mark.slow
def test_a_run_that_is_recorded_again_is_the_same():
    again = record.recorded(record.WALKED)
    kept = next(run for run in RUNS if run["ranks"] == list(record.WALKED))
    for name in ("widths", "lambda", "w0", "burn_in", "steps", "sampler"):
        assert again[name] == kept[name], name
    assert again["hat"][-1] == pytest.approx(kept["hat"][-1], rel=0.05)  # other machines round otherwise
    assert [len(again[name]) for name in ("met", "hat", "now")] == [len(kept[name]) for name in ("met", "hat", "now")]


def test_the_words_are_easy():
    words = re.sub(
        r"<pre.*?</pre>|<style>.*?</style>|<script>.*?</script>|<head>.*?</head>",
        "",
        build.read(build.HERE, "page.html"),
        flags=re.S,
    )
    texts = [reading.Text("page.html", 0, reading.plainly(re.sub(r"\s+", " ", words)))]
    for path in sorted(build.HERE.glob("*.js")):
        texts += list(reading.read_script(path.read_text(), path.name))
    assert len(texts) > 10
    assert list(reading.too_long(texts)) == [] and list(reading.banned(texts)) == []
    assert reading.grade(text.words for text in texts) < reading.GRADE
