"""Files that are no stores, or no longer whole ones."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from synthetic_store import synthetic_rows, write_store

from llc_core.sweeps.store import SAID

ROWS = synthetic_rows(3, ["SGLD"], ["full"], 2, ranks=["equal"])


def changed(*commands: str) -> Callable[[Path], None]:
    """A store that was good until these commands."""

    def make(path: Path) -> None:
        write_store(path, ROWS, state="running", done=1, total=2)
        with closing(sqlite3.connect(path)) as db, db:
            for command in commands:
                db.execute(command)

    return make


def _cut(path: Path) -> None:
    changed()(path)
    path.write_bytes(path.read_bytes()[:5000])


DAMAGED: dict[str, Callable[[Path], None]] = {
    "other columns": changed("DROP TABLE progress", "CREATE TABLE progress (id, done, text)"),
    "no id": changed("DROP TABLE progress", f"CREATE TABLE progress ({', '.join(SAID)})"),
    "no rows": changed("DROP TABLE results"),
    "spec no JSON": changed("UPDATE progress SET spec = 'none'"),
    "text that is none": changed("UPDATE results SET sampler = CAST(x'ff0aff' AS TEXT)"),
    "text for a number": changed("UPDATE results SET llc = 'much' WHERE rowid = 2"),
    "cut": _cut,
    "no data base": lambda path: path.write_bytes(b"no data base" * 1000),
    "empty": lambda path: path.write_bytes(b""),
}
"""Name → what writes such a file to a path."""
NO_SWEEP = ("other columns", "no id", "no rows", "no data base", "cut")
"""Those to which no sweep may write either."""


def one_sentence(error: BaseException, path: Path | None = None) -> bool:
    """path: of the file, which the sentence may name."""
    text = str(error)
    shown = text if path is None else text.replace(str(path), "")
    return text.endswith(".") and "\n" not in text and len(shown) < 300 and "/tmp" not in shown
