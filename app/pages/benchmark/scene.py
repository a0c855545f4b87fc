"""Which stores of sweeps there are, and their rows: read only, and checked value by value, whoever made the file."""

from __future__ import annotations

import math
import os
import re
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from app.pages.measured import RESULTS
from llc_core.sweeps.series import present
from llc_core.sweeps.store import COLUMNS, Store
from llc_core.sweeps.table import NUMBERS, Names, Table

FOLDERS = "LLC_LAB_STORES"
"""Folders of stores, in the environment; without it the one in which the server was started."""
SIGNATURE = b"SQLite format 3\0"
MAX_BYTES, MAX_ROWS, MAX_KINDS = 64_000_000, 1_000_000, 50
QUICK_BYTES = 16_000_000
"""A file up to here is read between two frames; a longer one is read in a thread, while the page shows what it showed."""
LENGTHS = {"config": 20_000, "grid": 20_000, "error": 500}
NAME_LENGTH = 80
STATES = ("ok", "diverged", "error")


@dataclass(frozen=True)
class Content:
    """rows: as in `llc_core.sweeps.store.COLUMNS`.  progress: what the sweep last said of itself, or None."""

    rows: Sequence[Mapping[str, Any]] = ()
    progress: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class OpenStore:
    """The store that the page shows. path: None without a store, and for a visitor's file.  file: the name of such a file."""

    content: Content = Content()
    path: Path | None = None
    file: str = ""


def open_store(name: str, there: Mapping[str, Path]) -> OpenStore:
    """A store by its name, "" for none; ValueError, one sentence, where it cannot be read.  there: as from `offered`."""
    if not name:
        return OpenStore()
    try:
        return OpenStore(load(there[name]), there[name])
    except ValueError as error:
        raise ValueError(str(error).replace(repr(str(there[name])), f"“{name}”")) from None


def offered() -> dict[str, Path]:
    """Stores to choose from by name: those that come with the program, then those of this server's folders.

    Those of one folder are sorted by name, numbers as numbers, so that small classes come first.
    """
    folders = [RESULTS, *map(Path, os.environ.get(FOLDERS, ".").split(os.pathsep))]
    found: dict[str, Path] = {}
    for folder in folders:
        for path in sorted(folder.glob("*.sqlite"), key=_in_order) if folder.is_dir() else ():
            if path.stem not in found and len(path.stem) <= NAME_LENGTH and _is_sqlite(path):
                found[path.stem] = path.resolve()
    return found


def _in_order(path: Path) -> list[tuple[int, str]]:
    parts = re.split(r"(\d+)", path.stem)
    return [(int(part), "") if part.isdecimal() else (0, part) for part in parts]


def load(path: Path) -> Content:
    """What is in a store now; its rows are read again only when there are others. ValueError, one sentence, for no store."""
    content = _load(path, _mark(path))
    return content if content.progress is None else replace(content, progress=progress_of(path))


def progress_of(path: Path) -> Mapping[str, Any] | None:
    """What the sweep last said of itself; None where nothing was said or nothing can be read."""
    try:
        with Store(path, readonly=True) as store:
            return clean_progress(store.progress())
    except ValueError:
        return None


def open_upload(content: bytes, name: str) -> Content:
    """A visitor's file. ValueError, one sentence, for anything but a store of reasonable size."""
    shown = f"“{name[:NAME_LENGTH]}”"
    if len(content) > MAX_BYTES:
        raise ValueError(f"{shown} has {len(content) / 1e6:.0f} MB; stores opened here have at most 64 MB.")
    if not content.startswith(SIGNATURE):
        raise ValueError(f"{shown} is not a store of LLC Lab; give a file that `llc-lab sweep` made.")
    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name) / "store.sqlite"
    path.write_bytes(content)
    try:
        found = read(path, foreign=True)
    except ValueError as error:
        folder.cleanup()
        raise ValueError(str(error).replace(repr(str(path)), shown)) from None
    assert isinstance(found.rows, Table)
    return replace(found, rows=_kept_with(found.rows, folder))


def read(path: Path, foreign: bool = False) -> Content:
    """ValueError, one sentence, where the file is no store, or too long for a page.  foreign: whether a visitor sent it."""
    with Store(path, readonly=True) as store:
        return Content(clean_table(store.table(MAX_ROWS, foreign)), clean_progress(store.progress()))


def is_quick(path: Path) -> bool:
    """Whether a store is read before anybody notices."""
    try:
        return path.stat().st_size <= QUICK_BYTES
    except OSError:
        return True


def stamp_of(path: Path) -> object:
    """Something that changes whenever somebody writes to a store."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _kept_with(rows: Table, folder: tempfile.TemporaryDirectory[str]) -> Table:
    """The same rows. The folder is there as long as they or a part of them is: their file lies in it."""

    def fetch(places: np.ndarray) -> list[Mapping[str, Any]]:
        return rows.fetch(places)

    weakref.finalize(fetch, folder.cleanup)
    return Table(rows.names, rows.numbers, rows.places, fetch)


@lru_cache(maxsize=4)
def _load(path: Path, mark: object) -> Content:
    return read(path)


def _mark(path: Path) -> object:
    with Store(path, readonly=True) as store:
        return store.mark()


def clean_table(table: Table) -> Table:
    """Rows of checked types: names are short texts, numbers finite or none. ValueError for a store that is none."""
    names = {name: _short(column) for name, column in table.names.items()}
    whole = {name for name in NUMBERS if COLUMNS[name].startswith("INTEGER")}
    numbers = {name: np.trunc(column) if name in whole else column for name, column in table.numbers.items()}
    for status in sorted(set(present(table, "status")) - set(STATES)):
        raise ValueError(f"This store has a row with status {status[:NAME_LENGTH]!r}; a row is ok, diverged or error.")
    found = Table(names, numbers, table.places, lambda places: clean(table.fetch(places)))
    for name in ("size_class", "ranks", "sampler", "gradient"):
        kinds = len(present(found, name))
        if kinds > MAX_KINDS:
            raise ValueError(f"This store has {kinds} values of {name}; at most {MAX_KINDS} are shown here.")
    return found


def _short(column: Names) -> Names:
    """Texts up to NAME_LENGTH; those that are then alike become one."""
    cut = Names.of(value[:NAME_LENGTH] for value in column.values)
    return Names(cut.codes[column.codes] if len(column.codes) else column.codes, cut.values)


def clean(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The same, value by value, of rows that are shown."""
    columns = [[_value(name, kind, row.get(name)) for row in rows] for name, kind in COLUMNS.items()]
    return [dict(zip(COLUMNS, values, strict=True)) for values in zip(*columns, strict=True)]


def clean_progress(said: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The same for what a sweep says of itself."""
    if said is None:
        return None
    texts = {name: _value(name, "TEXT", said.get(name)) for name in ("state", "updated")}
    numbers = {name: _value(name, "INTEGER", said.get(name)) for name in ("done", "total", "errors", "running")}
    spec = said.get("spec")
    left = _value("seconds_left", "REAL", said.get("seconds_left"))
    return {**texts, **numbers, "seconds_left": left, "spec": spec if isinstance(spec, dict) else {}}


def _value(name: str, kind: str, value: Any) -> Any:
    if kind.startswith("TEXT"):
        return value[: LENGTHS.get(name, NAME_LENGTH)] if isinstance(value, str) else None if name == "error" else ""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return int(value) if kind.startswith("INTEGER") else float(value)


def _is_sqlite(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(SIGNATURE)) == SIGNATURE
    except OSError:
        return False
