"""The tables of a store's file."""

from __future__ import annotations

import sqlite3

SCHEMA_VERSION = 1
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
    "llc_printed": "REAL",
    "global_llc": "REAL",
    "local_llc": "REAL",
    "expected_llc": "REAL",
    "r_hat": "REAL",
    "ess": "REAL",
    "stable_step": "REAL",
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
llc: λ̂ with the baseline on the same batch; llc_printed: from the same chains with the loss at w0 on one minibatch only,
as printed in Hitchcock & Hoogland eq. 3.8.  expected_llc: the local coefficient with its finite-n correction.
stable_step: largest stable step size found along the run.  seconds: of the unit, divided by its rows.
"""
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
