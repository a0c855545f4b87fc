"""Checkpoints on disk. Only tensors are written, and reading a file never runs code."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from llc_core.extras import needs

SUFFIXES = (".safetensors", ".pt")


def save_state(path: str | Path, state: dict[str, Tensor]) -> Path:
    """Write a state_dict; the ending .safetensors or .pt says how. Without one: safetensors where that is installed."""
    path = Path(path)
    if not path.suffix:
        path = path.with_suffix(".safetensors" if find_spec("safetensors") else ".pt")
    tensors = {str(name): value.detach().cpu().contiguous() for name, value in state.items()}
    if _ending(path) == ".pt":
        torch.save(tensors, path)
    else:
        _safetensors(path).save_file(tensors, str(path))
    return path


def load_state(path: str | Path) -> dict[str, Tensor]:
    """The state_dict in a file that `save_state` wrote. Raises ValueError for anything that is not plain tensors."""
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"{path} does not exist; name a file that save_state wrote.")
    try:
        if _ending(path) == ".pt":
            state: Any = torch.load(path, map_location="cpu", weights_only=True)
        else:
            state = _safetensors(path).load_file(str(path))
    except ValueError:
        raise
    except Exception as error:
        raise ValueError(f"{path} holds no plain tensors ({type(error).__name__}); it was not read.") from None
    if not isinstance(state, dict) or not all(isinstance(v, Tensor) and isinstance(k, str) for k, v in state.items()):
        raise ValueError(f"{path} holds no mapping from names to tensors; name a file that save_state wrote.")
    return state


def _ending(path: Path) -> str:
    if path.suffix not in SUFFIXES:
        raise ValueError(f"path is {str(path)!r}; it must end in one of {', '.join(SUFFIXES)}.")
    return path.suffix


def _safetensors(path: Path) -> Any:
    with needs(f"{path.name} (the ending .pt needs nothing more)", extra="networks"):
        import safetensors.torch
    return safetensors.torch
