"""What people type into the editor gives the right network or one clear sentence."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.controls.parsing import parse_numbers
from app.pages.local_geometry.config import get_problem
from app.pages.local_geometry.editor import NetworkEditor, for_people
from llc_core.fields import FieldError

FIRST = {"kind": "dln", "widths": [4, 3, 4], "layer_ranks": [3, 3], "seed": 0}
SEPARATORS = [",", ", ", " ", "  ", ";", " x ", "×", " → ", " -> ", "\t"]


@given(st.lists(st.integers(0, 10**8), min_size=1, max_size=20), st.sampled_from(SEPARATORS), st.booleans())
def test_lists_are_read_back(numbers, separator, brackets):
    text = separator.join(map(str, numbers))
    assert parse_numbers(f"[{text}]" if brackets else f" {text} ", "Widths") == numbers


@given(st.text(max_size=60))
@settings(max_examples=400)
def test_any_text_gives_numbers_or_one_sentence(text):
    try:
        numbers = parse_numbers(text, "Widths")
    except ValueError as error:
        assert str(error).startswith("Widths: ") and "\n" not in str(error) and len(str(error)) < 200
    else:
        assert numbers and all(isinstance(number, int) for number in numbers)


@pytest.mark.parametrize("text", ["6, x, 6", "6,,6", "6 → → 6", ", 6"])
def test_a_number_that_is_missing_is_said(text):
    with pytest.raises(ValueError, match="Widths: a number is missing between two others"):
        parse_numbers(text, "Widths")
    assert parse_numbers("6, 6, ", "Widths") == [6, 6], "the next one is about to be typed"


@pytest.mark.parametrize("word", ["six", "xx", "extra"])
def test_an_x_is_a_sign_between_numbers_only(word):
    assert parse_numbers("6x8 x 6", "Widths") == [6, 8, 6]
    with pytest.raises(ValueError, match=f"“{word}” is not a whole number"):
        parse_numbers(f"8, {word}, 8", "Widths")


@pytest.fixture(scope="module")
def editor() -> NetworkEditor:
    return NetworkEditor(FIRST)


@pytest.mark.slow
@pytest.mark.long
@given(
    st.one_of(
        st.text(alphabet="0123456789,- .ex×[]", max_size=30),
        st.lists(st.integers(-2, 40), max_size=8).map(lambda n: ", ".join(map(str, n))),
        st.sampled_from(["nan, 3", "1e3, 2", "8", "", "9" * 5000, "8, 8" + ", 8" * 2000, "1000000, 1000000", "٣, ٣"]),
    ),
    st.one_of(st.just(""), st.lists(st.integers(-1, 9), max_size=6).map(lambda n: ", ".join(map(str, n)))),
)
@settings(max_examples=300)
def test_the_editor_keeps_the_last_good_network(editor, widths, ranks):
    editor.show(FIRST)
    changes = []
    editor.listener = lambda: changes.append(editor.problem)
    editor.ranks.value = ranks
    editor.widths.value = widths
    if editor.message.visible:
        assert editor.message.object.count("<span") == 1 and len(editor.message.object) < 300
    else:
        assert editor.problem == editor.read()
    # Of a million rows of data, which take half a second to sum, none of this depends.
    problem = get_problem({**editor.problem, "n": 1000})
    assert list(problem.layer_ranks) == editor.problem["layer_ranks"]
    assert all(change["widths"] for change in changes)


def test_messages_speak_of_widths_and_layers():
    said = {"widths[1]": "Width number 2", "layer_ranks[0]": "The rank of layer 1", "widths": "The list of widths"}
    for label, words in said.items():
        error = FieldError(label, "is -6; it must be at least 1.")
        assert str(error) == f"{label} is -6; it must be at least 1."
        assert for_people(error) == f"{words} is -6; it must be at least 1."
        assert str(pickle.loads(pickle.dumps(error))) == str(error), "as it comes from another process"


def test_typed_text_is_shown_as_text(editor):
    editor.widths.value = "<img src=x onerror=alert(1)>"
    assert "<img" not in editor.message.object


def test_ranks_drawn_by_a_rule_stay_what_they_are(editor):
    """As in the rows of a sweep over an architecture: other ranks draw other weights."""
    problem = {"kind": "dln", "widths": [10, 8, 10], "ranks": "equal", "seed": 3}
    editor.show(problem)
    assert editor.ranks.value == "equal" and editor.read() == problem
    editor.ranks.value = "full"
    assert editor.problem["layer_ranks"] == [8, 8]
