"""What an error for a person looks like."""

from __future__ import annotations


def tells(error: ValueError) -> None:
    """One sentence or two, that say something, without a traceback's leavings."""
    text = str(error)
    assert 15 < len(text) < 400, text
    assert text[0].isalnum() and text.rstrip()[-1] in ".)", text
    assert "object at 0x" not in text and "\n" not in text, text
