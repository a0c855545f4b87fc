"""On which device a run may go."""

from __future__ import annotations

import torch

from llc_core.fields import short


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
