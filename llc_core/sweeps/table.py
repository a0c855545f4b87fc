"""Rows of a store as columns: what a million of them are filtered, grouped and counted by. A row as such is made when somebody
takes it out."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

Row = Mapping[str, Any]
Fetch = Callable[[np.ndarray], list[Row]]

NAMES = ("size_class", "ranks", "sampler", "gradient", "status", "finished")
"""Columns of texts, of which each is in many rows."""
NUMBERS = (
    "problem", "dim", "step_size", "chains", "dead", "llc", "llc_from_variance", "llc_printed", "global_llc", "local_llc", "expected_llc",
    "stable_step", "steps", "seconds",
)  # fmt: skip
"""Columns of numbers that something is computed from. What else a row has is read when it is shown."""
SHARED = (*NAMES, "problem", "dim", "chains", "steps", "global_llc", "local_llc", "expected_llc", "seconds")
"""Columns in which rows that were recorded together mostly agree."""
FETCHED = 2000
"""Rows that are made at a time where all are gone through."""


@dataclass(frozen=True)
class Names:
    """A column of texts: `values[codes[i]]` is that of row i. Not every value need be in a row."""

    codes: np.ndarray
    values: tuple[str, ...]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Names:
        there = texts if isinstance(texts, Sequence) else list(texts)
        places = {text: place for place, text in enumerate(dict.fromkeys(there))}
        return cls(np.fromiter(map(places.__getitem__, there), np.int32, len(there)), tuple(places))

    def counts(self) -> np.ndarray:
        """Rows of each value."""
        return np.bincount(self.codes, minlength=len(self.values))

    def among(self, wanted: Iterable[str]) -> np.ndarray:
        """Whether each row has one of these values."""
        kept = set(wanted)
        return np.array([value in kept for value in self.values] or [False])[self.codes]

    def ordered(self) -> np.ndarray:
        """Codes that are ordered as the texts are."""
        place = np.empty(len(self.values), dtype=np.int64)
        place[sorted(range(len(self.values)), key=self.values.__getitem__)] = np.arange(len(self.values))
        return place[self.codes]


class Table(Sequence[Row]):
    """names, numbers: columns by NAMES and NUMBERS; a number is nan where a row has none.  places: [k] what `fetch` makes rows of."""

    def __init__(self, names: Mapping[str, Names], numbers: Mapping[str, np.ndarray], places: np.ndarray, fetch: Fetch):
        self.names, self.numbers, self.places, self.fetch = names, numbers, places, fetch

    @classmethod
    def read(cls, db: sqlite3.Connection, fetch: Fetch, there: Collection[str] = NUMBERS) -> Table:
        """All rows of a store by their numbers in its file, which are their places.  there: columns that the file has.

        What a row shares with the one before it is not handed over again: a million rows take 2 s so, and 4 s with all their values.
        """
        kinds: dict[tuple[Any, ...], int] = {}
        db.create_function("kind", len(SHARED), lambda *values: kinds.setdefault(values, len(kinds)))
        same = " AND ".join(f"row.{name} IS before.{name}" for name in SHARED)
        shared = ", ".join(f"row.{name}" for name in SHARED)
        own = [name for name in NUMBERS if name not in SHARED]
        rows = db.execute(
            f"SELECT row.rowid, CASE WHEN {same} THEN -1 ELSE kind({shared}) END, "
            f"{', '.join(f'ifnull(row.{name}, 9e999)' if name in there else '9e999' for name in own)} "
            "FROM results AS row LEFT JOIN results AS before ON before.rowid = row.rowid - 1 ORDER BY row.rowid"
        )
        found = np.fromiter(rows, [("place", np.int64), ("kind", np.int32), *((name, np.float64) for name in own)])
        latest = np.maximum.accumulate(np.where(found["kind"] >= 0, np.arange(len(found)), 0))
        kind = found["kind"][latest]
        columns = dict(zip(SHARED, zip(*kinds, strict=True) if kinds else [()] * len(SHARED), strict=True))
        names = {name: Names.of(columns[name]) for name in NAMES}
        numbers = {name: found[name] if name in own else np.array(columns[name], dtype=float)[kind] for name in NUMBERS}
        return cls(
            {name: Names(column.codes[kind], column.values) for name, column in names.items()},
            {name: np.where(np.isfinite(column), column, np.nan) for name, column in numbers.items()},
            found["place"].copy(),
            fetch,
        )

    @classmethod
    def of(cls, rows: Iterable[Row]) -> Table:
        """Of rows that are there already; a table stays what it is."""
        if isinstance(rows, Table):
            return rows
        there = list(rows)
        names = {name: Names.of(str(row.get(name) or "") for row in there) for name in NAMES}
        numbers = {name: np.array([finite_or_nan(row.get(name)) for row in there], dtype=float) for name in NUMBERS}
        return cls(names, numbers, np.arange(len(there)), lambda places: [there[place] for place in places])

    def take(self, chosen: np.ndarray) -> Table:
        """The rows of a mask [k], or of places in this table."""
        if chosen.dtype == bool:
            if chosen.all():
                return self
            chosen = np.flatnonzero(chosen)
        names = {name: Names(column.codes[chosen], column.values) for name, column in self.names.items()}
        numbers = {name: column[chosen] for name, column in self.numbers.items()}
        return Table(names, numbers, self.places[chosen], self.fetch)

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, at: int) -> Row: ...
    @overload
    def __getitem__(self, at: slice) -> Table: ...
    def __getitem__(self, at: int | slice) -> Row | Table:
        if isinstance(at, slice):
            return self.take(np.arange(len(self))[at])
        return self.fetch(self.places[[at]])[0]

    def __iter__(self) -> Iterator[Row]:
        for start in range(0, len(self), FETCHED):
            yield from self.fetch(self.places[start : start + FETCHED])


def finite_or_nan(value: Any) -> float:
    """A finite number, else nan."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    try:
        return float(value) if math.isfinite(value) else math.nan
    except OverflowError:  # an integer that no float holds
        return math.nan


def alike(*columns: np.ndarray) -> np.ndarray:
    """[k] integers that are equal for rows that agree in all columns, and ordered as the columns are, the first one first.

    Columns of integers are codes, from 0 and not many.
    """
    joint, kinds = np.zeros(len(columns[0]), dtype=np.int64), 1
    for column in columns if len(joint) else ():
        if column.dtype.kind == "i":
            codes, count = column, int(column.max()) + 1
        else:
            values, codes = np.unique(column, return_inverse=True)
            count = len(values)
        if kinds * count > 2**62:  # no integer holds so many combinations, but no store has so many rows either
            found, joint = np.unique(joint, return_inverse=True)
            kinds = len(found)
        joint, kinds = joint * count + codes, kinds * count
    return joint
