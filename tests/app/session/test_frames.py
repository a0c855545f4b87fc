"""LLC_LAB_FRAMES makes polls rarer, and nothing else is taken for it."""

from __future__ import annotations

import pytest

from app.session.live import POLL_MILLISECONDS, Live


@pytest.mark.parametrize("wish, factor", [("", 1), ("many", 1), ("few", 4)])
def test_few_frames_are_a_quarter_of_the_polls(monkeypatch, wish, factor):
    monkeypatch.setenv("LLC_LAB_FRAMES", wish)
    assert Live(lambda state, rows: None)._period == factor * POLL_MILLISECONDS
    assert Live(lambda state, rows: None, 100)._period == factor * 100


def test_another_word_is_refused(monkeypatch):
    monkeypatch.setenv("LLC_LAB_FRAMES", "fewer")
    with pytest.raises(ValueError, match="LLC_LAB_FRAMES is 'fewer'.*many, few"):
        Live(lambda state, rows: None)
