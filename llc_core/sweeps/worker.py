"""What a worker does with one unit: run it and return its rows. It writes nothing; an error of the run is a row too."""

from __future__ import annotations

import gc
import itertools
import json
import math
import os
import re
import threading
import time
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from llc_core.fields import FieldError
from llc_core.sweeps.unit import Unit, key_of, text_of

KEPT_PROBLEMS = 2
"""Problems that a worker keeps, since the units of one problem follow each other. Each has up to 256 MB of rows; on a GPU it has
up to 1 GB of moments instead, or 4 GB for a family of networks side by side."""
MAX_ERROR = 500

MEMORY = re.compile(r"can't allocate memory|not enough memory|out of memory|unable to allocate", re.IGNORECASE)
"""How torch says on a CPU, in a RuntimeError, what Python and numpy say by a MemoryError."""

_cancelled: set[str] = set()
_guard = threading.Lock()


class Cancelled(Exception):
    """The sweep was stopped while this unit was running; it leaves no row."""


def cancel(sweep: str) -> None:
    """Stop the units of a sweep that run in this process, at the end of their current block."""
    with _guard:
        _cancelled.add(sweep)


def run_unit(values: Mapping[str, Any], sweep: str = "") -> list[dict[str, Any]]:
    """Rows of table `results` for one unit (`Unit.to_dict`). An error of the run is a row with its text.

    Raises Cancelled, and nothing else that can be put into a row.
    """
    unit = Unit.from_dict(values)
    started = time.perf_counter()
    found = None
    try:
        found = _run(unit, sweep)
    except Cancelled:
        raise
    except Exception as error:  # whatever went wrong in one unit must not end the sweep
        text = sentence_of(error)
    if (
        found is None and len(unit.problems) > 1
    ):  # nor make errors of its other problems; what failed is out of memory here
        _problem.cache_clear()
        gc.collect()
        return [row for seed in unit.problems for row in run_unit(unit.of([seed]).to_dict(), sweep)]
    if str(unit.settings["device"] or "").startswith("cuda"):
        gc.collect()  # a problem is part of reference cycles, and allocating on a GPU does not collect these
    if found is None:
        found = [{"status": "error", "error": text} for _ in unit.rows]
    seconds = (time.perf_counter() - started) / len(unit.rows)
    return rows_of(unit, [{"seconds": seconds, **row} for row in found])


def sentence_of(error: Exception) -> str:
    """What the row of a unit that failed says."""
    kind = "ValueError" if isinstance(error, FieldError) else type(error).__name__
    if kind == "KilledWorker":  # of Dask, which a worker need not import
        return (
            "The worker that ran this was lost three times, as where the system has no memory left; give fewer chains, problems "
            "together or workers."
        )
    text = f"{kind}: {error}"
    if isinstance(error, MemoryError) or kind == "OutOfMemoryError" or MEMORY.search(text):
        wanted = re.search(r"[\d.]+ ?([KMGTPE]i?B|bytes)\b", text)
        size = f" for another {wanted[0]}" if wanted else ""
        return (
            f"There was no memory{size}; give fewer chains, step sizes, problems together or workers, and run it again with "
            "--retry-errors."
        )
    return text[:MAX_ERROR]


def rows_of(unit: Unit, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows with what identifies them; `found` has the numbers, one mapping for each row."""
    rows, name = [], unit.key
    for (seed, index), numbers in zip(unit.rows, found, strict=True):
        config = unit.row_config(seed, index)
        rows.append(
            {
                "key": key_of(config),
                "unit": name,
                "size_class": unit.size_class,
                "ranks": unit.ranks,
                "problem": seed,
                "sampler": unit.label,
                "gradient": unit.gradient,
                "step_size": unit.step_sizes[index],
                "step_index": index,
                "chains": config.chains,
                "steps": config.steps,
                "config": text_of(config),
                "grid": json.dumps(list(unit.step_sizes)),
                **numbers,
            }
        )
    return rows


def _run(unit: Unit, sweep: str) -> list[dict[str, Any]]:
    from llc_core.engine.run import Run

    parent = os.getppid()
    problem = _problem(json.dumps(unit.description, sort_keys=True))
    run = Run(unit.config, problem)
    for _ in run:
        # If the client was killed, nobody takes the rows any more.
        if sweep in _cancelled or os.getppid() != parent:
            raise Cancelled
    printed, lost_at = run.llc_per_chain("first_batch"), run.lost_at()
    places = itertools.product(range(problem.problems), range(len(unit.step_sizes)))
    rows = []
    for (number, index), estimate in zip(places, run.estimates()[:: unit.levels], strict=True):
        owner = problem.member(number)
        chains = run.rows_of(number, index * unit.levels)
        mine = printed[chains]
        alive = mine[[math.isfinite(value) for value in mine]]
        kept = np.sort(np.nan_to_num(lost_at[chains], nan=run.total_steps))
        usable = math.isfinite(estimate.llc)
        rows.append(
            {
                "dim": problem.dim,
                "dead": estimate.diverged,
                "status": "ok" if usable else "diverged",
                "llc": _finite(estimate.llc),
                "llc_se": _finite(estimate.llc_se),
                "llc_from_variance": _finite(estimate.llc_from_variance),
                "llc_from_variance_se": _finite(estimate.llc_from_variance_se),
                "llc_printed": _finite(alive.mean()) if usable and len(alive) else None,
                "global_llc": _number(owner.learning_coefficient),
                "local_llc": _number(owner.local_learning_coefficient),
                "expected_llc": _number(estimate.expected),
                "r_hat": _finite(estimate.r_hat),
                "ess": _finite(estimate.ess),
                "stable_step": _finite(estimate.diagnostics["stability_limit"]),
                "lost_after": int(kept[len(kept) // 2]),
            }
        )
    return rows


@lru_cache(maxsize=KEPT_PROBLEMS)
def _problem(description: str) -> Any:
    from llc_core.potentials import build

    return build(json.loads(description))


def _number(value: Any) -> float | None:
    """None for a truth that is not known."""
    return None if value is None else float(value)


def _finite(value: Any) -> float | None:
    return float(value) if math.isfinite(value) else None
