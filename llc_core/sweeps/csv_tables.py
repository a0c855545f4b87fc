"""The one writer of CSV: what it writes can be opened in a spreadsheet without running anything."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def table_csv(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table as CSV text, one line for each row; None is an empty cell.

    A spreadsheet runs a text that begins like a formula. Such a text gets an apostrophe in front, which spreadsheets read
    as "this is text". Numbers stay as they are.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([_guarded(value) for value in row] for row in rows)
    return text.getvalue()


def _guarded(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value
