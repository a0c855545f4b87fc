"""What the app shows is easy to read: short sentences, words of the field, and no long words where a short one does."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
import reading

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(path.name for path in (ROOT / "app/pages").iterdir() if (path / "page.py").exists())
PLACES: dict[str, list[str]] = {page: [f"app/pages/{page}"] for page in PAGES}
PLACES["every page"] = [
    *(f"app/{folder}" for folder in ("components", "controls", "estimates", "server", "session", "sharing", "style")),
    *("app/runs", "app/window", *(f"app/pages/{path.name}" for path in sorted((ROOT / "app/pages").glob("*.py")))),
]
PLACES["verdicts"] = [
    "llc_core/verdicts.py", "llc_core/diagnostics", "llc_core/auditing/words.py", "llc_core/studies/explain",
    "llc_core/engine/stepping/bursts.py",
]  # fmt: skip
PLACES["settings"] = [
    "llc_core/samplers", "llc_core/interactions", "llc_core/networks/optimizers.py", "llc_core/potentials/line", "llc_core/potentials/plane",
    "llc_core/stationary",
]  # fmt: skip
"""What the engine says there too."""
EVERY = pytest.mark.parametrize("name", PLACES)


@cache
def texts(name):
    return reading.shown(ROOT, *PLACES[name])


@EVERY
def test_sentences_are_short(name):
    assert not list(reading.too_long(texts(name)))


@EVERY
def test_words_are_those_of_the_field(name):
    assert not list(reading.banned(texts(name)))


def test_errors_of_the_engine_use_the_words_of_the_field():
    places = [f"llc_core/{path.name}" for path in (ROOT / "llc_core").glob("[a-z]*") if path.name != "studies"]
    found = reading.shown(ROOT, *places)
    assert len(found) > 1000 and not list(reading.banned(found))


@EVERY
def test_a_page_asks_for_few_years_of_school(name):
    assert reading.grade(text.words for text in texts(name)) <= reading.GRADE


def test_texts_are_found():
    """Lessons, questions, tips, notes and errors: what is asked of nothing is always met."""
    assert len(PAGES) >= 8 and all(len(texts(name)) > 20 for name in PLACES)
    all_words = "\n".join(text.words for name in PLACES for text in texts(name))
    for words in (
        "Watch the estimate reach the exact value.",
        "How many parameters does this network use?",
        "Median of nβ",
        "What do you expect: which histogram ends nearer to the orange line?",
        "Where chains should go",
        "Hide answers",
        "This server has no store named 1; it has 1.",
        "Do not trust it.",
        "A flat direction costs nothing.",
    ):
        assert words.lower() in all_words.lower(), words


PLANTED = {
    "too_long": 'TIP = "One two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen '
    'seventeen eighteen nineteen twenty one."',
    "banned": 'LABEL = f"{name}: the wrong law"',
}


@pytest.mark.parametrize("rule", PLANTED)
def test_a_planted_fault_is_found(rule):
    assert len(list(getattr(reading, rule)(reading.read(PLANTED[rule])))) == 1


def test_a_term_with_a_banned_word_in_it_may_stay():
    assert not list(reading.banned(reading.read('A = "Held-out rows follow a power law."')))


def test_what_nobody_sees_is_not_read():
    code = '"""The law."""\nSTYLE = ":host { color: red; }"\nKEY = "law"\n\n\ndef law(x: "law") -> "law":\n    """The law."""\n'
    assert not list(reading.read(code))


@pytest.mark.parametrize(
    ("words", "count"),
    [
        ("The cat sat on the mat.", 6),
        ("λ = 7.5 is half of d/2.", 5),
        ("At n = 1,000 the exact value ± its error is 0.40.", 9),
        ("R-hat and held-out data", 4),
    ],
)
def test_signs_that_follow_one_another_are_one_word(words, count):
    assert len(reading.words_of(words)) == count


@pytest.mark.parametrize(
    ("word", "count"),
    [
        ("cat", 1),
        ("estimate", 3),
        ("table", 2),
        ("reached", 1),
        ("weighted", 2),
        ("samples", 2),
        ("makes", 1),
        ("λ", 2),
    ],
)
def test_syllables(word, count):
    assert reading.syllables(word) == count


def test_hard_words_raise_the_grade():
    easy = reading.grade(["The cat sat on the mat. The dog ran to the house."])
    hard = reading.grade(["Asymptotic normality characterises regular parametric identification."])
    assert easy < 2 and hard > 20
