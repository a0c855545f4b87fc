"""Tables of numbers: what is read, and that a bad file gets one sentence."""

from __future__ import annotations

import struct
import sys

import numpy as np
import pytest

from llc_core.extras import MissingExtra
from llc_core.networks.data import tables
from llc_core.networks.data.tables import TABULAR, UCI, Table, read_table, tabular, uci


def test_header_separator_and_byte_order_mark_are_found():
    for text in (
        " a   b\n 1   2 \n 3  4e0\n",
        "a,b\n1,2\n3,4\n",
        "\ufeffa;b\r\n1;2\r\n\r\n3;4",
        "a\tb\n1\t2\n3\t4",
        '"a","b"\n"1","2"\n3,4',
    ):
        found = read_table(text)
        assert found.columns == ("a", "b") and found.values.tolist() == [[1, 2], [3, 4]]
    assert read_table("1\n2\n").columns == ("column 1",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("a,b\n", "a header and no rows"),
        ("a,b\n1,x\n", r"has 'x' in row 2, b; every entry must be a number"),
        ("1,2\n3\n", "has 1 entries in row 2"),
        ("1,nan\n", "'nan' in row 1"),
        ("1,1e300\n", "'1e300' in row 1"),
        ("PK\x03\x04\0\0", "is no text"),
        (",,,\n\n", "is empty"),
        (",".join(["1"] * 300), "at most 100,000 of 256"),
        ('"' + "1" * 200_000 + '"', "is no CSV"),
        ("=1+1,2\n", "'=1"),
    ],
)
def test_a_bad_file_is_one_sentence(text, said):
    with pytest.raises(ValueError, match=said) as error:
        read_table(text, "mine.csv")
    assert "\n" not in str(error.value) and str(error.value).startswith("mine.csv")


def test_what_is_too_long_is_not_parsed(monkeypatch):
    monkeypatch.setattr(tables, "LARGEST", 5)
    with pytest.raises(ValueError, match="has 6 characters"):
        read_table("1\n2\n3\n")


def test_columns_that_are_constant_are_left_out():
    values = np.array([[1.0, 5.0, 1e9], [3.0, 5.0, 1e9 + 1e-7]])
    assert Table("t", ("a", "b", "c"), values).standardised.tolist() == [[-1.0], [1.0]]


HEADINGS = {
    "concrete": [
        "Cement (component 1)(kg in a m^3 mixture)", "Blast Furnace Slag (component 2)(kg in a m^3 mixture)",
        "Fly Ash (component 3)(kg in a m^3 mixture)", "Water  (component 4)(kg in a m^3 mixture)",
        "Superplasticizer (component 5)(kg in a m^3 mixture)", "Coarse Aggregate  (component 6)(kg in a m^3 mixture)",
        "Fine Aggregate (component 7)(kg in a m^3 mixture)", "Age (day)", "Concrete compressive strength(MPa, megapascals) ",
    ],
    "energy": ["X1", "X2", "X3", "X4", "X5", "X6", "X7", "X8", "Y1", "Y2"],
    "power plant": ["AT", "V", "AP", "RH", "PE"],
}  # fmt: skip
"""First rows of the published sheets."""
LIBRARIES = {".xls": "xlrd", ".xlsx": "openpyxl"}


def save(path, rows, later=0):
    """A workbook of one sheet, and of `later` others with one number each; entries that are None are left out."""
    pytest.importorskip(LIBRARIES[path.suffix])
    if path.suffix == ".xls":
        path.write_bytes(old_sheet(rows))
        return
    import openpyxl

    book = openpyxl.Workbook(write_only=True)
    for sheet in [rows, *[[[1]]] * later]:
        page = book.create_sheet()
        for row in sheet:
            page.append(row)
    book.save(path)


def old_sheet(rows):
    """In the first format of Excel (BIFF2): records of a kind, a length and a body."""

    def record(kind, body=b""):
        return struct.pack("<HH", kind, len(body)) + body

    found = [record(0x0009, struct.pack("<HH", 2, 0x10))]  # BOF, of a sheet
    for i, row in enumerate(rows):
        for k, cell in enumerate(row):
            place = struct.pack("<HH3x", i, k)
            if isinstance(cell, str):
                found.append(record(0x0004, place + bytes([len(cell)]) + cell.encode("ascii")))  # LABEL
            elif isinstance(cell, bool):
                found.append(record(0x0005, place + bytes([cell, 0])))  # BOOLERR
            elif cell is not None:
                found.append(record(0x0003, place + struct.pack("<d", cell)))  # NUMBER
    return b"".join([*found, record(0x000A)])  # EOF


def written(folder, name, **changed):
    """A file in the published format of a set, with made numbers; as many rows and columns as published, or others."""
    published = UCI[name]
    rows, columns = changed.get("rows", published.rows), changed.get("columns", published.columns)
    values = np.random.default_rng(0).normal(size=(rows, columns)).round(4)
    path = folder / published.file
    if path.suffix in tables.SHEETS:
        save(path, [HEADINGS[name], *values.tolist()], later=4 * (name == "power plant"))
        return values
    blank, header = path.suffix in (".data", ".txt"), name == "wine quality"
    separator = "   " if blank else ";" if name == "wine quality" else ","
    lines = ["  " * blank + separator.join(map(repr, row)) for row in values.tolist()]
    named = [separator.join(f'"c{k}"' for k in range(columns))] if header else []
    path.write_text("\n".join([*named, *lines]) + "\n")
    return values


@pytest.mark.parametrize("name", UCI)
def test_published_files_are_read_without_their_targets(name, tmp_path):
    values = written(tmp_path, name)
    found = uci(name, tmp_path)
    assert found.name == name and len(found.columns) == found.values.shape[1]
    assert found.values.tolist() == values[:, : -UCI[name].targets].tolist()
    if name in HEADINGS:
        assert list(found.columns) == [" ".join(each.split()) for each in HEADINGS[name][: -UCI[name].targets]]


def test_another_file_of_that_name_and_none_are_one_sentence(tmp_path):
    with pytest.raises(ValueError, match=r"housing.data is not there; download it there\.$"):
        uci("boston", tmp_path)
    with pytest.raises(ValueError, match=r"ENB2012_data.xlsx is not there; download it there\.$"):
        uci("energy", tmp_path)
    written(tmp_path, "yacht", columns=6)
    with pytest.raises(ValueError, match=r"has 308 rows of 6; the published yacht has 308 of 7\.$"):
        uci("yacht", tmp_path)
    with pytest.raises(ValueError, match="name is 'wine'; choose one of boston, "):
        uci("wine", tmp_path)


def test_rows_without_an_entry_and_such_columns_at_the_end_are_passed_over():
    found = read_table(",,,,\na,b,,,\n1,2,,,\n\n,,,,\n3,4,,,\n ,,,,\n")
    assert found.columns == ("a", "b") and found.values.tolist() == [[1, 2], [3, 4]]
    for text, said in (("a,b\n,,\n1,2\n3,\n", "has '' in row 4, b"), ("a,b\n,2\n", "'' in row 2, a")):
        with pytest.raises(ValueError, match=said):
            read_table(text)


@pytest.mark.parametrize("name", HEADINGS)
def test_a_sheet_may_have_blank_rows_and_columns_and_no_gap(name, tmp_path):
    values = written(tmp_path, name).tolist()
    path = tmp_path / UCI[name].file
    blank: list[float | None] = [None] * len(HEADINGS[name])
    rows = [blank, HEADINGS[name], *values[:9], blank, *values[9:], *[[*blank, " ", None]] * 500]
    save(path, rows)
    assert uci(name, tmp_path).values.tolist() == [row[: -UCI[name].targets] for row in values]
    for column in (2, -1):
        gap = [*rows[4]]
        gap[column] = None
        save(path, [*rows[:4], gap, *rows[5:]])
        with pytest.raises(ValueError, match=rf"^{path.name} has .* in row 5"):
            uci(name, tmp_path)


@pytest.mark.parametrize("name", ["concrete", "energy"])
def test_what_is_no_number_in_a_sheet_is_refused(name, tmp_path):
    values = written(tmp_path, name).tolist()
    for entry in (True, "#N/A"):
        save(tmp_path / UCI[name].file, [HEADINGS[name], [entry, *values[0][1:]], *values[1:]])
        with pytest.raises(ValueError, match=r"in row 2, .*; every entry must be a number"):
            uci(name, tmp_path)
    (tmp_path / UCI[name].file).write_bytes(b"<html>not found</html>")
    with pytest.raises(ValueError, match=r"is no workbook of Excel \(.*\); download it again\.$") as error:
        uci(name, tmp_path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", HEADINGS)
def test_without_its_library_a_sheet_is_named_and_a_copy_in_csv_is_read(name, tmp_path, monkeypatch):
    path = tmp_path / UCI[name].file
    path.write_bytes(b"")
    monkeypatch.setitem(sys.modules, LIBRARIES[path.suffix], None)
    with pytest.raises(MissingExtra) as error:
        uci(name, tmp_path)
    needed = f'Reading {path} needs {LIBRARIES[path.suffix]}; install it with: pip install "llc-lab[networks]"'
    assert str(error.value) == needed
    values = np.random.default_rng(0).normal(size=(UCI[name].rows, UCI[name].columns)).round(4)
    np.savetxt(
        path.with_suffix(".csv"), values, delimiter=",", header=",".join(f"c{k}" for k in range(values.shape[1]))
    )
    assert uci(name, tmp_path).values.tolist() == values[:, : -UCI[name].targets].tolist()


@pytest.mark.parametrize("name", TABULAR)
def test_shipped_tables_are_numbers(name):
    pytest.importorskip("sklearn")
    found = tabular(name)
    assert len(found.columns) == found.values.shape[1] and np.isfinite(found.standardised).all()
