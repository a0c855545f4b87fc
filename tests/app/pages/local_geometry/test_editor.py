"""The drawn network of "Local geometry" under the hand: what is held is drawn on the way, and run once it is let go."""

from __future__ import annotations

import pytest

from app.estimates.networks import get_problem
from app.pages.local_geometry import config
from app.pages.local_geometry.config import CLASSES, class_price, lasting
from app.pages.local_geometry.editor import NetworkEditor, changed
from app.runs.account import TOTAL_MEMORY
from app.runs.allowance import VISITOR_MEMORY, check_allowance
from llc_core import RunConfig
from llc_core.engine.resolve import resolve

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
    assert editor.widths.error_state and "this server gives each run" in editor.message.object
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


def test_classes_that_do_not_fit_are_grey_and_say_what_they_take(monkeypatch):
    monkeypatch.delenv(VISITOR_MEMORY, raising=False)
    editor = NetworkEditor({"kind": "dln", "size_class": "1K", "ranks": "equal", "seed": 0})
    offered = editor._class.widget
    assert list(offered.options.values()) == list(CLASSES) and offered.disabled_options == ["10M", "100M"]
    words = editor._prices.object
    assert "10M: one chain takes up to" in words and "Each run here has 0.6 GB" in words and "1M:" not in words
    monkeypatch.setenv(VISITOR_MEMORY, "1000000")
    monkeypatch.setenv(TOTAL_MEMORY, "1000000")
    editor._class.set("10M")
    editor._on_change()
    assert editor.problem["size_class"] == "10M" and offered.disabled_options == []
    assert "10M: one chain takes" in editor._prices.object and "Each run here has" not in editor._prices.object
    monkeypatch.setenv(TOTAL_MEMORY, "10000")
    editor._on_change()
    assert offered.disabled_options == ["100M"], "the network and its chain together take more than there is"
    assert "Each run here has 9.8 GB" in editor._prices.object


def test_a_class_that_a_link_names_is_shown_though_it_is_grey(monkeypatch):
    monkeypatch.delenv(VISITOR_MEMORY, raising=False)
    editor = NetworkEditor({"kind": "dln", "size_class": "1K", "ranks": "equal", "seed": 0})
    editor.show({"kind": "dln", "size_class": "10M", "ranks": "equal", "seed": 0})
    assert editor._class.value == "10M" and editor._class.widget.disabled_options == ["100M"]


def test_a_class_is_priced_as_its_run_is(monkeypatch):
    """With the least that it takes, which is one chain; made at a size that takes no time."""
    problem = {"kind": "dln", "size_class": "10K", "ranks": "equal", "seed": 3, "n": 1000}
    found, made = class_price(problem), get_problem(problem)
    run = resolve(RunConfig(problem=made.to_dict(), chains=1, sampler={"name": "SGLD"}), made).config
    chain = check_allowance(run, made)
    assert found.parameters == made.dim and found.room is None and found.memory >= chain
    monkeypatch.setenv(VISITOR_MEMORY, f"{0.99 * found.memory / 2**20}")
    assert class_price(problem).room == pytest.approx(0.99 * found.memory / 2**20)


def test_a_card_takes_the_chains_and_the_machine_the_network(monkeypatch):
    """What does not fit into the processor's allowance for chains may fit into a card's memory, never the network itself."""
    problem = {"kind": "dln", "size_class": "100K", "ranks": "equal", "seed": 0}
    monkeypatch.setattr(config, "devices", lambda: ("cpu", "cuda"))
    monkeypatch.setattr(config, "speed", lambda device: {"cuda": 1e13}[device])
    monkeypatch.setattr("app.runs.allowance.card_memory", lambda device: 2.0**20)
    monkeypatch.delenv(VISITOR_MEMORY, raising=False)
    assert class_price(problem).room == 1.0
    monkeypatch.setattr("app.runs.allowance.card_memory", lambda device: 2.0**40)
    assert class_price(problem).room is None
    monkeypatch.setenv(VISITOR_MEMORY, "5")
    assert class_price(problem).room == 5.0


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.4, "0 seconds"), (119, "119 seconds"), (130, "2 minutes"), (75_600, "21 hours"), (4e5, "5 days")],
)
def test_times_are_said_in_units_that_are_read(seconds, words):
    assert lasting(seconds) == words
