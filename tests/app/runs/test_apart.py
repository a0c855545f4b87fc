"""What takes long is told to those who are in a hurry, as one calculation for a thread."""

from __future__ import annotations

import pytest

from app.runs.apart import TakesLong, hurried, only_unhurried, whole


@whole
def doubled(x: int, long: bool = False) -> int:
    only_unhurried(long)
    return 2 * x


@whole
def sum_of_doubled(x: int, y: int) -> int:
    return doubled(x) + doubled(y, long=True)


def test_nobody_in_a_hurry_is_kept_from_waiting():
    assert doubled(3, long=True) == 6 and sum_of_doubled(1, 2) == 6


def test_who_is_in_a_hurry_gets_the_whole_calculation_for_a_thread():
    with hurried():
        assert doubled(3) == 6
        with pytest.raises(TakesLong) as first:
            doubled(4, long=True)
        with pytest.raises(TakesLong) as outer:
            sum_of_doubled(1, 2)
    assert first.value.whole is not None and first.value.whole() == 8
    assert outer.value.whole is not None and outer.value.whole() == 6, "of the outermost function"
    with hurried():
        pass
    assert doubled(5, long=True) == 10, "the hurry ends"


def test_a_wrong_value_stays_what_it_is():
    @whole
    def refuses() -> None:
        raise ValueError("No.")

    with hurried(), pytest.raises(ValueError, match="No."):
        refuses()
