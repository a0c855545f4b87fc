"""Sweeps: many runs on one machine or many, into one file.

A `SweepSpec` lists units; `run_sweep` hands them to Dask workers and records their rows in a `Store`.
"""

from llc_core.sweeps.runner import Progress, run_sweep
from llc_core.sweeps.spec import SweepSpec
from llc_core.sweeps.stopping import ask_to_stop
from llc_core.sweeps.store import Store, results
from llc_core.sweeps.unit import Unit

__all__ = ["Progress", "Store", "SweepSpec", "Unit", "ask_to_stop", "results", "run_sweep"]
