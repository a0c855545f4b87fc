"""The visitor's last word decides, whatever comes when: over a run, its preparation and the buttons of a page."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from last_word import DEEDS_AND_LEAVING, bare_visitor, go_through, nothing_moves, plays_anyway

from app.session import run_state
from app.session.run_state import Deed, RunState, Shown, Word

PLAYING = {Word.PLAY, Word.RESET}
EVENTS = st.one_of(
    st.sampled_from(Word),
    st.sampled_from(["change", "longer", "finished", "failed"]),
    st.tuples(st.sampled_from(["prepared", "refused"]), st.integers(0, 3)),
)
"""Of the last ones the number says how many changes ago their own was asked for."""


def see(events):
    state, word, number = RunState().begun(), Word.PLAY, 0
    for event in events:
        before = state
        match event:
            case Word():
                state, deed = state.after(event)
                word = event
                assert (deed is Deed.RESTART) or event is not Word.RESET
                assert not (event is Word.PAUSE and deed is Deed.RESTART), "Pause begins nothing"
            case "change":
                state, word, number = state.changed(), Word.PLAY, number + 1
                assert state.shown is before.shown, "what is on the screen stays"
            case "longer":
                state = state.longer()
                word = Word.PLAY if state is not before else word
            case "finished" | "failed":
                state = state.ended(event == "failed")
            case ("prepared", ago):
                state = state.prepared(number - ago)
                if ago or not before.preparing:
                    assert state is before, "a late result of an older change never wins"
                else:
                    assert (state.shown is Shown.RUNNING) == (word in PLAYING)
            case ("refused", ago):
                state = state.refused(number - ago)
                assert state.shown is before.shown and (state is before or ago == 0)
        if state.preparing:
            assert state.playing == (word in PLAYING), "the buttons show what was asked for last"
            assert not (state.owed and word is not Word.STEP), (
                "another word takes back steps that were still to be done"
            )
    left = state.left()
    assert left.shown is Shown.LEFT and not left.playing
    assert [left.changed(), left.begun(), left.longer(), left.prepared(number), left.ended(False)] == [left] * 5
    assert [left.after(word) for word in Word] == [(left, Deed.NOTHING)] * 4


@given(st.lists(EVENTS, max_size=30))
def test_the_last_word_decides(events):
    see(events)


def test_what_was_asked_for_in_vain_leaves_the_run_as_it_is():
    paused = RunState(Shown.PAUSED)
    asked = paused.changed()
    assert asked.playing and asked.shown is Shown.PAUSED
    assert not asked.refused(asked.request).playing


def go(deeds):
    with nothing_moves() as (held, runs):
        visitor = bare_visitor(held, runs)
        try:
            go_through(visitor, deeds)
        finally:
            visitor.leave()


@given(st.lists(DEEDS_AND_LEAVING, max_size=15))
def test_a_page_does_what_was_asked_for_last(deeds):
    go(deeds)


PAUSED_TOO_EARLY = [("change", False), ("press", "pause"), ("finish", 0, False)]
STEPPED_TOO_EARLY = [("change", False), ("press", "step"), ("press", "step"), ("finish", 0, False)]
TOO_LATE = [("change", False), ("change", False), ("finish", 1, False), ("press", "pause"), ("finish", 0, False)]
PAUSED_AT_THE_END = [("wait", 60), ("press", "pause")]
PLAYED_MEANWHILE = [("press", "pause"), ("change", False), ("press", "pause"), ("press", "play"), ("finish", 0, False)]


IN_VAIN = [("press", "pause"), ("change", False), ("finish", 0, True)]
KNOWN = [PAUSED_TOO_EARLY, STEPPED_TOO_EARLY, TOO_LATE, PAUSED_AT_THE_END, PLAYED_MEANWHILE, IN_VAIN]
SEARCH = settings(phases=[Phase.generate], max_examples=1000)


@pytest.mark.parametrize("deeds", KNOWN)
def test_known_cases(deeds):
    go(deeds)


AFTER = RunState.after


def begins_again(state: RunState, word: Word) -> tuple[RunState, Deed]:
    """As it was: Pause on a run that was over began it again."""
    found, deed = AFTER(state, word)
    if word is Word.PAUSE and state.shown in run_state.OVER and not state.preparing:
        return replace(found, shown=Shown.PAUSED), Deed.RESTART
    return found, deed


def takes_any(state: RunState, request: int) -> RunState:
    """A late result of an older change is shown."""
    return replace(state, shown=state.then or state.shown, then=None)


def is_found_out(deeds):
    try:
        go(deeds)
    except AssertionError:
        return True
    return False


@pytest.mark.parametrize(
    ("method", "fault"),
    [("prepared", plays_anyway), ("after", begins_again), ("refused", lambda state, request: state)],
)
def test_a_page_that_does_otherwise_is_found_out(monkeypatch, method, fault):
    monkeypatch.setattr(RunState, method, fault)
    assert any(is_found_out(deeds) for deeds in KNOWN)


def test_it_is_found_out_without_being_looked_for(monkeypatch):
    monkeypatch.setattr(RunState, "prepared", plays_anyway)
    assert find(st.lists(DEEDS_AND_LEAVING, max_size=15), is_found_out, settings=SEARCH)


def test_a_state_that_takes_late_results_is_found_out(monkeypatch):
    monkeypatch.setattr(RunState, "prepared", takes_any)
    with pytest.raises(AssertionError, match="never wins"):
        see([*["change"] * 2, ("prepared", 1)])
