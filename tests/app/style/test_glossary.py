"""Terms in lessons have their meanings, which are those of docs/words.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.pages import load_pages
from app.style.glossary import MEANINGS, explained

WORDS = Path(__file__).resolve().parents[3] / "docs/words.md"


def test_the_document_says_the_same():
    rows = dict(re.findall(r"^\| ([^|]+?) \| ([^|]+?) \|$", WORDS.read_text(), re.MULTILINE))
    assert {term: rows.get(term) for term in MEANINGS} == MEANINGS


@pytest.mark.parametrize(
    "words, terms",
    [
        ("λ̂ reads 0.5, λ is 1/2.", ["λ̂", "λ"]),
        ("γ = 30 keeps the chains there: λ is 1/2.", ["γ", "chains", "λ"]),
        ("λ is λ.", ["λ"]),
        ("Chained nβ·L", ["nβ"]),
        ("minibatches & <b>", []),
        ("half of d/2.", ["d/2"]),
    ],
)
def test_each_term_is_explained_where_it_comes_first(words, terms):
    found = explained(words)
    assert re.findall(r'<abbr tabindex="0" title="[^"<>]+">([^<]+)</abbr>', found) == terms
    assert "<b>" not in found


def test_every_page_has_a_lesson_with_a_term():
    from importlib import import_module

    for page in load_pages():
        presets = import_module(f"app.pages.{page.key.replace('-', '_')}.presets").PRESETS
        assert any("<abbr" in explained(preset.lesson) for preset in presets), page.key
