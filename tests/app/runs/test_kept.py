"""Results that are shared stay within their number and their bytes."""

from __future__ import annotations

from app.runs.kept import Kept


def test_the_least_recently_used_goes_first():
    kept, made = Kept[str](2), []

    def make(key: str) -> str:
        made.append(key)
        return key.upper()

    for key in "ababca":
        assert kept.get(key, lambda key=key: make(key)) == key.upper()
    assert made == ["a", "b", "c", "a"] and "b" not in kept and "c" in kept


def test_bytes_bound_what_is_kept():
    kept = Kept[str](8, lambda: 100)
    for key in "abcd":
        kept.get(key, str, 40)
    assert [key in kept for key in "abcd"] == [False, False, True, True] and kept.held == 80
    kept.get("c", str, 90)
    assert "c" in kept and "d" not in kept and kept.held == 90, "one that has grown counts as it is now"
    assert kept.get("huge", lambda: "made", 101) == "made"
    assert "huge" not in kept and "c" in kept, "what is larger than all room drives nothing out"
    kept.forget()
    assert kept.held == 0 and "c" not in kept


def test_what_fails_is_not_kept():
    kept = Kept[int](2)
    for wanted in (0, 1):
        try:
            kept.get("a", lambda wanted=wanted: 1 // wanted)
        except ZeroDivisionError:
            assert "a" not in kept
    assert kept.get("a", lambda: 7) == 1
