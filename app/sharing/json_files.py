"""The text of a file that a visitor opens, as JSON."""

from __future__ import annotations

import json
from typing import Any

MAX_CHARACTERS = 100_000


def read_json(text: str, what: str) -> Any:
    """What the text of a file says; ValueError, one sentence, for anything that is not JSON of reasonable length.

    what: the thing that should be in the file, for the sentence.
    """
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"This file has {len(text):,} characters; {what} has at most {MAX_CHARACTERS:,}.")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("This file is not valid JSON.") from None
