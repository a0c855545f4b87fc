"""What a visitor can take away from a run: Python that repeats it, its traces, its results, its configuration."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from pprint import pformat
from typing import Any, Protocol

from app.runs.llc_job import LARGEST_DRAWN
from llc_core import Estimate, RunConfig
from llc_core.sweeps.csv_tables import table_csv


class Configuration(Protocol):
    """A RunConfig, or what a page has in its place."""

    def to_dict(self) -> dict[str, Any]: ...


def python_code(config: RunConfig, answer: str = "") -> str:
    """A script that runs as pasted and gives the numbers of this configuration, and what the page says of them.

    answer: Python for the exact value, of `run` and `estimate`, where the page knows one that the estimate does not hold.
    """
    lines = ["import llc_core", "from llc_core import RunConfig", ""]
    lines += ["config = RunConfig("]
    lines += [f"    {name}={literal(value)}," for name, value in config.changed().items()]
    lines += [
        ")",
        "run = llc_core.run(config)",
        "for snapshot in run:",
        "    pass  # snapshot.llc: the running estimate of every chain",
        f"for estimate in run.estimates(largest_drawn={LARGEST_DRAWN}):  # exact draws of networks as large as the page's",
        "    print(estimate)",
        f"    print(llc_core.conclude(estimate{answer and f', reference={answer}'}))",
    ]
    return "\n".join(lines) + "\n"


def config_json(config: Configuration) -> str:
    """What is in a configuration file."""
    return json.dumps(config.to_dict(), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def trace_csv(estimate: Estimate) -> str:
    """One row per recorded step: the step, whether it is averaged over, and nβ(L(w) − L(w0)) of every chain."""
    rows = zip(estimate.trace_steps.tolist(), estimate.trace.tolist(), strict=True)
    header = ["step", "averaged", *(f"chain_{i}" for i in range(estimate.trace.shape[1]))]
    return table_csv(header, ([step, int(step >= estimate.burn_in), *row] for step, row in rows))


def result_csv(estimate: Estimate) -> str:
    """The numbers on the screen, one row each: name and value."""
    values: dict[str, Any] = {
        "llc": estimate.llc,
        "llc_se": estimate.llc_se,
        "llc_from_variance": estimate.llc_from_variance,
        "llc_from_variance_se": estimate.llc_from_variance_se,
        "expected_llc": estimate.expected,
        "relative_error": estimate.relative_error,
        "r_hat": estimate.r_hat,
        "ess": estimate.ess,
        "chains": estimate.chains,
        "diverged": estimate.diverged,
        "n_beta": estimate.n_beta,
        "steps": estimate.steps,
        "burn_in": estimate.burn_in,
        **estimate.diagnostics,
        "verdict": str(estimate.converged),
        "config": estimate.config.to_json(),
    }
    for coefficient in ("learning_coefficient", "local_learning_coefficient"):
        exact = getattr(estimate, coefficient)
        if exact is not None:
            values[coefficient] = exact.value
    return table_csv(["name", "value"], values.items())


def netcdf(estimate: Estimate) -> bytes:
    """Traces, results and configuration in one NetCDF file (`Estimate.to_dataset`)."""
    handle, path = tempfile.mkstemp(suffix=".nc")
    os.close(handle)
    try:
        estimate.to_dataset().to_netcdf(path, engine="h5netcdf")
        with open(path, "rb") as file:
            return file.read()
    finally:
        os.remove(path)


def keywords(values: Mapping[str, Any]) -> str:
    """As a call has them: "steps=8, seed=0"."""
    return ", ".join(f"{name}={value!r}" for name, value in values.items())


def literal(value: Any, width: int = 110, indent: int = 4) -> str:
    """Plain values as Python that can be pasted. indent: spaces before its second line and those that follow."""
    return pformat(value, width=width, sort_dicts=False, compact=True).replace("\n", "\n" + " " * indent)
