"""Where a run can be made: on the processor, and on what else torch finds in this machine."""

from __future__ import annotations

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
