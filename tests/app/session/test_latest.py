"""Work in a thread: the last request counts, an error is a sentence, and the document is told in its own time."""

from __future__ import annotations

import threading

import pytest
from panel.io.state import set_curdoc

from app.session.latest import LatestWork

LONG = 60.0


@pytest.fixture
def seen():
    return []


def finish(work: LatestWork) -> None:
    while work.busy:
        threading.Event().wait(0.01)
        work.poll()


def test_the_last_of_several_requests_is_answered(seen):
    gate = threading.Event()
    work = LatestWork(lambda: seen.append(work.busy))
    work.ask(lambda: gate.wait(LONG) and "first", seen.append, seen.append)
    work.ask(lambda: "second", seen.append, seen.append)
    finish(work)
    gate.set()
    work.poll()
    assert seen == [True, False, True, False, "second"]


def test_what_is_forgotten_is_never_answered(seen):
    work, gate = LatestWork(), threading.Event()
    work.ask(lambda: gate.wait(LONG), seen.append, seen.append)
    work.forget()
    gate.set()
    work.poll()
    assert not work.busy and seen == []


def test_the_same_question_is_not_answered_twice(seen):
    work = LatestWork()
    assert work.ask(lambda: 1, seen.append, seen.append, question="a")
    assert not work.ask(lambda: 2, seen.append, seen.append, question="a"), "it is being answered"
    finish(work)
    assert not work.ask(lambda: 2, seen.append, seen.append, question="a"), "it has been answered"
    assert work.ask(lambda: 3, seen.append, seen.append, question="b")
    finish(work)
    work.forget()
    assert work.ask(lambda: 4, seen.append, seen.append, question="b")
    finish(work)
    assert seen == [1, 3, 4]


def test_what_failed_is_asked_again_and_what_can_wait_begins_with_the_first_poll(seen):
    def fails():
        raise ValueError("Not now.")

    work = LatestWork()
    work.ask(fails, seen.append, seen.append, question="a")
    finish(work)
    assert work.ask(lambda: 1, seen.append, seen.append, question="a", at_once=False) and work.busy
    assert work._future is None
    finish(work)
    assert seen == ["Not now.", 1]


def test_an_error_is_a_sentence_and_the_next_request_works(seen):
    def fails(error):
        raise error

    work = LatestWork()
    work.ask(lambda: fails(ValueError("There is no such store.")), seen.append, seen.append)
    finish(work)
    work.ask(lambda: fails(KeyError("x")), seen.append, seen.append)
    finish(work)
    work.ask(lambda: 1, seen.append, seen.append)
    finish(work)
    assert seen == ["There is no such store.", "Something went wrong (KeyError).", 1]


def test_a_document_is_told_when_it_is_done(seen):
    """Its next tick is the one thing of it that another thread may ask for."""

    class Told:
        def __init__(self):
            self.ticks, self.called = [], threading.Event()

        def add_next_tick_callback(self, callback):
            self.ticks.append((callback, threading.current_thread().name))
            self.called.set()

    document, work = Told(), LatestWork()
    gate = threading.Event()
    with set_curdoc(document):
        work.ask(lambda: gate.wait(LONG), seen.append, seen.append)
    gate.set()
    assert document.called.wait(LONG)
    ((callback, thread),) = document.ticks
    assert thread.startswith("works") and seen == []
    callback()
    assert seen == [True] and not work.busy
