"""The store of a sweep: one SQLite file, one row per configuration, written only when its run is finished. Long,
since a file's tables are made, written and read in one place.

One process writes; any number may read meanwhile. The file is always whole: what a killed writer recorded stays.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from llc_core.fields import short
from llc_core.sweeps.table import Row, Table, alike

SCHEMA_VERSION = 2
COLUMNS: dict[str, str] = {
    "key": "TEXT PRIMARY KEY",
    "unit": "TEXT NOT NULL",
    "size_class": "TEXT NOT NULL",
    "ranks": "TEXT NOT NULL",
    "problem": "INTEGER NOT NULL",
    "dim": "INTEGER",
    "sampler": "TEXT NOT NULL",
    "gradient": "TEXT NOT NULL",
    "step_size": "REAL NOT NULL",
    "step_index": "INTEGER NOT NULL",
    "chains": "INTEGER NOT NULL",
    "dead": "INTEGER",
    "status": "TEXT NOT NULL CHECK (status IN ('ok', 'diverged', 'error'))",
    "llc": "REAL",
    "llc_se": "REAL",
    "llc_from_variance": "REAL",
    "llc_from_variance_se": "REAL",
    "llc_printed": "REAL",
    "global_llc": "REAL",
    "local_llc": "REAL",
    "expected_llc": "REAL",
    "r_hat": "REAL",
    "ess": "REAL",
    "stable_step": "REAL",
    "lost_after": "INTEGER",
    "steps": "INTEGER NOT NULL",
    "seconds": "REAL",
    "error": "TEXT",
    "config": "TEXT NOT NULL",
    "grid": "TEXT NOT NULL",
    "finished": "TEXT NOT NULL",
}
"""Of table `results`.

key: hash of `config`, the RunConfig of this row alone (JSON, defaults left out).  unit: of the batch it ran in, whose step sizes are `grid`.
problem: seed of the random network.  dead: diverged chains.  status: "diverged" when more than half of them are.
llc: λ̂ with the baseline on the same batch.  llc_from_variance: λ̂ from how much the losses vary; NULL where it is not known.
llc_printed: from the same chains with the loss at w0 on one minibatch only,
as printed in Hitchcock & Hoogland eq. 3.8.  expected_llc: the local coefficient with its finite-n correction.
stable_step: largest stable step size found along the run.  lost_after: so many steps were done before more than half of the chains
had a loss that is not finite, or over 100 steps one that no posterior has (`Run.lost_at`); all steps where they had not been. None: not kept.
seconds: of the unit, divided by its rows.
"""
LATER = ("llc_from_variance", "llc_from_variance_se", "lost_after")
"""Columns that older stores may not have: their rows read as if nothing had been known. Writing to such a store adds them."""
PROGRESS = (
    "id INTEGER PRIMARY KEY CHECK (id = 1), spec TEXT, done INTEGER, total INTEGER, errors INTEGER, running INTEGER, \
seconds_left REAL, state TEXT, updated TEXT"
)
SAID = ("spec", "done", "total", "errors", "running", "seconds_left", "state", "updated")
ORDER = ("size_class", "ranks", "problem", "sampler", "gradient", "step_size")


def create(db: sqlite3.Connection) -> None:
    """Both tables in an empty file."""
    columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
    with db:
        db.execute("BEGIN IMMEDIATE")  # all or nothing, even if this process is killed here
        db.execute(f"CREATE TABLE IF NOT EXISTS results ({columns})")
        db.execute(f"CREATE TABLE IF NOT EXISTS progress ({PROGRESS})")
        db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def lock(file: Any) -> bool:
    """Lock the file; returns whether that succeeded. The system unlocks it when the process ends, however it ends."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


BUSY_SECONDS = 30.0
"""A reader waits so long for a writer's lock, and a writer for a reader's."""


def connect(path: Path, mode: str) -> sqlite3.Connection:
    """mode: "ro" to read only, or "rwc", which makes the file if it is not there."""
    # The progress display may read from another thread; SQLite's own lock keeps order.
    address = f"{path.resolve().as_uri()}?mode={mode}"
    db = sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, check_same_thread=False)
    db.execute("PRAGMA trusted_schema = OFF")
    return db


class Store:
    """A sweep's file. `with Store(path) as store: store.rows()`.

    readonly: do not create or change anything; ValueError where there is no such store.
    """

    def __init__(self, path: str | Path, readonly: bool = False):
        self.path = Path(path)
        self.readonly = readonly
        try:
            there = self.path.exists()
        except OSError as error:  # a name longer than there can be
            raise ValueError(
                f"The store {short(str(path))} cannot be opened ({error.strerror}); give the path of a file."
            ) from None
        if readonly and not (there and self.path.is_file()):
            raise ValueError(
                f"There is no store at {str(path)!r}; make one with `llc-lab sweep FILE.toml --store PATH`."
            )
        if not readonly and not self.path.parent.is_dir():
            raise ValueError(f"The folder of the store {str(path)!r} does not exist; make it first.")
        if self.path.is_dir():
            raise ValueError(f"The store {str(path)!r} is a folder; give the path of a file.")
        try:
            self._db = connect(self.path, "ro" if readonly else "rwc")
        except sqlite3.OperationalError as error:
            raise ValueError(
                f"The store {str(path)!r} cannot be opened ({error}); give a file that you may read"
                f"{'' if readonly else ' and write'}."
            ) from None
        try:
            self._check()
        except (sqlite3.DatabaseError, UnicodeError):
            self._db.close()
            raise ValueError(
                f"{str(path)!r} is not a store of LLC Lab; give a file that `llc-lab sweep` made."
            ) from None
        except ValueError:
            self._db.close()
            raise

    def _check(self) -> None:
        empty = self._db.execute("SELECT 1 FROM sqlite_master").fetchone() is None
        if empty and not self.readonly:
            create(self._db)
            return
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        if version > SCHEMA_VERSION:
            raise ValueError(
                f"{str(self.path)!r} is of another version of LLC Lab (of stores {version}, not {SCHEMA_VERSION}); use that one, "
                "or give a new file."
            )
        if not version:
            raise sqlite3.DatabaseError("made by another program")
        self._there()
        if {column[1] for column in self._db.execute("PRAGMA table_info(progress)")} != {"id", *SAID}:
            raise sqlite3.DatabaseError("other columns")

    def _there(self) -> list[str]:
        """The columns that the file has. Asked each time, since another process may have added those that came later."""
        found = {column[1] for column in self._db.execute("PRAGMA table_info(results)")}
        if not set(COLUMNS) - set(LATER) <= found <= set(COLUMNS):
            raise sqlite3.DatabaseError("other columns")
        return [name for name in COLUMNS if name in found]

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Inside, this process is the only writer; ValueError while another one is. A killed process stops being the writer."""
        with contextlib.ExitStack() as stack:
            try:
                file = stack.enter_context(open(f"{self.path}.lock", "a"))
            except OSError as error:
                raise ValueError(
                    f"The store {str(self.path)!r} cannot be written ({error.strerror} beside it); give a file in a folder "
                    "that you may write to."
                ) from None
            if not lock(file):
                raise ValueError(f"Another sweep is writing to {str(self.path)!r}; wait for it, or give another store.")
            with self._recording():
                self._db.execute("DELETE FROM progress WHERE id = 0")  # none; a file that may only be read refuses
            yield

    @contextlib.contextmanager
    def _recording(self) -> Iterator[None]:
        """All that is written inside, or nothing; ValueError where the file or the disk takes no more."""
        try:
            with self._db:
                yield
        except sqlite3.OperationalError as error:
            raise ValueError(
                f"The store {str(self.path)!r} cannot be written ({' '.join(str(error).split())[:60]}); what it holds stays. "
                "Make room, or give a file that you may write, and run the same sweep again."
            ) from None

    # -- rows ---------------------------------------------------------------------------------------------------------

    def add(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Record finished rows, all or none of them. A key that is there already is replaced. ValueError where the disk is full."""
        if self.readonly:
            raise ValueError(
                f"The store {str(self.path)!r} is open for reading only; open it with readonly=False to add rows."
            )
        names = ", ".join(COLUMNS)
        places = ", ".join(f":{name}" for name in COLUMNS)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self._recording():
            self._db.execute("BEGIN IMMEDIATE")  # before columns are looked for: no other process adds them meanwhile
            self._complete()
            self._db.executemany(
                f"INSERT OR REPLACE INTO results ({names}) VALUES ({places})",
                [{**dict.fromkeys(COLUMNS), "finished": now, **row} for row in rows],
            )

    def _complete(self) -> None:
        """Give a store of an older version the columns that it has not, in the same transaction as the first rows that have them."""
        there = self._there()
        if len(there) < len(COLUMNS):
            for name in COLUMNS.keys() - there:
                self._db.execute(f"ALTER TABLE results ADD COLUMN {name} {COLUMNS[name]}")
            self._db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def _selected(self) -> str:
        """All columns, as SQL has them; NULL for those that this file has not."""
        there = self._there()
        return ", ".join(name if name in there else "NULL" for name in COLUMNS)

    def rows(self) -> list[dict[str, Any]]:
        """Every finished row, ordered by what was run; ValueError where the file is damaged."""
        names = tuple(COLUMNS)
        with self._reading():
            found = self._db.execute(f"SELECT {self._selected()} FROM results ORDER BY rowid").fetchall()
        found.sort(key=itemgetter(*map(names.index, ORDER)))
        return [dict(zip(names, row, strict=True)) for row in found]

    def table(self, most: int | None = None) -> Table:
        """The same rows as columns, in the same order; ValueError where there are more than `most`.

        A row as such is read from the file when it is taken out.
        """
        with self._reading():
            (count,) = self._db.execute("SELECT count(*) FROM results").fetchone()
            few = most is None or count <= most
            found = Table.read(self._db, partial(rows_at, self.path), self._there()) if few else None
        if found is None:
            raise ValueError(f"{str(self.path)!r} has more than {most:,} rows; give a smaller store.")
        keys = [found.names[name].ordered() if name in found.names else found.numbers[name] for name in ORDER]
        return found.take(np.argsort(alike(*keys), kind="stable"))

    def rows_at(self, places: Sequence[int]) -> list[dict[str, Any]]:
        """Rows by their numbers in the file; ValueError where one was replaced meanwhile."""
        with self._reading():
            selected = self._selected()
            found = [
                self._db.execute(f"SELECT {selected} FROM results WHERE rowid = ?", (int(place),)).fetchone()
                for place in places
            ]
        if None in found:
            raise ValueError(f"Rows of {str(self.path)!r} were replaced while they were shown; open it again.")
        return [dict(zip(COLUMNS, row, strict=True)) for row in found]

    def keys(self, with_errors: bool = True) -> set[str]:
        """Keys of all rows. with_errors: False leaves out rows with an error, which can be run again."""
        where = "" if with_errors else " WHERE status != 'error'"
        with self._reading():
            return {key for (key,) in self._db.execute(f"SELECT key FROM results{where}")}

    def mark(self) -> object:
        """Something that changes when rows are added or replaced, and not when the sweep only says where it stands."""
        with self._reading():
            last = self._db.execute("SELECT rowid, key, finished FROM results ORDER BY rowid DESC LIMIT 1").fetchone()
            return self._db.execute(
                "SELECT count(*) FROM results"
            ).fetchone(), last  # a row that is replaced becomes the last

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        """What fails inside is a ValueError of one sentence."""
        try:
            yield
        except (sqlite3.Error, ValueError, OverflowError, OSError) as error:
            why = " ".join(str(error).split())[:60]
            raise ValueError(
                f"{str(self.path)!r} cannot be read ({why}): it is damaged, in use, or not a store of LLC Lab; give another file."
            ) from None

    # -- progress -----------------------------------------------------------------------------------------------------

    def report(self, spec: Mapping[str, Any], state: str, **numbers: Any) -> None:
        """Say where the sweep stands: done, total, errors (rows), running (units), seconds_left."""
        row = {
            "spec": json.dumps(dict(spec)),
            "state": state,
            "updated": datetime.now(UTC).isoformat(timespec="seconds"),
            **dict.fromkeys(("done", "total", "errors", "running", "seconds_left")),
            **numbers,
        }
        with self._recording():
            self._db.execute(
                f"INSERT OR REPLACE INTO progress (id, {', '.join(row)}) VALUES (1, {', '.join(':' + n for n in row)})",
                row,
            )

    def progress(self) -> dict[str, Any] | None:
        """The last report: spec, state ("running", "stopped", "finished"), done, total, errors, running, seconds_left,
        updated (ISO time, UTC); None before the first."""
        with self._reading():
            row = self._db.execute(f"SELECT {', '.join(SAID)} FROM progress LIMIT 1").fetchone()
            if row is None:
                return None
            found = dict(zip(SAID, row, strict=True))
            return {**found, "spec": json.loads(found["spec"])}


def results(path: str | Path) -> list[dict[str, Any]]:
    """The rows of the store at `path`."""
    with Store(path, readonly=True) as store:
        return store.rows()


def table(path: str | Path) -> Table:
    """The same as columns, for stores of a million rows: `curves`, `select` and whoever goes through rows take it as well."""
    with Store(path, readonly=True) as store:
        return store.table()


def rows_at(path: Path, places: np.ndarray) -> list[Row]:
    """Some rows of the store at `path`, by their numbers in the file."""
    with Store(path, readonly=True) as store:
        return list(store.rows_at(places.tolist()))
