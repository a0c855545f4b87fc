"""Tables of numbers: what is read, and that a bad file gets one sentence."""

from __future__ import annotations

import numpy as np
import pytest

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


def written(folder, name, **changed):
    """A file in the published format of a set, with made numbers; as many rows and columns as published, or others."""
    published = UCI[name]
    rows, columns = changed.get("rows", published.rows), changed.get("columns", published.columns)
    values = np.random.default_rng(0).normal(size=(rows, columns)).round(4)
    blank, header = published.file.endswith((".data", ".txt")), name in ("wine quality", "energy")
    separator = "   " if blank else ";" if name == "wine quality" else ","
    lines = ["  " * blank + separator.join(map(repr, row)) for row in values.tolist()]
    named = [separator.join(f'"c{k}"' for k in range(columns))] if header else []
    (folder / published.file).write_text("\n".join([*named, *lines]) + "\n")
    return values


@pytest.mark.parametrize("name", UCI)
def test_published_files_are_read_without_their_targets(name, tmp_path):
    values = written(tmp_path, name)
    found = uci(name, tmp_path)
    assert found.name == name and len(found.columns) == found.values.shape[1]
    assert found.values.tolist() == values[:, : -UCI[name].targets].tolist()


def test_another_file_of_that_name_and_none_are_one_sentence(tmp_path):
    with pytest.raises(ValueError, match=r"housing.data is not there; download it there\.$"):
        uci("boston", tmp_path)
    with pytest.raises(ValueError, match="save the repository's Excel sheet as CSV under this name"):
        uci("energy", tmp_path)
    written(tmp_path, "yacht", columns=6)
    with pytest.raises(ValueError, match=r"has 308 rows of 6; the published yacht has 308 of 7\.$"):
        uci("yacht", tmp_path)
    with pytest.raises(ValueError, match="name is 'wine'; choose one of boston, "):
        uci("wine", tmp_path)


@pytest.mark.parametrize("name", TABULAR)
def test_shipped_tables_are_numbers(name):
    pytest.importorskip("sklearn")
    found = tabular(name)
    assert len(found.columns) == found.values.shape[1] and np.isfinite(found.standardised).all()
