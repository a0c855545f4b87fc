"""Files that say they are stores and would hang their reader, fill its memory or show it a traceback."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from synthetic_store import synthetic_rows, write_store

from llc_core.sweeps.store import COLUMNS, SAID

ROWS = synthetic_rows(3, ["SGLD"], ["full"], 2, ranks=["equal"])
ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
HUGE = "printf('%.*c', 900000000, 'x')"
LONG = "printf('%.*c', 3000000, 'x')"
"""Where the value is made already when the file is."""


def changed(*commands: str, rows: list | None = None) -> Callable[[Path], None]:
    """A store that was good until these commands."""

    def make(path: Path) -> None:
        write_store(path, ROWS if rows is None else rows, state="running", done=1, total=2)
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            for command in commands:
                db.execute(command)

    return make


def _view(name: str, columns: tuple[str, ...], body: str) -> Callable[[Path], None]:
    values = ", ".join(body if column in ("spec", "config") else "1" for column in columns)
    return changed(f"DROP TABLE {name}", f"CREATE VIEW {name} ({', '.join(columns)}) AS SELECT {values}")


def _generated(name: str, columns: tuple[str, ...], which: str, value: str) -> Callable[[Path], None]:
    stored = [column for column in columns if column != which]
    return changed(
        f"DROP TABLE {name}",
        f"CREATE TABLE {name} ({', '.join(stored)}, {which} TEXT AS ({value}))",
        f"INSERT INTO {name} ({', '.join(stored)}) VALUES ({', '.join('1' for _ in stored)})",
    )


def _progress(columns: str) -> Callable[[Path], None]:
    return changed(
        "DROP TABLE progress", f"CREATE TABLE progress ({columns})", "INSERT INTO progress (done) VALUES (1)"
    )


def _spec(value: str) -> Callable[[Path], None]:
    return changed(f"UPDATE progress SET spec = {value}")


def _cut(path: Path) -> None:
    changed()(path)
    path.write_bytes(path.read_bytes()[:5000])


def _pages_that_count_many_times(path: Path) -> None:
    """One row of 900 kB in the first page of rows, and every other page of rows replaced by that one."""
    long = {**ROWS[0], "config": "x" * 900_000}
    changed(rows=[long, *({**ROWS[1], "key": f"row{i}"} for i in range(400))])(path)
    with closing(sqlite3.connect(path)) as db:
        (root,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'results'").fetchone()
        (size,) = db.execute("PRAGMA page_size").fetchone()
    content = bytearray(path.read_bytes())
    start = (root - 1) * size
    assert content[start] == 5, "a page that lists pages"
    cells = [
        start + int.from_bytes(content[start + 12 + 2 * i : start + 14 + 2 * i], "big")
        for i in range(int.from_bytes(content[start + 3 : start + 5], "big"))
    ]
    for place in (*cells, start + 8):
        content[place : place + 4] = content[cells[0] : cells[0] + 4]
    path.write_bytes(content)


_SAID = ("id", *SAID)
_DEEP = 50_000
HOSTILE: dict[str, Callable[[Path], None]] = {
    "progress that never ends": _view("progress", _SAID, f"({ENDLESS})"),
    "results that never end": _view("results", tuple(COLUMNS), f"({ENDLESS})"),
    "progress of a gigabyte": _view("progress", _SAID, HUGE),
    "generated progress": _generated("progress", _SAID, "spec", LONG),
    "generated results": _generated("results", tuple(COLUMNS), "config", LONG),
    "spec of megabytes": _spec("printf('{\"a\": \"%.*c\"}', 3000000, 'x')"),
    "zeros of megabytes": changed("UPDATE results SET config = zeroblob(3000000)"),
    "other columns": _progress("id, done, text"),
    "no id": _progress(", ".join(SAID)),
    "spec NULL": _spec("NULL"),
    "spec a list": _spec("'[]'"),
    "spec of bytes": _spec("x'ff00ff'"),
    "spec a number without end": _spec(f"'{'9' * 9000}'"),
    "deep list": _spec(f"'{'[' * _DEEP}{']' * _DEEP}'"),
    "deep settings": _spec(f"""'{'{"a":' * _DEEP}1{"}" * _DEEP}'"""),
    "trigger": changed("CREATE TRIGGER t AFTER INSERT ON results BEGIN DELETE FROM results; END"),
    "further table": changed("CREATE TABLE more (x)"),
    "module": changed(
        "PRAGMA writable_schema = ON",
        "INSERT INTO sqlite_master VALUES ('table', 'm', 'm', 0, 'CREATE VIRTUAL TABLE m USING none')",
    ),
    "thousands of tables": changed("BEGIN", *(f"CREATE TABLE t{i} (x)" for i in range(4000)), "COMMIT"),
    "numbers as names": changed("UPDATE results SET sampler = x'53' WHERE rowid = 1"),
    "text that is none": changed("UPDATE results SET sampler = CAST(x'ff0aff' AS TEXT)"),
    "pages that count many times": _pages_that_count_many_times,
    "cut": _cut,
    "no data base": lambda path: path.write_bytes(b"no data base" * 1000),
    "empty": lambda path: path.write_bytes(b""),
}
"""Name → what writes such a file to a path."""
NO_SWEEP = ("other columns", "no id", "trigger", "further table", "module", "generated results", "no data base", "cut")
"""Those to which no sweep may write either."""


def one_sentence(error: BaseException, path: Path | None = None) -> bool:
    """path: of the file, which the sentence may name."""
    text = str(error)
    shown = text if path is None else text.replace(str(path), "")
    return text.endswith(".") and "\n" not in text and len(shown) < 300 and "/tmp" not in shown
