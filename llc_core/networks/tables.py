"""Tables of numbers: CSV text read without trust, and the tabular sets that come with scikit-learn."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from llc_core.extras import needs
from llc_core.fields import choice, one_line, short

LARGEST, MOST_ROWS, MOST_COLUMNS = 8_000_000, 100_000, 256
"""Characters, rows and columns of a table, at most."""
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

    Its wine are three cultivars, 178 rows, and not the wine quality of the UCI repository, which `llc_core.networks.uci` reads.

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
