"""A store's file into the columns of a `Table`: row by row, or much sooner by a library that makes no object of a value."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from llc_core.compute.cores import available_cores
from llc_core.sweeps.reading import SECONDS, SLOWEST, in_chunks
from llc_core.sweeps.schema import COLUMNS
from llc_core.sweeps.table import NAMES, NUMBERS, Names, Part, finite_or_nan

WHOLE = "typeof(config) = 'text'"
SELECT = f"SELECT rowid, {WHOLE} AS whole, {', '.join((*NAMES, *NUMBERS))} FROM results"
LARGE = 50_000
"""Rows from which on the library is asked: to load it takes as long as these."""
PIECE = 1000
"""Rows that are objects at a time: few enough for a processor's cache, and for Python not to look through them for garbage."""
SLICE = 100_000
"""Rows that the library reads at a time. The store can be written to between two slices."""
MOST_THREADS = 4
TRIES = 3


class Strange(Exception):
    """What the library found is not what a sweep writes; row by row will say what it is."""


def parts_of(db: sqlite3.Connection, path: Path, size: int, most: int | None, objects: bool) -> list[Part]:
    """All rows, in the order in which they were recorded; ValueError where there are more than `most`.

    size: bytes of the file.  objects: whether to go row by row in any case.
    """
    parts = None
    possible = size // len(COLUMNS)  # a row takes more bytes than it has columns
    count = db.execute(f"SELECT count(*) FROM (SELECT 1 FROM results LIMIT {possible})").fetchone()[0]
    if most is not None and count > most:
        raise too_many(path, most)
    if not objects and count >= LARGE:
        parts = at_once(db, path, size, count)
    if parts is None:
        parts = list(row_by_row(db, path, size, most))
    if (np.diff(np.concatenate([places for places, _, _ in parts] or [np.zeros(1)])) <= 0).any():
        raise sqlite3.DatabaseError("a row is in it several times")  # one page that is listed again and again
    return parts


def too_many(path: Path, most: int) -> ValueError:
    return ValueError(f"{str(path)!r} has more than {most:,} rows; give a smaller store.")


def row_by_row(db: sqlite3.Connection, path: Path, size: int, most: int | None) -> Iterator[Part]:
    """size: of the file, which bounds what can be in it. sqlite3.DatabaseError where a text is none or the file is damaged."""
    piece: list[tuple[Any, ...]] = []
    count = 0
    for chunk in in_chunks(db.execute(SELECT), size):
        piece += chunk
        count += len(chunk)
        if most is not None and count > most:
            raise too_many(path, most)
        if len(piece) >= PIECE:
            yield _part(piece)
            piece = []
    if piece:
        yield _part(piece)


def _part(rows: Sequence[tuple[Any, ...]]) -> Part:
    places, whole, *columns = zip(*rows, strict=True)
    if not all(whole) or {type(text) for column in columns[: len(NAMES)] for text in column} != {str}:
        raise sqlite3.DatabaseError("a text of its rows is none")
    names = {name: Names.of(column) for name, column in zip(NAMES, columns, strict=False)}
    numbers = {name: _numbers(column) for name, column in zip(NUMBERS, columns[len(NAMES) :], strict=True)}
    return np.array(places, dtype=np.int64), names, numbers


def _numbers(values: Sequence[Any]) -> np.ndarray:
    if set(map(type, values)) <= {int, float, type(None)}:
        return _finite(np.array(values, dtype=float))
    return np.array([finite_or_nan(value) for value in values], dtype=float)


def _finite(values: np.ndarray) -> np.ndarray:
    there = np.isfinite(values)
    return values if there.all() else np.where(there, values, np.nan)


def at_once(db: sqlite3.Connection, path: Path, size: int, count: int) -> list[Part] | None:
    """The same by ADBC, on several cores; None where it is not installed or anything is strange.  count: rows of the store.

    db: a connection of the `sqlite3` module, which tells whether somebody wrote meanwhile. ADBC has an SQLite of its own, and
    where two of them have one file open in one process, the first that closes it ends the other's lock: a slice during which
    rows were recorded is read once more.
    """
    try:
        import adbc_driver_sqlite.dbapi as adbc
        import pyarrow  # noqa: F401  ADBC takes it by its name
    except ImportError:  # slower without the extra "speed"
        return None
    first, last = db.execute("SELECT min(rowid), max(rowid) FROM results").fetchone()
    ends = np.linspace(first, last + 1, -(-count // SLICE) + 1).round().astype(np.int64).tolist()
    address, late = f"{path.resolve().as_uri()}?mode=ro", time.monotonic() + SECONDS + size / SLOWEST

    def read(low: int, high: int) -> Part | None:
        for _ in range(TRIES):
            if time.monotonic() > late:
                raise Strange
            before = db.execute("PRAGMA data_version").fetchone()
            with closing(adbc.connect(address)) as connection, closing(connection.cursor()) as cursor:
                cursor.adbc_statement.set_options(**{"adbc.sqlite.query.batch_rows": str(10 * SLICE)})
                cursor.execute(f"{SELECT} WHERE rowid >= {low} AND rowid < {high}")
                found = cursor.fetch_arrow_table()
            if db.execute("PRAGMA data_version").fetchone() == before:
                return _of_arrow(found) if len(found) else None
        raise Strange

    try:
        with ThreadPoolExecutor(max(1, min(MOST_THREADS, available_cores()))) as pool:
            parts = list(pool.map(read, ends[:-1], ends[1:]))
    except (Strange, adbc.Error):
        return None
    return [part for part in parts if part is not None]


def _of_arrow(found: Any) -> Part:
    kinds = {name: str(found.schema.field(name).type) for name in found.schema.names}
    if {kinds[name] for name in NAMES} != {"string"} or not {kinds[name] for name in NUMBERS} <= {"int64", "double"}:
        raise Strange
    names = {}
    for name in NAMES:
        column = found[name].combine_chunks().dictionary_encode()
        try:
            values = tuple(column.dictionary.to_pylist())
        except UnicodeError:
            raise Strange from None
        if column.null_count or None in values:
            raise Strange
        names[name] = Names(column.indices.to_numpy(zero_copy_only=False).astype(np.int32, copy=False), values)
    numbers = {name: _finite(found[name].to_numpy().astype(float, copy=False)) for name in NUMBERS}
    if not found["whole"].to_numpy().all():
        raise Strange
    return found["rowid"].to_numpy(), names, numbers
