"""Rows of a long benchmark or study, kept in a file as soon as they are known, so that it can be made in pieces."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Row = dict[str, Any]


class Kept:
    """Rows by the question that they answer: one JSON object a line, {"asked": …, "row": …, "code": …}.

    path: the file; it is made with its folder. None: rows are held in memory alone.
    A line that is cut off, by a program that was ended while it wrote, is left out and made anew. Only one program at a time may
    write to a file.  rows: what is known, by `key` of the question.  codes: the states of the engine (`engine_digest`) they came from.
    """

    def __init__(self, path: Path | None = None):
        self.path = path
        self.rows: dict[str, Row] = {}
        self.codes: set[str] = set()
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text() if path.exists() else ""
        if text and not text.endswith("\n"):
            text = text[: text.rfind("\n") + 1]
            os.truncate(path, len(text.encode()))
        for number, line in enumerate(text.splitlines(), 1):
            try:
                found = json.loads(line)
                self.rows[key(found["asked"])] = found["row"]
                self.codes.add(found["code"])
            except (ValueError, KeyError, TypeError):
                raise ValueError(f"Line {number} of {path} is no kept row; give another file, or remove it.") from None

    def __contains__(self, asked: Any) -> bool:
        return key(asked) in self.rows

    def __getitem__(self, asked: Any) -> Row:
        return self.rows[key(asked)]

    def origin(self) -> str:
        """Which engines the rows were made with, in words."""
        others = sorted(self.codes - {engine_digest()})
        return f"some with other states of the engine: {', '.join(others)}" if others else "all with this engine"

    def add(self, asked: Any, row: Mapping[str, Any]) -> None:
        """Keeps the row on disk before it returns."""
        code = engine_digest()
        self.rows[key(asked)] = dict(row)
        self.codes.add(code)
        if self.path is not None:
            with self.path.open("a") as file:
                file.write(json.dumps({"asked": asked, "row": row, "code": code}) + "\n")
                file.flush()
                os.fsync(file.fileno())


def key(asked: Any) -> str:
    """The same for questions that are equal as JSON."""
    return json.dumps(asked, sort_keys=True)


def engine_digest() -> str:
    """Eight digits that change with the engine's code: rows of two engines should not pass for one measurement."""
    global _digest
    if not _digest:
        root, sums = Path(__file__).parents[1], hashlib.sha256()
        for path in sorted(root.rglob("*.py")):
            sums.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
        _digest = sums.hexdigest()[:8]
    return _digest


_digest = ""
"""Of the code as it was when the first row was kept: what is edited later does not run in this program."""
