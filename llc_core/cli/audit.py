"""`llc-lab audit`: loss traces in a file that some tool wrote, looked at for common faults."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from llc_core.cli.outputs import say

FACTS = (
    ("n", int, "number of samples"),
    ("batch-size", int, "rows of a batch"),
    ("burn-in", int, "steps that were done before the first draw; 0: the traces begin at w0"),
    ("localization", float, "γ"),
    ("dim", int, "number of parameters"),
    ("square-distance", float, "mean of ‖w − w0‖²"),
)


def add_audit(commands: Any) -> None:
    one = commands.add_parser("audit", help="name the faults of loss traces that some tool made")
    one.add_argument("file", type=Path, metavar="FILE", help="Zarr of devinterp 2, NetCDF, npz, npy or CSV")
    one.add_argument("--n-beta", type=float, help="nβ, where the file does not say it")
    one.add_argument(
        "--init-loss", type=float, help="the loss at w0 that λ̂ is made with, where the file does not say it"
    )
    for name, kind, about in FACTS:
        one.add_argument(f"--{name}", type=kind, help=about)
    one.add_argument(
        "--full", action=argparse.BooleanOptionalAction, default=None, help="whether the losses are of all data"
    )
    one.add_argument("--json", action="store_true", help="print what was found as JSON")
    one.set_defaults(handle=_audit)


def _audit(options: argparse.Namespace) -> int:
    """Exit status 1 where a fault is named."""
    from llc_core.auditing.files import read
    from llc_core.auditing.report import audit

    kept = read(options.file)
    n_beta = kept.n_beta if options.n_beta is None else options.n_beta
    init_loss = kept.init_loss if options.init_loss is None else options.init_loss
    if n_beta is None or init_loss is None:
        name = "init_loss" if init_loss is None else "n_beta"
        raise ValueError(f"The file does not say {name}; add --{name.replace('_', '-')}.")
    given = {name.replace("-", "_"): getattr(options, name.replace("-", "_")) for name, _, _ in FACTS} | {
        "full": options.full
    }
    facts = {**kept.facts, **{name: value for name, value in given.items() if value is not None}}
    found = audit(kept.traces, n_beta, init_loss, **facts)
    if options.json:
        say(json.dumps({**found.to_dict(), "read": list(kept.said)}, ensure_ascii=False))
    else:
        say("\n".join([*kept.said, str(found)]))
    return 0 if found else 1
