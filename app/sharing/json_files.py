"""The text of a file that a visitor opens, as JSON."""

from __future__ import annotations

import json
from typing import Any

MAX_CHARACTERS = 100_000
DEEPEST = 50
"""Levels of nesting: configurations have six. A thousand can be read, and then neither compared, copied nor shown."""


def read_json(text: str, what: str) -> Any:
    """What the text of a file says; ValueError, one sentence, for anything that is not JSON of reasonable length.

    what: the thing that should be in the file, for the sentence.
    """
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"This file has {len(text):,} characters; {what} has at most {MAX_CHARACTERS:,}.")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("This file is not valid JSON.") from None
    if is_deep(found):
        raise ValueError(f"This file is nested too deeply; {what} has at most {DEEPEST} levels.")
    return found


def is_deep(value: Any) -> bool:
    """Whether parsed JSON has more levels than any configuration."""
    level = [value]
    for _ in range(DEEPEST):
        inside = [each for each in level if isinstance(each, list | dict)]
        level = [child for each in inside for child in (each.values() if isinstance(each, dict) else each)]
        if not level:
            return False
    return True
