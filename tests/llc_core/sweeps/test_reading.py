"""Files of other people: what is no plain store is one sentence, whoever reads it, and costs neither time nor memory."""

from __future__ import annotations

import sqlite3

import pytest
from hostile_stores import ENDLESS, HOSTILE, NO_SWEEP, ROWS, changed, one_sentence
from synthetic_store import write_store

from llc_core.cli.commands import main
from llc_core.sweeps import reading
from llc_core.sweeps.store import Store, results


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_store_is_one_sentence(tmp_path, name):
    path = tmp_path / "a.sqlite"
    HOSTILE[name](path)
    with pytest.raises(ValueError, match="store") as error, Store(path, readonly=True) as store:
        store.mark()
        store.keys()
        store.rows()
        store.progress()
    assert one_sentence(error.value, path)


@pytest.mark.parametrize("name", NO_SWEEP)
def test_no_sweep_writes_to_a_hostile_store(tmp_path, name):
    path = tmp_path / "a.sqlite"
    HOSTILE[name](path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="is not a store of LLC Lab; give a file"):
        Store(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", ["results that never end", "pages that count many times", "text that is none"])
def test_the_command_line_says_so_too(tmp_path, capsys, name):
    path = tmp_path / "a.sqlite"
    HOSTILE[name](path)
    with pytest.raises(SystemExit) as ended:
        main(["export", str(path), "--out", str(tmp_path / "a.csv")])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "store" in said and "Traceback" not in said and said.count("\n") == 1
    assert not (tmp_path / "a.csv").exists()


def test_readers_have_limits_of_their_own(tmp_path):
    path = write_store(tmp_path / "a.sqlite", ROWS)
    db = reading.open_to_read(path)
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        db.execute(ENDLESS).fetchone()
    for code in ("DELETE FROM results", "ATTACH ':memory:' AS other", "SELECT zeroblob(2000000)"):
        with pytest.raises(sqlite3.Error):
            db.execute(code).fetchone()
    db.close()


def test_a_statement_that_takes_too_long_is_one_sentence(tmp_path, monkeypatch):
    path = write_store(tmp_path / "a.sqlite", [{**ROWS[0], "key": str(i)} for i in range(3000)])
    with Store(path, readonly=True) as store:
        assert len(store.rows()) == 3000
        monkeypatch.setattr(reading, "SECONDS", -1e9)
        with pytest.raises(ValueError, match="that takes too long") as error:
            store.rows()
    assert one_sentence(error.value, path)
    with Store(path) as store:
        assert len(store.rows()) == 3000, "a sweep waits for its own disk"


def test_rows_come_in_the_order_of_what_was_run(tmp_path):
    path = tmp_path / "a.sqlite"
    changed(rows=ROWS[::-1])(path)
    assert [row["key"] for row in results(path)] == [row["key"] for row in ROWS]
    with Store(path, readonly=True) as store, pytest.raises(ValueError, match="has more than 2 rows; give a smaller"):
        store.rows(2)


def test_a_description_that_no_reader_would_take_is_refused(tmp_path):
    with Store(tmp_path / "a.sqlite") as store:
        with pytest.raises(ValueError, match="The description of the sweep has .* characters"):
            store.report({"problems": list(range(100_000))}, "running")
        assert store.progress() is None
