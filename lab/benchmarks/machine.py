"""The line that every result carries: machine, versions, threads; and the clock that times are read from."""

from __future__ import annotations

import platform
import time
from pathlib import Path

import numpy as np
import torch


def machine() -> str:
    """One line that says where a figure was measured."""
    name = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        name = next(
            (x.split(":")[1].strip() for x in cpuinfo.read_text().splitlines() if x.startswith("model name")), name
        )
    gpu = f", {torch.cuda.get_device_name()}" if torch.cuda.is_available() else ""
    return (
        f"{name}{gpu}, {torch.get_num_threads()} threads, Python {platform.python_version()}, "
        f"torch {torch.__version__}, numpy {np.__version__}"
    )


def clock(device: str) -> float:
    """Processor seconds; of a GPU wall seconds, once it has done all that it was asked."""
    if device == "cuda":
        torch.cuda.synchronize()
        return time.perf_counter()
    return time.process_time()
