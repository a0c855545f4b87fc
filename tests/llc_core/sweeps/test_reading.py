"""Files that are no stores are one sentence, whoever reads or writes them."""

from __future__ import annotations

import pytest
from damaged_stores import DAMAGED, NO_SWEEP, ROWS, one_sentence
from synthetic_store import write_store

from llc_core.cli.commands import main
from llc_core.sweeps.store import Store, results


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_store_is_one_sentence(tmp_path, name):
    path = tmp_path / "a.sqlite"
    DAMAGED[name](path)
    with pytest.raises(ValueError, match="store") as error, Store(path, readonly=True) as store:
        store.mark()
        store.table()
        store.progress()
    assert one_sentence(error.value, path)


@pytest.mark.parametrize("name", NO_SWEEP)
def test_no_sweep_writes_to_what_is_no_store(tmp_path, name):
    path = tmp_path / "a.sqlite"
    DAMAGED[name](path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="is not a store of LLC Lab; give a file"):
        Store(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", ["no rows", "text that is none"])
def test_the_command_line_says_so_too(tmp_path, capsys, name):
    path = tmp_path / "a.sqlite"
    DAMAGED[name](path)
    with pytest.raises(SystemExit) as ended:
        main(["export", str(path), "--out", str(tmp_path / "a.csv")])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "store" in said and "Traceback" not in said and said.count("\n") == 1
    assert not (tmp_path / "a.csv").exists()


def test_rows_come_in_the_order_of_what_was_run(tmp_path):
    path = write_store(tmp_path / "a.sqlite", ROWS[::-1])
    assert [row["key"] for row in results(path)] == [row["key"] for row in ROWS]
