"""Rows as columns: the same rows, the same numbers to the last bit, whoever reads the file and whatever is in it."""

from __future__ import annotations

import shutil
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
import row_by_row
from hostile_stores import HOSTILE, changed, one_sentence
from old_files import OLD
from synthetic_store import failed_row, synthetic_rows, write_store

from llc_core.sweeps import scan
from llc_core.sweeps.series import ESTIMATORS, TRUTHS, curves, present, select
from llc_core.sweeps.store import Store, results, table
from llc_core.sweeps.table import Table

KEPT = [*sorted((Path(__file__).resolve().parents[3] / "lab/results").glob("*.sqlite")), OLD / "store.sqlite"]
ROWS = [*synthetic_rows(6, classes=("1K", "10K")), failed_row()]


@pytest.fixture(params=["objects", "library"])
def reader(request, monkeypatch):
    """Both ways to read a file."""
    if request.param == "library":
        pytest.importorskip("adbc_driver_sqlite")
        pytest.importorskip("pyarrow")
        monkeypatch.setattr(scan, "LARGE", 1)
        monkeypatch.setattr(scan, "SLICE", 1000)
        monkeypatch.setattr(scan, "row_by_row", lambda *a: pytest.fail("the library did not read it"))
    else:
        monkeypatch.setattr(scan, "at_once", lambda *a: None)
    return request.param


CURVES = {}
"""Of each kept store, its rows and their curves by the plain way, made once for both readers, whose rows must be equal."""


def same(one, other):
    """Whether curves are equal to the last bit."""
    assert [c.key for c in one] == [c.key for c in other]
    for a, b in zip(one, other, strict=True):
        for name, value in vars(a).items():
            if not isinstance(value, str):
                assert np.array_equal(value, getattr(b, name), equal_nan=True), (a.key, name)


@pytest.mark.long
@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_a_kept_store_has_the_same_rows_and_series(path, reader, tmp_path):
    shutil.copy(path, tmp_path / "a.sqlite")
    rows, columns = results(tmp_path / "a.sqlite"), table(tmp_path / "a.sqlite")
    assert len(columns) == len(rows) and list(columns) == rows and columns[-1] == rows[-1]
    assert list(columns[3:7]) == rows[3:7]
    if path not in CURVES:
        kinds = [(estimator, truth) for estimator in ESTIMATORS for truth in TRUTHS]
        CURVES[path] = rows, {kind: row_by_row.curves(rows, *kind) for kind in kinds}
        for kind, wanted in CURVES[path][1].items():
            same(curves(rows, *kind), wanted)
    assert rows == CURVES[path][0], "equal rows have equal curves"
    for kind, wanted in CURVES[path][1].items():
        same(curves(columns, *kind), wanted)


def test_several_sweeps_failures_and_missing_numbers_count_as_they_did(reader, tmp_path):
    """Longer runs replace shorter ones, of equal ones the one with more chains and then the later; wild numbers are none."""
    random = np.random.default_rng(0)
    rows = [failed_row()]
    for i, row in enumerate(ROWS[:-1] + ROWS[:600] + ROWS[:900:2]):
        more = {"steps": int(random.choice([100, 2000])), "chains": int(random.choice([2, 4])), "key": f"k{i}"}
        late = {"finished": f"2026-11-{random.integers(10, 13)}T12:00:00"}
        wild = {"llc": [None, float("inf"), 1e30, row["llc"]][random.integers(4)]} if i % 5 == 0 else {}
        rows.append({**row, **more, **late, **wild})
    path = write_store(tmp_path / "a.sqlite", rows)
    stored = results(path)
    for estimator in ESTIMATORS:
        same(curves(table(path), estimator), row_by_row.curves(stored, estimator))
        same(curves(stored, estimator), row_by_row.curves(stored, estimator))


def test_what_is_chosen_of_a_table_is_what_is_chosen_of_its_rows(tmp_path):
    path = write_store(tmp_path / "a.sqlite", ROWS)
    rows, columns = results(path), table(path)
    for wanted in ({"sampler": "HMC"}, {"gradient": ["full", "minibatch"], "ranks": "paper"}, {"sampler": "none"}, {}):
        assert list(select(columns, **wanted)) == select(rows, **wanted)
    for name in ("sampler", "ranks", "size_class", "gradient"):
        assert present(columns, name, ("HMC",)) == present(rows, name, ("HMC",))
    assert Table.of(columns) is columns and curves([]) == curves(Table.of([])) == []


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_store_is_one_sentence_as_columns_too(tmp_path, name, monkeypatch):
    monkeypatch.setattr(scan, "LARGE", 1)
    path = tmp_path / "a.sqlite"
    HOSTILE[name](path)
    with pytest.raises(ValueError, match="store") as error, Store(path, readonly=True) as store:
        store.table()
        store.progress()
    assert one_sentence(error.value, path)


def test_what_the_library_cannot_type_is_read_row_by_row(tmp_path, monkeypatch):
    """A file that somebody else wrote: texts among its numbers are none, as ever."""
    monkeypatch.setattr(scan, "LARGE", 1)
    path = tmp_path / "a.sqlite"
    changed("UPDATE results SET llc = 'much', dim = x'00' WHERE rowid = 2", rows=ROWS[:9])(path)
    found = table(path)
    assert len(found) == 9 and np.isnan(found.numbers["llc"]).sum() >= 1 and np.isnan(found.numbers["dim"]).sum() == 1


def test_the_library_s_types_are_those_of_all_rows(tmp_path, reader):
    """A column that begins with nothing, or with whole numbers, is one of numbers all the same."""
    rows = [{**row, "key": str(i), "llc": None, "stable_step": None, "seconds": 1} for i, row in enumerate(ROWS[:1500])]
    rows += [{**row, "key": f"more {i}"} for i, row in enumerate(ROWS[:1500])]
    path = write_store(tmp_path / "a.sqlite", rows)
    same(curves(table(path)), row_by_row.curves(results(path)))


def test_a_slice_during_which_rows_were_recorded_is_read_again(tmp_path, monkeypatch):
    adbc = pytest.importorskip("adbc_driver_sqlite.dbapi")
    monkeypatch.setattr(scan, "LARGE", 1)
    path = write_store(tmp_path / "a.sqlite", ROWS)
    plain, read, guard = adbc.connect, [], threading.Lock()

    def connect(address):
        with guard:
            read.append(address)
            if len(read) == 1:
                with closing(sqlite3.connect(path)) as db, db:
                    db.execute("UPDATE results SET seconds = 7.0")
        return plain(address)

    monkeypatch.setattr(adbc, "connect", connect)
    assert set(table(path).numbers["seconds"]) == {7.0} and len(read) == 2


def test_rows_that_were_replaced_since_are_one_sentence(tmp_path):
    path = write_store(tmp_path / "a.sqlite", ROWS[:5])
    found = table(path)
    write_store(path, ROWS[:2])
    with pytest.raises(ValueError, match="were replaced while they were shown; open it again") as error:
        list(found)
    assert one_sentence(error.value, path)
    with (
        pytest.raises(ValueError, match="has more than 3 rows; give a smaller store"),
        Store(path, readonly=True) as store,
    ):
        store.table(3)
