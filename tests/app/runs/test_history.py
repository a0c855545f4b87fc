"""What is kept for the screen: evenly thinned, bounded, and honest about dead chains."""

from __future__ import annotations

import numpy as np
import pytest

from app.runs.history import MAX_ROWS, Cursor, History
from llc_core import Snapshot


def snapshot(start: int, stop: int, total: int, llc: list[float], losses: np.ndarray | None = None, every: int = 1):
    recorded = np.arange(start, stop)
    recorded = recorded[recorded % every == 0]
    chains = len(llc)
    return Snapshot(
        steps=stop,
        total_steps=total,
        burn_in=0,
        recorded=recorded,
        excess_loss=np.ones((len(recorded), chains)) if losses is None else losses,
        llc=np.array(llc),
        alive=np.isfinite(llc),
        rms_displacement=np.zeros(chains),
        step_size=np.ones(chains),
        n_beta=np.full(chains, 2.0),
        steps_per_second=1.0,
    )


@pytest.mark.parametrize("total", [1, 2, 100, MAX_ROWS, MAX_ROWS + 1, 9_999, 123_456])
@pytest.mark.parametrize("block", [1000, 37])
def test_rows_cover_the_run_evenly_whatever_the_blocks(total, block):
    history = History(2, total)
    every = max(1, total // 20_000)
    for start in range(0, total, block):
        history.add(snapshot(start, min(start + block, total), total, [1.0, 1.0], every=every))
    rows = history.since(Cursor())
    assert rows.steps[0] == 0 and len(rows.steps) <= MAX_ROWS + 1
    gaps = np.diff(rows.steps)
    assert (gaps > 0).all()
    if len(gaps):
        assert gaps.max() <= 2 * history.stride and total - rows.steps[-1] <= 2 * history.stride


def test_losses_are_in_units_of_the_coefficient():
    history = History(2, 10)
    history.add(snapshot(0, 10, 10, [1.0, 1.0]))
    assert (history.since(Cursor()).losses == 2.0).all()


def test_dead_chains_leave_the_averages():
    history = History(6, 10)
    losses = np.array([[1.0, 3.0, np.nan, 1.0, 3.0, 2.0]] * 10)
    history.add(snapshot(0, 10, 10, [4.0, 6.0, np.nan, 4.0, 6.0, 5.0], losses))
    rows = history.since(Cursor())
    assert rows.recent[-1] == 4.0 and rows.llc.tolist() == [5.0]
    assert rows.se[0] == pytest.approx(np.std([4, 6, 4, 6, 5], ddof=1) / np.sqrt(5))


def test_no_estimate_when_most_chains_are_dead():
    history = History(3, 10)
    history.add(snapshot(0, 10, 10, [4.0, np.nan, np.nan]))
    assert len(history.since(Cursor()).at) == 0


@pytest.mark.parametrize("cut", [2990, 2998, 2999, 3000])
def test_the_last_estimate_is_that_of_the_whole_run(cut):
    going, whole = History(2, 3000), History(2, 6000)
    blocks = [(0, 1500), (1500, cut), (cut, 3000)] if cut < 3000 else [(0, 3000)]
    for start, stop in blocks:
        for history, total in ((going, 3000), (whole, 6000)):
            history.add(snapshot(start, stop, total, [float(stop)] * 2))
    rows = going.since(Cursor())
    assert going.stride == 2 and rows.llc[-1] == rows.at[-1] == 3000 and (np.diff(rows.at) > 0).all()
    going.go_on(6000, 0)
    assert going.since(Cursor()).at.tolist() == whole.since(Cursor()).at.tolist()


def test_readers_get_copies():
    history = History(1, 10)
    history.add(snapshot(0, 5, 10, [1.0]))
    rows = history.since(Cursor())
    rows.losses[:] = -1
    assert (history.since(Cursor()).losses == 2.0).all()
    history.add(snapshot(5, 10, 10, [1.0]))
    assert history.since(rows.cursor).steps.tolist() == [5, 6, 7, 8, 9]


@pytest.mark.parametrize("total", [10, 1400, MAX_ROWS, 4000])
@pytest.mark.parametrize("burn_in", [0, 10_000])
def test_a_run_that_goes_on_looks_like_one_that_was_begun_for_as_long(total, burn_in):
    going, whole = History(2, total), History(2, 2 * total)
    losses = np.arange(2.0 * total)[:, None] + np.zeros(2)
    for start in range(0, 2 * total, 10):
        if start == total:
            before = going.since(Cursor()).cursor
            going.go_on(2 * total, min(burn_in, total))
        stop = start + 10
        going.add(snapshot(start, stop, total if stop <= total else 2 * total, [1.0, 1.0], losses[start:stop]))
        whole.add(snapshot(start, stop, 2 * total, [1.0, 1.0], losses[start:stop]))
    mine, theirs = going.since(before), whole.since(Cursor())
    assert mine.again and not theirs.again
    assert np.array_equal(mine.steps, theirs.steps) and np.array_equal(mine.losses, theirs.losses)
    assert (mine.at > min(burn_in, total)).all() and (np.diff(mine.at) > 0).all() and mine.at[-1] >= 2 * total - 20
    assert np.isfinite(mine.recent).all() and (np.diff(mine.at) >= going.stride).all()
    assert not going.since(mine.cursor).again
