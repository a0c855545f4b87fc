"""The run manager: fair turns, commands that take effect, no lost rows, and errors that end one run and nothing else."""

from __future__ import annotations

import gc
import math
import threading
import time
import weakref
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from app.runs.giving_way import SHARE
from app.runs.history import Cursor, History
from app.runs.job import OVER, Status
from app.runs.llc_job import LlcJob
from app.runs.manager import RunManager
from llc_core import DeepLinearNetwork, RunConfig, Snapshot

CONFIG = RunConfig(problem={"kind": "dln", "widths": [2, 2]}, chains=3)


class CountingRun:
    """Stands in for a job: row t of chain c holds t + c/10. `served` records whose turn it was."""

    def __init__(self, total_steps=1000, burn_in=100, seconds_per_block=0.002, served=None, name="", fails_at=None):
        self.total_steps, self.burn_in = total_steps, burn_in
        self.done = 0
        self.log = History(3, total_steps)
        self.pause_seconds, self.served, self.name, self.fails_at = seconds_per_block, served, name, fails_at

    @property
    def finished(self) -> bool:
        return self.done >= self.total_steps

    def advance(self, steps: int) -> Snapshot:
        if self.served is not None:
            self.served.append(self.name)
        time.sleep(self.pause_seconds)
        steps = min(steps, self.total_steps - self.done)
        recorded = np.arange(self.done, self.done + steps)
        self.done += steps
        if self.fails_at is not None and self.done >= self.fails_at:
            raise ZeroDivisionError("planted")
        llc = np.full(3, np.nan) if self.done <= self.burn_in else np.full(3, 1.0)
        return Snapshot(
            steps=self.done,
            total_steps=self.total_steps,
            burn_in=self.burn_in,
            recorded=recorded,
            excess_loss=recorded[:, None] + np.arange(3) / 10,
            llc=llc,
            alive=np.ones(3, dtype=bool),
            rms_displacement=np.zeros(3),
            step_size=np.ones(3),
            n_beta=np.ones(3),
            steps_per_second=1.0,
        )

    def judge(self):
        return SimpleNamespace(llc=1.0, llc_se=0.1, steps=self.done)

    def record(self, snapshot, estimate):
        self.log.add(snapshot)


def wait_until(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    """Long enough for a busy machine; the condition normally holds at once."""
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, "timed out"
        time.sleep(0.005)


@pytest.fixture
def made():
    """A factory of managers that are closed after the test."""
    managers = []

    def make(**options) -> RunManager:
        managers.append(RunManager(**options))
        return managers[-1]

    yield make
    for manager in managers:
        manager.close()
        assert not manager._thread.is_alive()


@pytest.mark.parametrize("waiting", [True, False])
@pytest.mark.parametrize("awaited", [True, False])
def test_a_run_that_moves_rests_while_pages_wait(made, monkeypatch, waiting, awaited):
    rests, wait = [], threading.Event()
    if waiting:
        wait.set()
    monkeypatch.setattr("app.runs.manager.pages_wait", wait)
    monkeypatch.setattr("app.runs.manager.BREATH_SECONDS", 0.0)
    manager = made(first_seconds=math.inf if awaited else 0.0)
    sleep = time.sleep
    monkeypatch.setattr("app.runs.manager.time", SimpleNamespace(sleep=rests.append, monotonic=time.monotonic))
    handle = manager.submit(lambda: CountingRun(total_steps=50, seconds_per_block=0.01))
    while not handle.over:
        sleep(0.005)
    assert (max(rests) >= SHARE * 0.01) is (waiting and not awaited)


def test_no_row_is_lost_or_repeated_however_it_is_polled(made):
    handle = made().submit(lambda: CountingRun(total_steps=1400))
    cursor, steps, losses = Cursor(), [], []
    while True:
        state, rows = handle.poll(cursor)
        if rows is not None:
            cursor = rows.cursor
            steps.append(rows.steps)
            losses.append(rows.losses)
        if state.status is Status.FINISHED and rows is not None and not len(rows.steps):
            break
        time.sleep(0.003)
    assert np.concatenate(steps).tolist() == list(range(1400))
    assert np.allclose(np.concatenate(losses), np.arange(1400)[:, None] + np.arange(3) / 10)


class LongerRun(CountingRun):
    def go_on(self) -> None:
        self.total_steps, self.burn_in = 2 * self.total_steps, self.total_steps
        self.log.go_on(self.total_steps, self.burn_in)


def test_a_finished_run_goes_on_where_it_was_and_readers_get_all_rows_anew(made):
    manager = made()
    handle = manager.submit(lambda: LongerRun(total_steps=1400))
    wait_until(lambda: handle.state.status is Status.FINISHED and handle.state.estimate is not None)
    wait_until(lambda: manager.active == 0)
    _, rows = handle.poll(Cursor())
    assert len(rows.steps) == 1400 and not rows.again and handle.can_go_on
    cursor = rows.cursor
    assert handle.go_on() and not handle.go_on()
    wait_until(lambda: handle.state.status is Status.FINISHED and handle.state.steps == 2800)
    _, rows = handle.poll(cursor)
    assert rows.again and rows.steps.tolist() == list(range(0, 2800, 2)), "of the whole run, thinned"
    assert np.allclose(rows.losses, rows.steps[:, None] + np.arange(3) / 10)
    assert len(rows.at) and rows.at.min() > 1400, "an average from the new steps alone"
    assert not handle.poll(rows.cursor)[1].again


def test_what_cannot_go_on_says_so_and_frees_its_memory(made):
    manager = made()
    short, going, ended = (
        manager.submit(lambda: CountingRun(total_steps=10)),
        manager.submit(lambda: LongerRun(total_steps=10**6)),
        manager.submit(lambda: LongerRun(total_steps=10)),
    )
    wait_until(lambda: short.state.status is ended.state.status is Status.FINISHED)
    wait_until(lambda: short.job is None)
    assert not short.go_on() and not going.go_on()
    assert ended.can_go_on
    jobs = [weakref.ref(handle.job) for handle in (ended, going)]
    ended.cancel()
    assert ended.job is None and not ended.go_on() and ended.state.status is Status.FINISHED
    going.cancel()
    wait_until(lambda: going.job is None)
    wait_until(lambda: gc.collect() >= 0 and all(job() is None for job in jobs))


def test_who_comes_back_late_can_still_go_on(made):
    manager = made(heartbeat_seconds=0.2)
    handle = manager.submit(lambda: LongerRun(total_steps=200))
    wait_until(lambda: handle.state.status is Status.FINISHED and manager.active == 0)
    wait_until(lambda: time.monotonic() - handle._looked > 0.3)
    assert handle.go_on()
    handle.attend()
    assert sum(run.handle is handle for run in manager._runs) <= 1
    wait_until(lambda: handle.poll(Cursor())[0].steps == 400)
    wait_until(lambda: handle.state.status is Status.FINISHED)


def test_a_run_that_fails_while_it_goes_on_keeps_its_estimate(made):
    handle = made().submit(lambda: LongerRun(total_steps=100, fails_at=150))
    wait_until(lambda: handle.state.status is Status.FINISHED and handle.state.estimate is not None)
    assert handle.go_on()
    wait_until(lambda: handle.state.status is Status.FAILED)
    assert "planted" in handle.state.message and handle.state.estimate.llc == 1.0


def test_runs_take_turns(made):
    served: list[str] = []
    names = iter("abc")
    hold = threading.Event()

    def build():
        hold.wait(10)
        return CountingRun(total_steps=10**6, served=served, name=next(names))

    manager = made()
    handles = [manager.submit(build) for _ in range(3)]
    hold.set()
    wait_until(lambda: len(served) >= 90)
    for handle in handles:
        handle.cancel()
    later = served[9:90]
    assert {name: later.count(name) for name in "abc"} == {"a": 27, "b": 27, "c": 27}


def test_pause_holds_the_counter_and_play_goes_on(made):
    handle = made().submit(lambda: CountingRun(total_steps=10**6))
    wait_until(lambda: handle.state.steps > 0)
    handle.pause()
    wait_until(lambda: handle.state.status is Status.PAUSED)
    at = handle.state.steps
    time.sleep(0.1)
    assert handle.state.steps == at
    assert handle.state.estimate.steps == at, "a resting run shows the estimate of all its steps"
    handle.play()
    wait_until(lambda: handle.state.steps > at)


def test_step_does_exactly_that_many(made):
    handle = made().submit(lambda: CountingRun(total_steps=10**6), playing=False)
    wait_until(lambda: handle.state.status is Status.PAUSED)
    assert handle.state.steps == 0
    for expected in (7, 14, 114):
        handle.step(expected - handle.state.steps)
        wait_until(lambda: handle.state.steps >= expected and handle.state.status is Status.PAUSED)  # noqa: B023
        assert handle.state.steps == expected


class Waits(CountingRun):
    """A step of which the test decides when it ends."""

    def __init__(self):
        super().__init__(total_steps=10**6, seconds_per_block=0)
        self.begun, self.go = threading.Semaphore(0), threading.Semaphore(0)

    def advance(self, steps: int) -> Snapshot:
        self.begun.release()
        assert self.go.acquire(timeout=20)
        return super().advance(steps)


def test_every_press_of_step_counts(made):
    run = Waits()
    handle = made().submit(lambda: run, playing=False)
    wait_until(lambda: handle.state.status is Status.PAUSED)

    def during_a_step(*presses: Callable[[], None]) -> int:
        """Steps that are done in all when one is pressed, and then `presses` while it is done."""
        before = handle.state.steps
        handle.step(1)
        assert run.begun.acquire(timeout=20)
        for press in presses:
            press()
        for _ in range(10):
            run.go.release()
        wait_until(lambda: handle.state.steps > before and handle._pending == 0)
        while run.go.acquire(blocking=False) or run.begun.acquire(blocking=False):
            pass
        return handle.state.steps - before

    one, three = (lambda: handle.step(1)), (lambda: handle.step(3))
    assert during_a_step() == 1
    assert during_a_step(one) == 2 and during_a_step(one, one, three) == 6
    assert during_a_step(handle.pause) == 1, "what was begun is done"
    assert during_a_step(handle.play, three) == 4
    assert during_a_step(three, handle.pause) == 1


def test_cancel_frees_the_run(made):
    manager = made()
    handle = manager.submit(lambda: CountingRun(total_steps=10**6))
    wait_until(lambda: handle.state.steps > 0)
    handle.cancel()
    assert handle.state.status is Status.CANCELLED
    wait_until(lambda: manager.active == 0)
    assert handle.job is None


def test_a_run_that_nobody_looks_at_is_stopped(made):
    manager = made(heartbeat_seconds=0.3)
    watched, forgotten = (manager.submit(lambda: CountingRun(total_steps=10**7)) for _ in range(2))

    def forgotten_is_over():
        watched.poll(Cursor())
        return forgotten.state.status in OVER

    wait_until(forgotten_is_over)
    assert forgotten.state.status is Status.CANCELLED and "reset" in forgotten.state.message
    assert watched.state.status is Status.RUNNING


def test_an_error_ends_its_run_with_a_message_and_no_other(made):
    manager = made()
    broken = manager.submit(lambda: CountingRun(total_steps=10**6, fails_at=50))
    sound = manager.submit(lambda: CountingRun(total_steps=10**6))
    wait_until(lambda: broken.state.status is Status.FAILED)
    assert "planted" in broken.state.message
    at = sound.state.steps
    wait_until(lambda: sound.state.steps > at)


@pytest.mark.parametrize("leave", [SystemExit, KeyboardInterrupt, GeneratorExit])
def test_a_network_that_leaves_the_program_ends_its_own_run_alone(made, leave):
    """`sys.exit()` in somebody's network or data: the thread that steps all runs must live on."""

    class Leaving(CountingRun):
        def advance(self, steps):
            raise leave("planted")

    def never_built():
        raise leave("planted")

    manager = made()
    for build in (never_built, lambda: Leaving(total_steps=10)):
        gone = manager.submit(build)
        wait_until(lambda gone=gone: gone.state.status is Status.FAILED)
        assert leave.__name__ in gone.state.message
    sound = manager.submit(lambda: CountingRun(total_steps=10))
    wait_until(lambda: sound.state.status is Status.FINISHED)


def test_a_slow_start_holds_up_nobody_and_can_be_cancelled(made):
    manager, hold = made(), threading.Event()
    slow = manager.submit(lambda: hold.wait(10) and CountingRun())
    quick = manager.submit(lambda: CountingRun(total_steps=10**6))
    wait_until(lambda: quick.state.steps > 0)
    assert slow.state.status is Status.STARTING
    slow.cancel()
    at = quick.state.steps
    wait_until(lambda: quick.state.steps > at and manager.active == 1)
    hold.set()


def test_an_impossible_configuration_fails_in_the_engine_s_words():
    manager = RunManager()
    try:
        handle = manager.submit(lambda: LlcJob(CONFIG.replace(sampler={"name": "SGLD", "step_size": -1.0})))
        wait_until(lambda: handle.state.status is Status.FAILED)
        assert handle.state.message.startswith("SGLD.step_size is -1")
    finally:
        manager.close()


def test_a_long_run_does_not_shut_out_the_others(made):
    manager = made(capacity=1, turn_seconds=0.02)
    served: list[str] = []
    runs = [
        manager.submit(lambda name=name: CountingRun(total_steps=10**9, served=served, name=name)) for name in "abc"
    ]
    wait_until(lambda: all(served.count(name) >= 20 for name in "abc"))
    states = [run.state for run in runs]
    assert {state.place for state in states} <= {0, 1, 2}
    turns = [a for a, b in zip(served, served[1:], strict=False) if a != b]
    assert len(turns) < len(served) / 3, "a run that gets its turn keeps it for a while"


def test_a_full_server_tells_the_place_in_the_queue(made):
    manager = made(capacity=1, first_seconds=0.0)
    first, second, third = (manager.submit(lambda: CountingRun(total_steps=10**7)) for _ in range(3))
    wait_until(lambda: (second.state.place, third.state.place) == (1, 2))
    wait_until(lambda: first.state.steps > 0)
    assert second.state.status is Status.QUEUED
    first.cancel()
    wait_until(lambda: second.state.status is Status.RUNNING and third.state.place == 1)


def test_who_waits_for_a_first_picture_goes_before_those_who_have_one(made):
    manager = made(capacity=1, turn_seconds=1e9, first_seconds=0.05)
    long = manager.submit(lambda: CountingRun(total_steps=10**9, seconds_per_block=0.002))
    wait_until(lambda: long.state.steps > 100)
    late = manager.submit(lambda: CountingRun(total_steps=10**9, seconds_per_block=0.002))
    wait_until(lambda: late.state.steps > 0)
    wait_until(lambda: late.state.status is Status.QUEUED)
    now = long.state.steps
    wait_until(lambda: long.state.steps > now)


def test_the_real_engine_from_start_to_end():
    problem = DeepLinearNetwork.random(widths=[2, 2], layer_ranks=[2], seed=0)
    manager = RunManager()
    try:
        config = RunConfig(problem=problem.to_dict(), chains=4, steps=3000)
        handle = manager.submit(lambda: LlcJob(config, problem))
        wait_until(lambda: handle.state.status is Status.FINISHED)
        state, rows = handle.poll(Cursor())
        assert state.estimate.steps == 3000 and np.isfinite(state.estimate.llc)
        assert rows.steps[0] == 0 and len(rows.steps) == 1500 and rows.losses.shape == (1500, 4)
        assert (rows.at > 1500).all() and abs(rows.llc[-1] - state.estimate.llc) < 1e-9
        assert abs(rows.se[-1] - state.estimate.llc_se) < 1e-9
    finally:
        manager.close()


def test_threads_that_compute_have_their_cores_whoever_steps_meanwhile(made, monkeypatch):
    """A new thread has as many as were wished for last in any thread."""
    monkeypatch.setattr("app.runs.threads.computing_threads", lambda: 3)
    before, found = torch.get_num_threads(), []

    class Counts(CountingRun):
        def __init__(self) -> None:
            super().__init__(total_steps=1)
            found.append(torch.get_num_threads())

        def advance(self, steps: int) -> Snapshot:
            found.append(torch.get_num_threads())
            return super().advance(steps)

    torch.set_num_threads(1)
    try:
        handle = made().submit(Counts)
        wait_until(lambda: handle.state.status in OVER)
        assert found == [3, 3]
    finally:
        torch.set_num_threads(before)


def test_a_prepared_run_does_its_first_step_and_rests_until_it_is_played(made):
    """It is not ended for being left alone, as another one is."""
    manager, served = made(heartbeat_seconds=0.01), []
    run = manager.submit(lambda: CountingRun(served=served, name="prepared"), playing=False)
    run.prepare()
    wait_until(lambda: run.state.steps > 0)
    other = manager.submit(lambda: CountingRun(seconds_per_block=0.02))
    wait_until(lambda: other.over)
    assert run.state.steps == 1 and served == ["prepared"] and not run.over
    assert run.state.status is Status.RUNNING
    run.play()
    wait_until(lambda: run.state.steps > 1)
