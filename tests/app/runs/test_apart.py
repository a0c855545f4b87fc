"""What takes long is not begun for those who are in a hurry, and everybody else waits for it."""

from __future__ import annotations

import pytest

from app.runs.apart import TakesLong, hurried, only_unhurried, threads

BEGUN: list[int] = []


def doubled(x: int, long: bool = False) -> int:
    only_unhurried(long)
    BEGUN.append(x)
    return 2 * x


def sum_of_doubled(x: int, y: int) -> int:
    return doubled(x) + doubled(y, long=True)


def test_nobody_in_a_hurry_is_kept_from_waiting():
    assert doubled(3, long=True) == 6 and sum_of_doubled(1, 2) == 6


def test_who_is_in_a_hurry_hears_of_it_before_it_begins():
    with hurried():
        assert doubled(3) == 6
        BEGUN.clear()
        with pytest.raises(TakesLong):
            doubled(4, long=True)
        assert not BEGUN
        with pytest.raises(TakesLong):
            sum_of_doubled(1, 2)
        assert BEGUN == [1]
        assert threads().submit(sum_of_doubled, 1, 2).result() == 6, "a thread has the time"
    assert doubled(5, long=True) == 10, "the hurry ends"
