"""Lists of whole numbers as people type them: "8, 6, 8", "8 6 8", "[8, 6, 8]", "8×6×8", "8 → 6 → 8"."""

from __future__ import annotations

import re

from llc_core.fields import FieldError

LONGEST_LIST = 64
LONGEST_NUMBER = 9
EXAMPLE = "8, 6, 8"
_SEPARATORS = re.compile(r"\s*(?:->|[,;×→>]|(?<![a-z])x(?![a-z]))\s*|\s+")


def parse_numbers(text: str, what: str, example: str = EXAMPLE) -> list[int]:
    """The numbers in `text`; ValueError with one sentence that names `what` and the part that is wrong."""
    cleaned = text.strip().strip("[](){}").strip()
    parts = _SEPARATORS.split(cleaned.lower())
    if len(parts) > 1 and not parts[-1]:  # a comma after the last one is the beginning of the next
        parts.pop()
    if not any(parts):
        raise FieldError(what, f": write whole numbers with commas between them, for example {example}.")
    if not all(parts):
        raise FieldError(what, f": a number is missing between two others; write for example {example}.")
    if len(parts) > LONGEST_LIST:
        raise FieldError(what, f": {len(parts)} numbers are more than this page can draw; at most {LONGEST_LIST}.")
    return [_whole(part, what, example) for part in parts]


def _whole(part: str, what: str, example: str) -> int:
    shown = part if len(part) <= 20 else part[:17] + "..."
    if not re.fullmatch(r"[+-]?[0-9]+", part):
        raise FieldError(what, f": “{shown}” is not a whole number; write for example {example}.")
    if len(part) > LONGEST_NUMBER:
        raise FieldError(what, f": {shown} is too large for this page.")
    return int(part)


def parse_reals(text: str, what: str) -> list[float]:
    """The numbers in `text`, fractions allowed; ValueError as `parse_numbers`."""
    cleaned = text.strip().strip("[](){}").strip().replace("−", "-")
    parts = [part for part in re.split(r"[\s,;]+", cleaned) if part]
    if not parts:
        raise FieldError(what, ": write numbers with commas between them, for example 1, 0.5.")
    if len(parts) > LONGEST_LIST:
        raise FieldError(what, f": {len(parts)} numbers are too many.")
    found = []
    for part in parts:
        try:
            found.append(float(part))
        except ValueError:
            shown = part if len(part) <= 20 else part[:17] + "..."
            raise FieldError(what, f": “{shown}” is not a number; write for example 1, 0.5.") from None
    return found
