"""The drawn network of "Local geometry" under the hand: what is held is drawn on the way, and run once it is let go."""

from __future__ import annotations

import pytest

from app.estimates.networks import get_problem
from app.pages.local_geometry.editor import NetworkEditor, changed

PROBLEM = {"kind": "dln", "widths": [5, 4, 5], "layer_ranks": [4, 4], "seed": 0}


@pytest.fixture
def editor() -> NetworkEditor:
    made = NetworkEditor(PROBLEM)
    made.draw(PROBLEM["widths"], PROBLEM["layer_ranks"])
    made.runs = []
    made.listener = lambda: made.runs.append(made.problem["widths"])
    return made


def dragged(editor: NetworkEditor, to: int, done: bool = False, deed: str = "layer", place: int = 1) -> None:
    editor.net._handle_msg({"deed": deed, "place": place, "to": to, "done": done})


def test_a_layer_that_is_dragged_is_drawn_at_once_and_run_when_it_is_let_go(editor):
    for to in (5, 6, 7):
        dragged(editor, to)
        assert editor.net.widths == [5, to, 5] and editor.widths.value == f"5, {to}, 5" and editor.runs == []
    dragged(editor, 6, done=True)
    assert editor.runs == [[5, 6, 5]] and editor.net.ranks == [5, 5]


def test_a_rank_comes_back_where_a_layer_does(editor):
    """The width is reckoned from where the hand took hold: what was cut on the way is not lost."""
    dragged(editor, 2, True, "rank", 0)
    assert editor.runs == [[5, 4, 5]] and editor.net.ranks == [2, 4]
    dragged(editor, 1)
    assert editor.net.ranks == [1, 1]
    dragged(editor, 4)
    dragged(editor, 4, done=True)
    assert editor.net.ranks == [2, 4] and editor.net.widths == [5, 4, 5]
    assert len(editor.runs) == 1, "a drag that ends where it began changes nothing"


def test_what_is_too_large_is_said_below_its_entry_and_not_run(editor):
    dragged(editor, 900_000)
    assert editor.widths.error_state and "takes up to 200,000" in editor.message.object
    dragged(editor, 900_000, done=True)
    assert editor.runs == [] and editor.problem == PROBLEM
    dragged(editor, 6, done=True)
    assert editor.runs == [[5, 6, 5]] and not editor.widths.error_state


def test_a_drag_that_was_never_let_go_does_not_reach_into_the_next_network(editor):
    dragged(editor, 9)
    other = {**PROBLEM, "widths": [3, 2, 3], "layer_ranks": [2, 2]}
    editor.show(other)
    editor.draw(other["widths"], other["layer_ranks"])
    dragged(editor, 3, done=True)
    assert editor.runs == [[3, 3, 3]]


@pytest.mark.parametrize("message", [
    {"deed": "layer", "place": 3, "to": 4}, {"deed": "rank", "place": 2, "to": 4}, {"deed": "add", "place": 0, "to": 4},
    {"deed": "layer", "place": True, "to": 4}, {"deed": "layer", "place": 0, "to": 4.5}, {"deed": "layer", "place": 0, "to": -1},
    {"deed": "layer", "place": 0, "to": 10**9}, {"deed": "layer", "place": 0, "by": 7}, {"deed": "paint", "place": 0, "by": 1},
    [], None,
])  # fmt: skip
def test_messages_that_no_hand_sends_change_nothing(editor, message):
    editor.net._handle_msg(message)
    assert editor.net.widths == [5, 4, 5] and editor.runs == []


@pytest.mark.parametrize(("deed", "place", "by", "after"), [
    ("layer", 0, 1, ([20, 4, 5], [4, 4])),
    ("layer", 0, -1, ([18, 4, 5], [4, 4])),
    ("layer", 1, 1, ([19, 5, 5], [5, 5])),
    ("rank", 0, -1, ([19, 4, 5], [3, 4])),
    ("rank", 0, 1, ([19, 4, 5], [4, 4])),
    ("add", 0, 1, ([19, 4, 4, 5], [4, 4, 4])),
    ("remove", 1, -1, ([19, 5], [5])),
    ("remove", 0, -1, ([19, 4, 5], [4, 4])),
])  # fmt: skip
def test_what_each_press_does(deed, place, by, after):
    assert changed([19, 4, 5], [4, 4], deed, place, by) == after


def test_samples_and_noise_are_part_of_the_network_where_they_are_not_the_usual_ones(editor):
    editor.show(PROBLEM)
    found = []
    editor.listener = lambda: found.append(dict(editor.problem))
    editor._data["n"].widget.listener("text", "1000")
    editor._data["noise_std"].widget.listener("text", "0")
    assert found[-1] == {**PROBLEM, "n": 1000, "noise_std": 0}
    network = get_problem(found[-1])
    assert network.n == 1000 and network.noise_std == 0 and network.w0_is_minimum
    editor.show({**PROBLEM, "n": 500})
    assert editor.read() == {**PROBLEM, "n": 500}
    editor.show(PROBLEM)
    assert editor.read() == PROBLEM, "links without them stay as they are"
