"""Rows as columns: the same rows, the same numbers to the last bit."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import row_by_row
from damaged_stores import one_sentence
from old_files import OLD
from synthetic_store import failed_row, synthetic_rows, write_store

from llc_core.sweeps.series import ESTIMATORS, TRUTHS, curves, present, select
from llc_core.sweeps.store import Store, results, table
from llc_core.sweeps.table import Table, finite_or_nan

KEPT = [*sorted((Path(__file__).resolve().parents[3] / "lab/results").glob("*.sqlite")), OLD / "store.sqlite"]
ROWS = [*synthetic_rows(6, classes=("1K", "10K")), failed_row()]


def same(one, other):
    """Whether curves are equal to the last bit."""
    assert [c.key for c in one] == [c.key for c in other]
    for a, b in zip(one, other, strict=True):
        for name, value in vars(a).items():
            if not isinstance(value, str):
                assert np.array_equal(value, getattr(b, name), equal_nan=True), (a.key, name)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_a_kept_store_has_the_same_rows_and_series(path, tmp_path):
    shutil.copy(path, tmp_path / "a.sqlite")
    rows, columns = results(tmp_path / "a.sqlite"), table(tmp_path / "a.sqlite")
    assert len(columns) == len(rows) and list(columns) == rows and columns[-1] == rows[-1]
    assert list(columns[3:7]) == rows[3:7]
    for kind in ((estimator, truth) for estimator in ESTIMATORS for truth in TRUTHS):
        wanted = row_by_row.curves(rows, *kind)
        same(curves(rows, *kind), wanted)
        same(curves(columns, *kind), wanted)


@pytest.mark.slow
def test_several_sweeps_failures_and_missing_numbers_count_as_they_did(tmp_path):
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


def test_a_column_that_begins_with_nothing_or_whole_numbers_is_one_of_numbers(tmp_path):
    rows = [{**row, "key": str(i), "llc": None, "stable_step": None, "seconds": 1} for i, row in enumerate(ROWS[:1500])]
    rows += [{**row, "key": f"more {i}"} for i, row in enumerate(ROWS[:1500])]
    path = write_store(tmp_path / "a.sqlite", rows)
    same(curves(table(path)), row_by_row.curves(results(path)))


def test_what_a_row_shares_with_the_one_before_it_is_its_own_where_rows_are_gone(tmp_path):
    """Rows that were replaced leave gaps in the numbers of a file, and neighbours that agree in some columns only."""
    random = np.random.default_rng(1)
    rows = [{**ROWS[i], "key": f"k{i}", "expected_llc": random.choice([None, 7.0])} for i in random.permutation(300)]
    path = write_store(tmp_path / "a.sqlite", rows)
    write_store(path, [{**row, "seconds": 3} for row in rows[:200:3]])
    found, stored = table(path), results(path)
    for name, column in found.numbers.items():
        assert np.array_equal(column, [finite_or_nan(row[name]) for row in stored], equal_nan=True), name
    for name, column in found.names.items():
        assert [column.values[code] for code in column.codes] == [row[name] for row in stored], name


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
