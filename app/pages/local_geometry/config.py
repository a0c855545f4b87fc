"""What can be set on the page "Local geometry": a deep linear network, as a JSON description, and a run of it. And what random networks
of a size class take, said before any is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.controls.devices import devices, speed
from app.estimates.networks import LONG_BYTES, LONG_ROWS, RUN, check_size, get_problem
from app.runs.account import is_card, total_memory
from app.runs.allowance import allowance
from llc_core.engine.machine import STATE_COPIES
from llc_core.potentials import price, problem_class
from llc_core.potentials.base import Potential, Workload
from llc_core.potentials.deep_linear.evaluation import step_bytes
from llc_core.potentials.deep_linear.random_networks import SIZE_CLASSES, drawn_widths

__all__ = ["LONG_BYTES", "LONG_ROWS", "RUN", "check_size", "class_price", "get_problem", "price_words"]

CLASSES = tuple(SIZE_CLASSES)
SINGLE = 4
"""Bytes of a number."""
STEPS, WATCHED = 20_000, 600.0
"""Steps of a run of which it is said how long it takes, and the seconds from which on that is said."""
AHEAD = 125
"""Gradients that measure the loss around w0 before the first step, about so many steps of a network of 10M."""
UNITS = {"days": 86400.0, "hours": 3600.0, "minutes": 60.0, "seconds": 1.0}


@dataclass(frozen=True)
class ClassPrice:
    """A random network of a size class and one chain on it, with full gradients in single precision, on the fastest device.

    memory: bytes at the most.  step: seconds of a step at the least.  room: the megabytes that a run may have, where these are too few;
    None where they are enough.
    """

    parameters: int
    memory: float
    step: float
    room: float | None


def class_price(problem: Mapping[str, Any]) -> ClassPrice:
    """problem: a description with a size_class; nothing of it is made."""
    device = devices()[-1]
    found, name, seed = price(problem), problem["size_class"], problem.get("seed", 0)
    widths = drawn_widths(name, seed)
    chain = STATE_COPIES * SINGLE * found.parameters + step_bytes(widths, 1, "full", Potential.batch_size, SINGLE)
    work = Workload("full", steps=1, chains=1, settings=1, on_gpu=device != "cpu")
    step = problem_class(name, problem.get("ranks", "equal")).step_operations(seed, work) / speed(device)
    limits = [(found.peak, allowance()), (chain, allowance(device))]
    if not is_card(device):
        limits.append((found.held + chain, total_memory() / 2**20))
    # What fails is named, so that a limit of one memory does not stand beside a need of another.
    need, room = next(
        ((need, most) for need, most in limits if need > most * 2**20), (max(need for need, _ in limits), None)
    )
    return ClassPrice(found.parameters, need, step, room)


def price_words(prices: Mapping[str, ClassPrice], chosen: str | None) -> str:
    """HTML: what the chosen class takes where that is long or too much, and a sentence for each that is left out. Classes by name."""
    where = "" if devices()[-1] == "cpu" else " on the GPU"
    said = []
    for name, found in prices.items():
        memory, time = f"{found.memory / 2**30:.1f} GB", lasting(STEPS * found.step)
        takes = f"{name}: one chain takes up to {memory}, and at least {time} for {STEPS:,} steps{where}"
        if found.room is not None:
            said.append(f"{takes}. Each run here has {found.room / 2**10:.1f} GB.")
        elif name == chosen and STEPS * found.step > WATCHED:
            said.append(f"{takes}. Before its first step it measures the loss for {lasting(AHEAD * found.step)}.")
    return "".join(f"<p class='small muted'>{each}</p>" for each in said)


def lasting(seconds: float) -> str:
    """In the largest unit of which there are at least two."""
    unit = next((unit for unit, size in UNITS.items() if seconds >= 2 * size), "seconds")
    return f"{seconds / UNITS[unit]:,.0f} {unit}"
