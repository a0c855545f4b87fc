"""Which stores of sweeps there are, and their rows: read only, and checked value by value, whoever made the file."""

from __future__ import annotations

import math
import os
import re
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from app.pages.measured import RESULTS
from llc_core.sweeps.store import COLUMNS, Store

FOLDERS = "LLC_LAB_STORES"
"""Folders of stores, in the environment; without it the one in which the server was started."""
SIGNATURE = b"SQLite format 3\0"
MAX_BYTES, MAX_ROWS, MAX_KINDS, MAX_PROBLEMS = 64_000_000, 200_000, 50, 1000
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
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.sqlite"
        path.write_bytes(content)
        try:
            return read(path)
        except ValueError as error:
            raise ValueError(str(error).replace(repr(str(path)), shown)) from None


def read(path: Path) -> Content:
    """ValueError, one sentence, where the file is no store, or too long for a page."""
    with Store(path, readonly=True) as store:
        return Content(clean(store.rows(MAX_ROWS)), clean_progress(store.progress()))


@lru_cache(maxsize=8)
def _load(path: Path, mark: object) -> Content:
    return read(path)


def _mark(path: Path) -> object:
    with Store(path, readonly=True) as store:
        return store.mark()


def clean(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows of checked types: names are short texts, numbers finite or None. ValueError for a store that is none."""
    columns = [_column(name, kind, [row.get(name) for row in rows]) for name, kind in COLUMNS.items()]
    result = [dict(zip(COLUMNS, values, strict=True)) for values in zip(*columns, strict=True)]
    for row in result:
        if row["status"] not in STATES:
            raise ValueError(f"This store has a row with status {row['status']!r}; a row is ok, diverged or error.")
    for name in ("size_class", "ranks", "sampler", "gradient"):
        kinds = len({row[name] for row in result})
        if kinds > MAX_KINDS:
            raise ValueError(f"This store has {kinds} values of {name}; at most {MAX_KINDS} are shown here.")
    cells = Counter((r["size_class"], r["sampler"], r["gradient"], r["step_size"]) for r in result)
    most = max(cells.values(), default=0)
    if most > MAX_PROBLEMS:
        raise ValueError(f"This store has {most:,} problems at one step size; at most {MAX_PROBLEMS:,} are shown here.")
    return result


def clean_progress(said: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The same for what a sweep says of itself."""
    if said is None:
        return None
    texts = {name: _value(name, "TEXT", said.get(name)) for name in ("state", "updated")}
    numbers = {name: _value(name, "INTEGER", said.get(name)) for name in ("done", "total", "errors", "running")}
    spec = said.get("spec")
    left = _value("seconds_left", "REAL", said.get("seconds_left"))
    return {**texts, **numbers, "seconds_left": left, "spec": spec if isinstance(spec, dict) else {}}


def _column(name: str, kind: str, values: Sequence[Any]) -> list[Any]:
    """The same text is kept once: most columns have a few, each in every row anew."""
    kept: dict[str, Any] = {}
    checked = (_value(name, kind, value) for value in values)
    return [kept.setdefault(value, value) for value in checked] if kind.startswith("TEXT") else list(checked)


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
