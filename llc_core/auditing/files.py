"""Loss traces in files: Zarr of devinterp 2, NetCDF, npz, npy, CSV. Nothing is unpickled, and optional libraries are imported where used.

Names under which traces, loss at w0 and nβ are looked for are those of devinterp 1 and 2, of this engine, and plain ones.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from llc_core.auditing.report import MOST_NUMBERS
from llc_core.extras import needs
from llc_core.fields import short

TRACES = ("loss/trace", "traces", "loss_trace", "trace", "losses", "loss")
BASELINES = ("init_loss", "baseline_loss")
TEMPERATURES = ("n_beta", "nbeta")
MOST_BYTES = 1_000_000_000
"""Of a file that is read."""


@dataclass(frozen=True)
class TraceFile:
    """traces: [C, T].  init_loss, n_beta: None where the file does not say.  facts: of `audit`, by name.

    said: sentences on how the file was read.
    """

    traces: np.ndarray
    init_loss: Any = None
    n_beta: float | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    said: tuple[str, ...] = ()


def read(path: Path) -> TraceFile:
    """The traces in a file; ValueError, one sentence, where it cannot be read or holds none."""
    kind = path.suffix.lower()
    if kind not in READERS:
        raise ValueError(f"{short(path.name)} ends in {short(kind)}; give a file that ends in {', '.join(READERS)}.")
    if not path.exists():
        raise ValueError(f"There is no file {short(str(path))}; give the path of one.")
    if path.is_file() and path.stat().st_size > MOST_BYTES:
        raise ValueError(
            f"{short(path.name)} has {path.stat().st_size:,} bytes; give a file of at most {MOST_BYTES:,}."
        )
    try:
        return READERS[kind](path)
    except OSError as error:
        raise ValueError(f"{short(path.name)} cannot be read ({short(str(error))}); give another file.") from None


def _npz(path: Path) -> TraceFile:
    with path.open("rb") as file:
        begins = file.read(6)
    if not begins.startswith((b"PK", b"\x93NUMPY")):
        raise ValueError(f"{short(path.name)} is no file of numpy's arrays; give another file.")
    try:
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return TraceFile(loaded)
        with loaded as data:
            return _named({name: data[name] for name in data.files if _wanted(name)}, path)
    except (BadZipFile, EOFError):
        raise ValueError(f"{short(path.name)} is damaged; give another file.") from None
    except ValueError as error:
        if "pickle" not in str(error).lower():
            raise
        raise ValueError(
            f"{short(path.name)} holds Python objects, which only unpickling could read; save plain arrays (np.savez)."
        ) from None


def _wanted(name: str) -> bool:
    return name in (*TRACES, *BASELINES, *TEMPERATURES)


def _named(arrays: Mapping[str, np.ndarray], path: Path) -> TraceFile:
    trace = next((name for name in TRACES if name in arrays), None)
    if trace is None:
        raise ValueError(f"{short(path.name)} has no traces; call them one of {', '.join(TRACES)}.")
    base = next((arrays[name] for name in BASELINES if name in arrays), None)
    n_beta = next((float(arrays[name]) for name in TEMPERATURES if name in arrays), None)
    return TraceFile(np.asarray(arrays[trace]), base, n_beta)


def _csv(path: Path) -> TraceFile:
    """Rows chain, draw, loss with these names above them; or one column a chain, one row a draw."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file) if row]
        head = [name.strip().lower() for name in rows[0]]
        if {"chain", "draw", "loss"} <= set(head):
            return TraceFile(_long(rows[1:], *(head.index(name) for name in ("chain", "draw", "loss"))))
        named = not all(map(_is_number, rows[0]))
        return TraceFile(np.array(rows[named:], dtype=float).T)
    except (ValueError, IndexError, csv.Error):
        raise ValueError(
            f"{short(path.name)} is no table of numbers; give a column for each chain, or columns chain, draw and loss."
        ) from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _long(rows: list[list[str]], chain: int, draw: int, loss: int) -> np.ndarray:
    numbers = np.array([[row[chain], row[draw], row[loss]] for row in rows], dtype=float)
    chains, at = np.unique(numbers[:, 0], return_inverse=True)
    draws, when = np.unique(numbers[:, 1], return_inverse=True)
    found = np.full((len(chains), len(draws)), np.nan)
    found[at, when] = numbers[:, 2]
    return found


def _netcdf(path: Path) -> TraceFile:
    with needs("An audit of NetCDF", extra="netcdf"):
        import h5netcdf  # noqa: F401
        import xarray
    with xarray.open_dataset(path, engine="h5netcdf") as data:
        if "config" in data.attrs and "loss_trace" in data:
            return _ours(data)
        found = {str(name): data[name] for name in data.variables if _wanted(str(name))}
        turned = {name: each.transpose("chain", ...) if "chain" in each.dims else each for name, each in found.items()}
        values = {name: np.asarray(each.values) for name, each in turned.items()}
        attributes = {name: np.asarray(data.attrs[name]) for name in (*BASELINES, *TEMPERATURES) if name in data.attrs}
        return _named({**attributes, **values}, path)


def _ours(data: Any) -> TraceFile:
    """A run of this engine: its trace is nβ·ΔL."""
    kept = data["loss_trace"].transpose("chain", "step")
    after = kept.values[:, data["step"].values >= int(data.attrs["burn_in"])]
    n_beta, config = float(data["n_beta"]), json.loads(data.attrs["config"])
    facts = {"burn_in": int(data.attrs["burn_in"]), "full": config.get("gradient") == "full"}
    facts |= {"localization": config.get("localization")} if config.get("localization") else {}
    return TraceFile(after / n_beta, 0.0, n_beta, facts, ("The run's own burn-in is left out.",))


def _zarr(path: Path) -> TraceFile:
    """A store of devinterp 2: losses by token, of which the mean over tokens is taken piece by piece."""
    with needs("An audit of Zarr", extra="zarr"):
        import zarr
    try:
        group = zarr.open_group(str(path), mode="r")
    except (ValueError, KeyError, FileNotFoundError):
        raise ValueError(f"{short(path.name)} is no Zarr group; give the folder that holds its arrays.") from None
    names = set(group.array_keys())
    sampler = dict(group.attrs).get("metadata", {}).get("config", {}).get("sampler", {})
    micro = "sampling_loss_micro" in names
    if not micro and "sampling_loss" not in names:
        return _named({name: np.asarray(group[name]) for name in names if _wanted(name)}, path)
    traces = _means(group["sampling_loss_micro" if micro else "sampling_loss"], path)
    base = np.asarray(group["init_loss"]).mean(axis=-1) if "init_loss" in names else None
    burned = 0 if micro else sampler.get("num_burnin_steps")
    facts = {
        "full": False,
        "burn_in": burned,
        "batch_size": sampler.get("batch_size"),
        "localization": sampler.get("localization"),
    }
    said = "All steps are read, those of burn-in too: devinterp 2 makes λ̂ of all." if micro else "Draws are read."
    if dict(group.attrs).get("completed") != 1:
        said += " The store does not say that its run was completed."
    known = {name: value for name, value in facts.items() if value is not None}
    return TraceFile(traces, None if base is None else float(base.mean()), sampler.get("n_beta"), known, (said,))


def _means(array: Any, path: Path) -> np.ndarray:
    """[C, T] of an array [C, T, …], in pieces that bound the memory."""
    chains, draws, *rest = array.shape
    if chains * draws > MOST_NUMBERS:
        raise ValueError(f"{short(path.name)} has {chains * draws:,} losses; give at most {MOST_NUMBERS:,}.")
    found, each = np.empty((chains, draws)), max(1, 10_000_000 // max(1, int(np.prod(rest))))
    for chain in range(chains):
        for start in range(0, draws, each):
            piece = np.asarray(array[chain, start : start + each])
            found[chain, start : start + each] = piece.reshape(len(piece), -1).mean(axis=1)
    return found


READERS: Mapping[str, Callable[[Path], TraceFile]] = {
    ".zarr": _zarr, ".nc": _netcdf, ".npz": _npz, ".npy": _npz, ".csv": _csv,
}  # fmt: skip
