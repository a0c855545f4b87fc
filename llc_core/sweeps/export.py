"""A store's rows in other programs' formats: CSV, Parquet, and an xarray.Dataset (NetCDF)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from llc_core.extras import needs
from llc_core.sweeps.csv_tables import table_csv
from llc_core.sweeps.store import COLUMNS

AXES = ("size_class", "ranks", "problem", "sampler", "gradient", "step_size")
MEASURED = (
    "llc", "llc_se", "llc_from_variance", "llc_from_variance_se", "llc_printed", "global_llc", "local_llc", "expected_llc",
    "r_hat", "ess", "stable_step", "lost_after", "dead", "chains", "steps", "seconds",
)  # fmt: skip
FURTHER = ("steps", "chains", "config")
FORMATS = (".csv", ".parquet", ".nc")

ResultRows = Sequence[Mapping[str, Any]]


def export(rows: ResultRows, path: str | Path) -> None:
    """Write rows in the format that the name ends with: .csv, .parquet or .nc; ValueError for another."""
    ending = Path(path).suffix.lower()
    if ending == ".csv":
        to_csv(rows, path)
    elif ending == ".parquet":
        to_parquet(rows, path)
    elif ending == ".nc":
        with needs("NetCDF", extra="netcdf"):
            import h5netcdf  # noqa: F401  xarray takes it by its name
        to_dataset(rows).to_netcdf(path, engine="h5netcdf")
    else:
        raise ValueError(f"{str(path)!r} ends in {ending!r}; choose a name that ends in {', '.join(FORMATS)}.")


def to_csv(rows: ResultRows, path: str | Path) -> None:
    """One line for each row; nothing where a number is missing."""
    text = table_csv(list(COLUMNS), ([row.get(name) for name in COLUMNS] for row in rows))
    with open(path, "w", newline="", encoding="utf-8") as file:
        file.write(text)


def to_parquet(rows: ResultRows, path: str | Path) -> None:
    """Needs the extra "sweeps" (pyarrow)."""
    with needs("Parquet", extra="sweeps"):
        import pyarrow
        import pyarrow.parquet

    kinds = {"TEXT": pyarrow.string(), "INTEGER": pyarrow.int64(), "REAL": pyarrow.float64()}
    schema = pyarrow.schema([(name, kinds[kind.split()[0]]) for name, kind in COLUMNS.items()])
    pyarrow.parquet.write_table(pyarrow.table(columns(rows), schema=schema), path)


def columns(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Rows as columns, in the order of the table."""
    rows = list(rows)
    return {name: [row[name] for row in rows] for name in COLUMNS}


def to_dataset(rows: ResultRows) -> Any:
    """An xarray.Dataset over (size_class, ranks, problem, sampler, gradient, step_size), nan where nothing was run.

    `to_dataset(rows).llc.sel(sampler="SGLD").mean("problem")` is a curve. Where a store has several sweeps, `steps`, `chains`
    and `config` (as text) become axes too, as far as rows differ in nothing else.
    """
    with needs("to_dataset()", extra="netcdf"):
        import xarray

    axes: tuple[str, ...] = AXES
    for further in FURTHER:
        if len({tuple(row[axis] for axis in axes) for row in rows}) == len(rows):
            break
        axes = (*axes, further)
    values = {axis: sorted({row[axis] for row in rows}) for axis in axes}
    place = {axis: {value: i for i, value in enumerate(found)} for axis, found in values.items()}
    shape = tuple(len(values[axis]) for axis in axes)
    measured = [name for name in MEASURED if name not in axes]
    arrays = {name: np.full(shape, math.nan) for name in measured}
    for row in rows:
        at = tuple(place[axis][row[axis]] for axis in axes)
        for name in measured:
            if row[name] is not None:
                arrays[name][at] = row[name]
    return xarray.Dataset({name: (axes, array) for name, array in arrays.items()}, coords=values)
