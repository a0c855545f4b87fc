"""Where a run can be made: on the processor, and on what else torch finds in this machine; and how fast each is."""

from __future__ import annotations

import time
from functools import cache

LABELS = {"cpu": "processor", "cuda": "GPU (cuda)", "mps": "GPU (mps)"}


@cache
def devices() -> tuple[str, ...]:
    """torch's names, the processor first: `RunConfig.device` takes each of them."""
    import torch

    found = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    return ("cpu", *(name for name, there in found.items() if there))


def offered(device: str | None) -> str | None:
    """The device that a configuration names, where it is here; None, the processor, where it is not."""
    return device if device != "cpu" and device in devices() else None


SIDES = {"cpu": 512, "cuda": 4096, "mps": 2048}
"""Of the matrices whose product is timed: it takes milliseconds, and fills the device."""
ROUNDS = 20
"""The fastest counts: in the others other programs had the device."""


@cache
def speed(device: str) -> float:
    """Operations a second of a matrix product in single precision, as it was measured at the first call, with this thread's cores."""
    import torch

    side = SIDES[device]
    a = torch.ones(side, side, dtype=torch.float32, device=device)
    found = 0.0
    for _ in range(ROUNDS):
        started = time.perf_counter()
        (a @ a)[0, 0].item()  # waits for the device
        found = max(found, 2 * side**3 / (time.perf_counter() - started))
    return found
