"""The button of a panel with a job of its own: starts it, shows what is new, says what is wrong, stops it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest

from app.runs.job import State, Status
from app.runs.tasks import Done
from app.session.job_panel import JobPanel


class Handle:
    """Stands for a run whose states are set by the test."""

    def __init__(self, build: Any):
        self.build, self.state, self.items, self.asked = build, State(), [], []

    def now(self, status: Status, *items: Any, **changes: Any) -> None:
        self.items += items
        self.state = replace(self.state, status=status, version=self.state.version + 1, **changes)

    def poll(self, cursor: int) -> tuple[State, tuple[int, list[Any]] | None]:
        self.asked.append(cursor)
        return self.state, (len(self.items), self.items[cursor:]) if self.items else None

    def cancel(self) -> None:
        self.now(Status.CANCELLED)


@dataclass
class Manager:
    handle: Handle | None = None

    def submit(self, build: Any) -> Handle:
        self.handle = Handle(build)
        return self.handle


class Panel(JobPanel):
    def __init__(self, **options: Any):
        self.manager, self.got, self.fault, self.idle = Manager(), [], "", False
        super().__init__("Go", "Press it.", runs=lambda: self.manager, **options)

    def begin(self):
        if self.fault:
            raise ValueError(self.fault)
        return None if self.idle else lambda: None

    def receive(self, state: State, items: list[Any]) -> None:
        self.got += items


@pytest.fixture
def going() -> Panel:
    panel = Panel()
    panel._on_button(None)
    return panel


def test_every_row_arrives_once_and_the_button_comes_back(going):
    handle = going.manager.handle
    assert going.button.label == "Stop" and "Press it." in going.words.object
    handle.now(Status.RUNNING, "a", "b", snapshot=Done(2))
    going.poll()
    going.poll()
    handle.now(Status.FINISHED, "c", snapshot=Done(3))
    going.poll()
    assert going.got == ["a", "b", "c"] and going.button.label == "Go"
    going.poll()
    assert len(handle.asked) == 3, "a finished job is not asked again"
    going._on_button(None)
    assert going.manager.handle is not handle and going.button.label == "Stop"
    going.manager.handle.now(Status.RUNNING, "again")
    going.poll()
    assert going.got[-1] == "again"


def test_between_its_turns_a_panel_leaves_the_screen_alone_but_the_end_is_never_missed():
    panel = Panel(ticks=3)
    panel._on_button(None)
    panel.manager.handle.now(Status.RUNNING, "a")
    panel.poll()
    panel.poll()
    assert panel.got == []
    panel.poll()
    assert panel.got == ["a"]
    panel.manager.handle.now(Status.FINISHED, "b")
    panel.poll()
    assert panel.got == ["a", "b"]


def test_the_queue_and_faults_are_told(going):
    handle = going.manager.handle
    handle.now(Status.QUEUED, place=3)
    going.poll()
    assert "number 3 in the queue" in going.words.object
    handle.now(Status.FAILED, message="x < y is not known.")
    going.poll()
    assert '<span role="alert">x &lt; y is not known.</span>' in going.words.object and going.button.label == "Go"


def test_a_question_that_cannot_be_run_is_told_and_starts_nothing():
    panel = Panel()
    panel.fault = "from is 3; it must be smaller than to."
    panel._on_button(None)
    assert panel.fault in panel.words.object and 'role="alert"' in panel.words.object
    assert panel.manager.handle is None and panel.button.label == "Go"
    panel.fault, panel.idle = "", True
    panel._on_button(None)
    assert panel.manager.handle is None and panel.button.label == "Go"


def test_stopping_ends_the_job_and_a_page_that_closes_touches_nothing_on_the_screen(going):
    going._on_button(None)
    assert going.manager.handle.state.status is Status.CANCELLED
    assert going.button.label == "Go" and "Stopped." in going.words.object
    going._on_button(None)
    changes: list[Any] = []
    going.button.param.watch(changes.append, "label")
    going.words.param.watch(changes.append, "object")
    going.close()
    assert going.manager.handle.state.status is Status.CANCELLED and not changes
