"""Tables of numbers: CSV text read without trust, the tabular sets that come with scikit-learn, and inputs of the regression sets
of the UCI repository, read from the files in which they are published: none of them ships here."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from llc_core.extras import needs
from llc_core.fields import choice, one_line, short

LARGEST, MOST_ROWS, MOST_COLUMNS = 8_000_000, 100_000, 256
"""Characters, rows and columns of a table, at most."""
LARGEST_FILE = 20_000_000
"""Bytes of a file of the UCI repository."""
BOUND = 1e12
TABULAR = ("wine", "diabetes", "breast_cancer", "iris", "linnerud", "digits", "friedman1")
"""Sets of scikit-learn whose inputs are tables of numbers; none of them needs the network."""
SHOWN = {"wine": "wine (scikit-learn's cultivars)"}
"""What a reader sees for names of TABULAR that are taken for another set: these are not the wine quality of the UCI repository."""
SEPARATORS = ",;\t"
SHEETS = (".xls", ".xlsx")
MOST_LINES = 1_048_576
"""Rows of a sheet of Excel, with those that have no entry."""


@dataclass(frozen=True)
class Table:
    """columns: names, made up where the text has none.  values: [n, d]."""

    name: str
    columns: tuple[str, ...]
    values: np.ndarray

    def __len__(self) -> int:
        return len(self.values)

    @property
    def standardised(self) -> np.ndarray:
        """[n, d'] with mean 0 and variance 1 in each column; columns that are constant are left out."""
        spread = self.values.std(axis=0)
        varies = spread > 1e-9 * np.maximum(1.0, np.abs(self.values).max(axis=0))
        if not varies.any():
            raise ValueError(f"{self.name} has no column that varies; give a table with inputs.")
        return (self.values[:, varies] - self.values[:, varies].mean(axis=0)) / spread[varies]


def read_table(text: str, name: str = "The table") -> Table:
    """Numbers in CSV, with a header or without, separated by commas, semicolons, tabs or spaces.

    Rows without an entry are passed over, and so are such columns at the end.

    name: what the sentence of an error calls it.  Raises ValueError, one sentence, with row and column of what is no number.
    """
    name = one_line(name)
    if len(text) > LARGEST:
        raise ValueError(f"{name} has {len(text):,} characters; at most {LARGEST:,} are read.")
    if "\0" in text:
        raise ValueError(f"{name} is no text; save it as CSV.")
    lines = text.lstrip("\ufeff").splitlines()
    first = next((line for line in lines if line.strip().strip(SEPARATORS + '" ')), "")
    separator = max(SEPARATORS, key=first.count)
    try:
        if separator not in first and len(first.split()) > 1:  # columns of a fixed width
            rows = [line.split() for line in lines]
        else:
            rows = list(csv.reader(lines, delimiter=separator))
    except csv.Error as error:
        raise ValueError(f"{name} is no CSV ({one_line(str(error))}); give rows of numbers.") from None
    return _table(rows, name)


def _table(cells: Sequence[Sequence[str]], name: str) -> Table:
    """Of rows of cells, with a header or without. Rows without an entry, and such columns at the end, are passed over."""
    filled = [(at, row) for at, row in enumerate(cells, 1) if any(cell.strip() for cell in row)]
    if not filled:
        raise ValueError(f"{name} is empty; give rows of numbers.")
    width = max(k + 1 for _, row in filled for k, cell in enumerate(row) if cell.strip())
    rows = [(at, row[:width]) for at, row in filled]
    has_header = all(_number(cell) is None for cell in rows[0][1])
    names = rows.pop(0)[1] if has_header else [f"column {k + 1}" for k in range(len(rows[0][1]))]
    if not rows:
        raise ValueError(f"{name} has a header and no rows; give rows of numbers.")
    if len(rows) > MOST_ROWS or len(names) > MOST_COLUMNS:
        raise ValueError(
            f"{name} has {len(rows):,} rows of {len(names)}; at most {MOST_ROWS:,} of {MOST_COLUMNS} are read."
        )
    values = np.empty((len(rows), len(names)))
    for into, (at, row) in zip(values, rows, strict=True):
        where = f"row {at}"
        if len(row) != len(names):
            raise ValueError(f"{name} has {len(row)} entries in {where} and {len(names)} in the first; give as many.")
        for k, cell in enumerate(row):
            found = _number(cell)
            if found is None:
                raise ValueError(
                    f"{name} has {short(cell)} in {where}, {one_line(names[k])}; every entry must be a number within ±1e12."
                )
            into[k] = found
    return Table(name, tuple(one_line(each.strip()) for each in names), values)


def _sheet(path: Path) -> list[list[str]]:
    """Cells of the first sheet of a workbook of Excel as text, "" without an entry; of formulas, the values kept with them.

    Raises MissingExtra where openpyxl (.xlsx) or xlrd (.xls) is missing, and ValueError for a file that is no workbook.
    """
    with needs(f"Reading {path}", extra="networks"):
        if path.suffix == ".xls":
            import xlrd
        else:
            import openpyxl
    try:
        if path.suffix == ".xls":
            sheet = xlrd.open_workbook(path, logfile=StringIO()).sheet_by_index(0)
            plain = (xlrd.XL_CELL_EMPTY, xlrd.XL_CELL_BLANK, xlrd.XL_CELL_TEXT, xlrd.XL_CELL_NUMBER)
            # a date, an error or a truth is a number too as it lies there; their words are none
            return [[str(cell.value if cell.ctype in plain else cell) for cell in row] for row in sheet.get_rows()]
        with closing(openpyxl.load_workbook(path, read_only=True, data_only=True)) as book:
            sheet = book.worksheets[0]
            sheet.reset_dimensions()  # some programs write a wrong size into the file
            rows = islice(sheet.iter_rows(values_only=True), MOST_LINES)
            return [["" if value is None else str(value) for value in row] for row in rows]
    except Exception as error:  # of many kinds, for a file that is broken
        said = one_line(str(error) or type(error).__name__)
        raise ValueError(f"{path} is no workbook of Excel ({short(said)}); download it again.") from None


def tabular(name: str) -> Table:
    """Inputs of a set in `TABULAR`: of wine, diabetes, … as they lie inside scikit-learn; friedman1 is drawn by it (seed 0).

    Its wine are three cultivars, 178 rows, and not the wine quality of the UCI repository, which `uci` reads.

    Targets are left out. Source: see scikit-learn's page of toy datasets.
    """
    choice("name", name, TABULAR)
    with needs("tabular()", extra="networks"):
        from sklearn import datasets
    if name == "friedman1":
        inputs = datasets.make_friedman1(250, random_state=0)[0]
        return Table(name, tuple(f"x{k + 1}" for k in range(inputs.shape[1])), inputs)
    make: Callable[..., Any] = getattr(datasets, f"load_{name}")
    found = make(scaled=False) if name == "diabetes" else make()
    return Table(name, tuple(map(str, found.feature_names)), np.asarray(found.data, dtype=float))


def _number(cell: str) -> float | None:
    """Of a cell; None for what is no number or out of bounds. float() takes digits of all scripts and underscores: fine."""
    try:
        found = float(cell)
    except ValueError:
        return None
    return found if math.isfinite(found) and abs(found) <= BOUND else None


@dataclass(frozen=True)
class Published:
    """file: its name.  columns: of the file, of which the last `targets` are no inputs.  rows: as published."""

    file: str
    columns: int
    targets: int
    rows: int

    def path(self, folder: str | Path) -> Path:
        """Where it is looked for; of a sheet of Excel a copy saved as CSV beside it goes first."""
        published = Path(folder) / self.file
        saved = published.with_suffix(".csv")
        return saved if published.suffix in SHEETS and saved.is_file() else published


UCI = {
    "boston": Published("housing.data", 14, 1, 506),
    "concrete": Published("Concrete_Data.xls", 9, 1, 1030),
    "energy": Published("ENB2012_data.xlsx", 10, 2, 768),
    "kin8nm": Published("kin8nm.csv", 9, 1, 8192),
    "naval": Published("data.txt", 18, 2, 11934),
    "power plant": Published("Folds5x2_pp.xlsx", 5, 1, 9568),
    "wine quality": Published("winequality-red.csv", 12, 1, 1599),
    "yacht": Published("yacht_hydrodynamics.data", 7, 1, 308),
}
"""By the names that papers use. scikit-learn's "wine" is another set: three cultivars, 178 rows of 13 columns."""


def uci(name: str, folder: str | Path) -> Table:
    """Inputs of a set in `UCI` from its published file in a folder; targets are left out. Of a workbook the first sheet is read.

    Raises ValueError, one sentence, where the file is not there, is too large or broken, or has not the published number of columns
    or rows; and MissingExtra, which is one too, where the library for its sheets is missing.
    Source: the files as the UCI repository has them; sheets are read with openpyxl and xlrd.
    """
    published = UCI[choice("name", name, tuple(UCI))]
    path = published.path(folder)
    if not path.is_file():
        raise ValueError(f"{path} is not there; download it there.")
    if path.stat().st_size > LARGEST_FILE:
        raise ValueError(
            f"{path} has {path.stat().st_size:,} bytes; the published file has less than {LARGEST_FILE:,}."
        )
    if path.suffix in SHEETS:
        found = _table(_sheet(path), path.name)
    else:
        found = read_table(path.read_text(encoding="utf-8", errors="replace"), path.name)
    if found.values.shape != (published.rows, published.columns):
        raise ValueError(
            f"{path} has {len(found):,} rows of {found.values.shape[1]}; the published {name} has {published.rows:,} of "
            f"{published.columns}."
        )
    kept = published.columns - published.targets
    return Table(name, found.columns[:kept], found.values[:, :kept])
