"""A run that walks does so many steps a second, and no more."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from app.session import pace as module
from app.session.pace import Pace


class Walker:
    """What `Pace` uses of a run. Steps are done at once, unless it is told to be busy."""

    def __init__(self):
        self.wants_steps, self.steps, self.pauses = False, 0, 0

    def pause(self):
        self.pauses += 1

    def step(self, steps):
        self.steps += steps


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    # that of this module alone: threads of the whole process would wait for a clock that stands still
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def walk(pace: Pace, run: Walker, clock: list[float], seconds: float, ticks: int) -> None:
    for _ in range(ticks):
        clock[0] += seconds / ticks
        pace.tick(run)


@pytest.mark.parametrize(("steps_per_second", "seconds"), [(1.0, 8), (3.0, 5), (100.0, 2)])
def test_so_many_steps_a_second_from_the_first_tick_on(clock, steps_per_second, seconds):
    pace, run = Pace(), Walker()
    pace.steps_per_second = steps_per_second
    assert pace.play(run) and run.pauses == 1
    pace.tick(run)
    assert run.steps == 1
    walk(pace, run, clock, seconds, 64)
    assert abs(run.steps - 1 - steps_per_second * seconds) <= 1


def test_without_a_pace_the_run_is_left_alone(clock):
    pace, run = Pace(), Walker()
    assert not pace.play(run)
    walk(pace, run, clock, 5, 10)
    assert (run.steps, run.pauses) == (0, 0)


def test_a_busy_run_is_not_pushed(clock):
    pace, run = Pace(), Walker()
    pace.steps_per_second = 10.0
    pace.play(run)
    run.wants_steps = True
    walk(pace, run, clock, 5, 50)
    assert run.steps == 0
    run.wants_steps = False
    walk(pace, run, clock, 0.125, 1)
    assert run.steps <= 2, "steps that were missed are not made up for"
