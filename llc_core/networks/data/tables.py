"""Tables of numbers: CSV text read without trust, the tabular sets that come with scikit-learn, and inputs of the regression sets
of the UCI repository, read from the files in which they are published: none of them ships here."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from dataclasses import dataclass
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
SEPARATORS = ",;\t"


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
    """Numbers in CSV, with a header or without, separated by commas, semicolons, tabs or spaces; empty lines are passed over.

    name: what the sentence of an error calls it.  Raises ValueError, one sentence, with row and column of what is no number.
    """
    name = one_line(name)
    if len(text) > LARGEST:
        raise ValueError(f"{name} has {len(text):,} characters; at most {LARGEST:,} are read.")
    if "\0" in text:
        raise ValueError(f"{name} is no text; save it as CSV.")
    lines = [line for line in text.lstrip("\ufeff").splitlines() if line.strip()]
    if not lines:
        raise ValueError(f"{name} is empty; give rows of numbers.")
    separator = max(SEPARATORS, key=lines[0].count)
    try:
        if separator not in lines[0] and len(lines[0].split()) > 1:  # columns of a fixed width
            rows = [line.split() for line in lines]
        else:
            rows = list(csv.reader(lines, delimiter=separator))
    except csv.Error as error:
        raise ValueError(f"{name} is no CSV ({one_line(str(error))}); give rows of numbers.") from None
    has_header = all(_number(cell) is None for cell in rows[0])
    names = rows.pop(0) if has_header else [f"column {k + 1}" for k in range(len(rows[0]))]
    if not rows:
        raise ValueError(f"{name} has a header and no rows; give rows of numbers.")
    if len(rows) > MOST_ROWS or len(names) > MOST_COLUMNS:
        raise ValueError(
            f"{name} has {len(rows):,} rows of {len(names)}; at most {MOST_ROWS:,} of {MOST_COLUMNS} are read."
        )
    values = np.empty((len(rows), len(names)))
    for at, row in enumerate(rows):
        where = f"row {at + 1 + has_header}"
        if len(row) != len(names):
            raise ValueError(f"{name} has {len(row)} entries in {where} and {len(names)} in the first; give as many.")
        for k, cell in enumerate(row):
            found = _number(cell)
            if found is None:
                raise ValueError(
                    f"{name} has {short(cell)} in {where}, {one_line(names[k])}; every entry must be a number within ±1e12."
                )
            values[at, k] = found
    return Table(name, tuple(one_line(each.strip()) for each in names), values)


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
    """file: its name.  columns: of the file, of which the last `targets` are no inputs.  rows: as published.

    saved: whether the file is a sheet of Excel at the repository, and has to be saved as CSV first.
    """

    file: str
    columns: int
    targets: int
    rows: int
    saved: bool = False


UCI = {
    "boston": Published("housing.data", 14, 1, 506),
    "concrete": Published("Concrete_Data.csv", 9, 1, 1030, saved=True),
    "energy": Published("ENB2012_data.csv", 10, 2, 768, saved=True),
    "kin8nm": Published("kin8nm.csv", 9, 1, 8192),
    "naval": Published("data.txt", 18, 2, 11934),
    "power plant": Published("Folds5x2_pp.csv", 5, 1, 9568, saved=True),
    "wine quality": Published("winequality-red.csv", 12, 1, 1599),
    "yacht": Published("yacht_hydrodynamics.data", 7, 1, 308),
}
"""By the names that papers use. scikit-learn's "wine" is another set: three cultivars, 178 rows of 13 columns."""


def uci(name: str, folder: str | Path) -> Table:
    """Inputs of a set in `UCI` from its published file in a folder; targets are left out.

    Raises ValueError, one sentence, where the file is not there, is too large, or has not the published number of columns or rows.
    """
    published = UCI[choice("name", name, tuple(UCI))]
    path = Path(folder) / published.file
    if not path.is_file():
        remedy = "save the repository's Excel sheet as CSV under this name" if published.saved else "download it there"
        raise ValueError(f"{path} is not there; {remedy}.")
    if path.stat().st_size > LARGEST_FILE:
        raise ValueError(
            f"{path} has {path.stat().st_size:,} bytes; the published file has less than {LARGEST_FILE:,}."
        )
    found = read_table(path.read_text(encoding="utf-8", errors="replace"), published.file)
    if found.values.shape != (published.rows, published.columns):
        raise ValueError(
            f"{path} has {len(found):,} rows of {found.values.shape[1]}; the published {name} has {published.rows:,} of "
            f"{published.columns}."
        )
    kept = published.columns - published.targets
    return Table(name, found.columns[:kept], found.values[:, :kept])
