"""Which stores of sweeps there are, and their rows. They come with the program, or lie in folders that the server's owner named."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from app.pages.measured import RESULTS
from llc_core.sweeps.series import present
from llc_core.sweeps.store import Store
from llc_core.sweeps.table import Table

FOLDERS = "LLC_LAB_STORES"
"""Folders of stores, in the environment; without it the one in which the server was started."""
SIGNATURE = b"SQLite format 3\0"
MAX_ROWS, MAX_KINDS = 1_000_000, 50
QUICK_BYTES = 16_000_000
"""A file up to here is read between two frames; a longer one is read in a thread, while the page shows what it showed."""


@dataclass(frozen=True)
class Content:
    """rows: as in `llc_core.sweeps.store.COLUMNS`.  progress: what the sweep last said of itself, or None."""

    rows: Sequence[Mapping[str, Any]] = ()
    progress: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class OpenStore:
    """The store that the page shows. path: None without a store."""

    content: Content = Content()
    path: Path | None = None


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
            if path.stem not in found and _is_sqlite(path):
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
            return store.progress()
    except ValueError:
        return None


def read(path: Path) -> Content:
    """ValueError, one sentence, where the file is no store, or too long for a page."""
    with Store(path, readonly=True) as store:
        return Content(shown(store.table(MAX_ROWS)), store.progress())


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


@lru_cache(maxsize=4)
def _load(path: Path, mark: object) -> Content:
    return read(path)


def _mark(path: Path) -> object:
    with Store(path, readonly=True) as store:
        return store.mark()


def shown(table: Table) -> Table:
    """The same table; ValueError where there is more to tell apart than a page can."""
    for name in ("size_class", "ranks", "sampler", "gradient"):
        kinds = len(present(table, name))
        if kinds > MAX_KINDS:
            raise ValueError(f"This store has {kinds} values of {name}; at most {MAX_KINDS} are shown here.")
    return table


def _is_sqlite(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(SIGNATURE)) == SIGNATURE
    except OSError:
        return False
