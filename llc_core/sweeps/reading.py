"""How the file of a store is opened and read, whoever made it: read only, plain tables alone, bounded in length and in time.

A few kilobytes of SQLite can be a program: a view or a generated column that never ends, a value of a gigabyte, pages that count
many times over. The limits are those of https://www.sqlite.org/security.html.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

BUSY_SECONDS = 30.0
LENGTH = 1_000_000
"""Most bytes of one value, and of one row."""
LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: LENGTH,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 100_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 100,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 10,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 3,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 25_000,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 8,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 50,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 10,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
}
INSTRUCTIONS = 10_000
"""Of SQLite's machine, between looks at the clock. A store's own schema takes a few hundred."""
SECONDS = 10.0
SLOWEST = 5e6
"""Bytes a second of a slow disk: what a large file may take beyond SECONDS."""
CHUNK = 64
"""Rows. Each may have LENGTH bytes before anybody counts them."""


def open_to_read(path: Path) -> sqlite3.Connection:
    """The one connection through which stores are read. sqlite3.Error where the file cannot be opened.

    Until `reading` allows more, a statement ends after INSTRUCTIONS: a file of a million tables is not even listed.
    """
    db = _connect(path, "ro")
    for limit, most in LIMITS.items():
        db.setlimit(limit, most)
    db.set_progress_handler(lambda: 1, INSTRUCTIONS)
    for setting in ("query_only = ON", "cell_size_check = ON"):
        db.execute(f"PRAGMA {setting}")
    return db


def open_to_write(path: Path) -> sqlite3.Connection:
    """The connection of a sweep, which makes the file if it is not there."""
    return _connect(path, "rwc")


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    # The progress display may read from another thread; SQLite's own lock keeps order.
    address = f"{path.resolve().as_uri()}?mode={mode}"
    db = sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, check_same_thread=False)
    db.execute("PRAGMA trusted_schema = OFF")
    return db


def check_plain(db: sqlite3.Connection, tables: Mapping[str, Collection[str]]) -> None:
    """sqlite3.DatabaseError unless the file has these tables, each with exactly these stored columns, and nothing else.

    Views, triggers, virtual tables and generated columns would run whenever somebody reads.
    """
    for kind, name, made in db.execute("SELECT type, name, sql FROM sqlite_master"):
        own_index = kind == "index" and made is None
        own_table = kind == "table" and name in tables and str(made).startswith(f"CREATE TABLE {name} (")
        if not own_index and not own_table:
            raise sqlite3.DatabaseError("more than plain tables")
    for name, columns in tables.items():
        found = {column[1]: column[6] for column in db.execute(f"PRAGMA table_xinfo({name})")}
        if set(found) != set(columns) or any(found.values()):
            raise sqlite3.DatabaseError("other columns")


def within(seconds: float) -> Callable[[], int]:
    """For `set_progress_handler`: ends a statement that runs longer. To wait for a writer's lock does not count."""
    end: float | None = None

    def late() -> int:
        nonlocal end
        now = time.monotonic()
        if end is None:
            end = now + seconds
        return int(now > end)

    return late


@contextlib.contextmanager
def reading(db: sqlite3.Connection, path: Path, timed: bool) -> Iterator[int]:
    """Gives the bytes of the file. What fails inside is a ValueError of one sentence.

    timed: a statement also has no longer than so many bytes explain.
    """
    try:
        log = Path(f"{path}-wal")
        size = path.stat().st_size + (log.stat().st_size if log.is_file() else 0)
        if timed:
            db.set_progress_handler(within(SECONDS + size / SLOWEST), INSTRUCTIONS)
        yield size
    except (sqlite3.Error, UnicodeError, OverflowError, OSError) as error:
        late = getattr(error, "sqlite_errorname", "") == "SQLITE_INTERRUPT"
        why = "that takes too long" if late else " ".join(str(error).split())[:60]
        raise ValueError(
            f"{str(path)!r} cannot be read ({why}): it is damaged, in use, or not a store of LLC Lab; give another file."
        ) from None


def in_chunks(cursor: sqlite3.Cursor, size: int) -> Iterator[list[tuple[Any, ...]]]:
    """What a statement finds, some rows at a time; sqlite3.DatabaseError where it is more than `size` bytes can say.

    Nothing in SQLite keeps a file from listing one page a million times. A value takes at least a byte there.
    """
    while chunk := cursor.fetchmany(CHUNK):
        size -= sum(_length(column) for column in zip(*chunk, strict=True)) + len(chunk)
        if size < 0:
            raise sqlite3.DatabaseError("more is in it than it has room for")
        yield chunk


def _length(column: tuple[Any, ...]) -> int:
    kinds = set(map(type, column))
    if kinds == {str}:
        return sum(map(len, column))
    return (
        sum(len(value) for value in column if isinstance(value, str | bytes)) if kinds & {str, bytes} else len(column)
    )
