"""Inputs of the regression sets of the UCI repository, read from the files in which they are published. None of them ships here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from llc_core.fields import choice
from llc_core.networks.tables import Table, read_table

LARGEST = 20_000_000
"""Bytes of a file."""


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
    if path.stat().st_size > LARGEST:
        raise ValueError(f"{path} has {path.stat().st_size:,} bytes; the published file has less than {LARGEST:,}.")
    found = read_table(path.read_text(encoding="utf-8", errors="replace"), published.file)
    if found.values.shape != (published.rows, published.columns):
        raise ValueError(
            f"{path} has {len(found):,} rows of {found.values.shape[1]}; the published {name} has {published.rows:,} of "
            f"{published.columns}."
        )
    kept = published.columns - published.targets
    return Table(name, found.columns[:kept], found.values[:, :kept])
