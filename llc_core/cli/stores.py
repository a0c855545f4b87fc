"""`llc-lab stop` and `llc-lab export`: what can be done with a sweep's store."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from llc_core.cli.outputs import check_out, say
from llc_core.sweeps.export import FORMATS, export
from llc_core.sweeps.stopping import ask_to_stop
from llc_core.sweeps.store import results


def add_stop(commands: Any) -> None:
    end = commands.add_parser("stop", help="end the sweep that writes to a store; the same sweep command goes on later")
    end.add_argument("store", type=Path, metavar="STORE")
    end.set_defaults(handle=_stop)


def add_export(commands: Any) -> None:
    out = commands.add_parser("export", help="write a store's rows as CSV, Parquet or NetCDF")
    out.add_argument("store", type=Path, metavar="STORE")
    out.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help=f"a name that ends in {', '.join(FORMATS)}"
    )
    out.set_defaults(handle=_export)


def _stop(options: argparse.Namespace) -> int:
    ask_to_stop(options.store)
    say(f"The sweep of {options.store} was asked to stop; what it recorded stays.")
    return 0


def _export(options: argparse.Namespace) -> int:
    check_out(options.out)
    rows = results(options.store)
    if not rows:
        raise ValueError(f"{str(options.store)!r} holds no finished rows yet; run its sweep first.")
    try:
        export(rows, options.out)
    except OSError as error:
        raise ValueError(
            f"{str(options.out)!r} cannot be written ({error.strerror or error}); check the path."
        ) from None
    say(f"{len(rows):,} rows are in {options.out}.")
    return 0
