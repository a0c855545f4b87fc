"""What workers do in trials of the sweep's machinery, importable by every worker."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Any

import torch

from llc_core.sweeps import worker
from llc_core.sweeps.unit import Unit
from llc_core.sweeps.worker import rows_of, run_unit

LOG = "LLC_LAB_SWEEP_LOG"
"""Environment: a file that every unit's key is written to when it starts."""
TRAP = "LLC_LAB_SWEEP_TRAP"
"""Environment: a file whose presence kills, once, the worker that finds it."""


def logged(values: dict[str, Any], sweep: str) -> list[dict[str, Any]]:
    with open(os.environ[LOG], "a") as file:
        file.write(Unit.from_dict(values).key + "\n")
    return run_unit(values, sweep)


def trapped(values: dict[str, Any], sweep: str) -> list[dict[str, Any]]:
    trap = Path(os.environ[TRAP])
    try:
        trap.unlink()
    except FileNotFoundError:
        return logged(values, sweep)
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("unreachable")


def failing(values: dict[str, Any], sweep: str) -> list[dict[str, Any]]:
    """An error on its way back, as when rows cannot be sent."""
    if 1 in values["problems"]:
        raise RuntimeError("no way back")
    return run_unit(values, sweep)


def starving(values: dict[str, Any], sweep: str) -> list[dict[str, Any]]:
    """The second problem asks for more memory than there is, as a network does that is too large."""
    if 1 not in values["problems"]:
        return run_unit(values, sweep)
    plain = worker._run
    worker._run = lambda unit, name: torch.empty(1 << 58)
    try:
        return run_unit(values, sweep)
    finally:
        worker._run = plain


def stubborn(values: dict[str, Any], sweep: str) -> list[dict[str, Any]]:
    """The first problem at once; the others run until their process ends, and hear nobody who wants them to stop."""
    rows = logged(values, sweep)
    if values["problems"] != [0]:
        threading.Event().wait()
    return rows


def trivial(values: dict[str, Any], sweep: str) -> list[dict[str, Any]]:
    """Rows at once: what is left is the machinery."""
    unit = Unit.from_dict(values)
    return rows_of(unit, [{"status": "ok", "llc": 1.0, "seconds": 0.0} for _ in unit.rows])
