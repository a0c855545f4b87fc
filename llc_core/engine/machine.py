"""What of a machine a run may take: its device and its memory."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import torch

from llc_core.config import RunConfig
from llc_core.fields import short
from llc_core.groups import settings
from llc_core.observables import build
from llc_core.observables.functional_variance import FunctionalVariance
from llc_core.potentials import price
from llc_core.potentials.base import Potential


def checked_device(name: str | None) -> str:
    """The device of a run by torch's name, the CPU where none is given; ValueError names what is wrong."""
    if name is None:
        return "cpu"
    try:
        device = torch.device(name)
    except (RuntimeError, TypeError):
        raise ValueError(f"device is {short(name)}; use for example 'cpu' or 'cuda'.") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"device is {short(name)}, but no CUDA device is available here; use 'cpu'.")
    if device.type == "cuda" and device.index is not None and device.index >= torch.cuda.device_count():
        last = torch.cuda.device_count() - 1
        raise ValueError(
            f"device is {short(name)}, but the last CUDA device here is 'cuda:{last}'; use that or 'cuda'."
        )
    if device.type == "mps" and not torch.backends.mps.is_available():
        raise ValueError(f"device is {short(name)}, but no MPS device is available here; use 'cpu'.")
    if device.type not in ("cpu", "cuda", "mps"):
        raise ValueError(f"device is {short(name)}; use 'cpu', 'cuda' or 'mps'.")
    return str(device)


MEMORY_SHARE = 0.6


STATE_COPIES = 10
"""Tensors of the size of the state that a step holds at its peak (state, gradient, noise, saved state, probes)."""


def memory_needed(config: RunConfig, problem: Potential, second: Potential | None = None) -> tuple[int, int]:
    """Bytes that the chains of a complete configuration take at the peak of a step, and how many chains there are.

    second: the run's second potential, if it has one.
    """
    count = config.chains * problem.problems * len(settings(config))
    size = 8 if config.dtype == "float64" else 4
    watched = [build(each) for each in config.observables]
    if config.functional_variance is not None:
        watched.append(FunctionalVariance(config.functional_variance))
    kept = size * sum(each.kept(count, problem) for each in watched)
    if second is not None:
        kept += size * sum(each.kept_of_second(count, second) for each in watched)
    copies = count + 4 if problem.by_chain else count * STATE_COPIES
    return copies * problem.dim * size + kept, count


def check_memory(config: RunConfig, problem: Potential, second: Potential | None = None) -> None:
    need, count = memory_needed(config, problem, second)
    room = room_for_runs(str(config.device))
    if room and need > room:
        watched = config.functional_variance is not None or config.observables
        other = "leave functional_variance and observables out" if watched else "a smaller network"
        raise ValueError(
            f"{count} chains of {problem.dim:,} parameters need about {need / 2**30:.1f} GiB, and "
            f"{room / 2**30:.1f} GiB are available: use fewer chains or grid values, or {other}."
        )


def room_for_runs(device: str) -> float:
    """Bytes of a device's memory that runs may take; 0 where it is not known."""
    return MEMORY_SHARE * _memory(device)


def check_problem(description: Mapping[str, Any], device: str | None = None) -> None:
    """ValueError where a described problem takes more than this machine has; none of it is made. A GPU's is not looked at."""
    room, need = _memory("cpu"), price(description).peak
    if room and need > room and not str(device or "").startswith("cuda"):
        raise ValueError(
            f"This problem needs about {need / 2**30:,.1f} GiB for its data and products, and this machine has "
            f"{room / 2**30:,.1f} GiB: use smaller widths or a smaller n."
        )


def _memory(device: str) -> int:
    if device.startswith("cuda"):
        return torch.cuda.get_device_properties(device).total_memory
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return 0
