"""Checkpoints on disk. Only tensors are written, and reading a file never runs code."""

from __future__ import annotations

import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from llc_core.extras import needs
from llc_core.fields import one_line, short

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
    ending, name = _ending(path), one_line(path.name)
    if not _is_file(path):
        raise ValueError(f"{name} does not exist; name a file that save_state wrote.")
    try:
        if ending == ".pt":
            check_size(path)
            state: Any = torch.load(path, map_location="cpu", weights_only=True)
        else:
            state = _safetensors(path).load_file(str(path))
    except ValueError:
        raise
    except Exception as error:
        # By its name: the module it is from is imported nowhere here.
        objects = type(error).__name__ == "UnpicklingError"
        why = ": it contains Python objects, not just weights" if objects else ""
        raise ValueError(
            f"{name} contains Python objects, not just weights{why}. Save model.state_dict() as .safetensors."
        ) from None
    if not isinstance(state, dict) or not all(isinstance(v, Tensor) and isinstance(k, str) for k, v in state.items()):
        raise ValueError(f"{name} holds no mapping from names to tensors; name a file that save_state wrote.")
    for key, value in state.items():
        if not _is_plain(value):
            raise ValueError(
                f"The entry {short(key)} in {name} is no tensor with a number in memory for each entry; save it dense, on the CPU, with save_state."
            )
    return dict(state)  # without what a file may say beside its tensors, such as torch's _metadata


def _is_plain(tensor: Tensor) -> bool:
    """A few bytes may say that they are a billion entries: one number for all of them, sparse ones, or none at all."""
    if tensor.layout != torch.strided or tensor.device.type != "cpu" or tensor.is_quantized:
        return False
    return tensor.numel() * tensor.element_size() <= tensor.untyped_storage().nbytes()


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name longer than there can be
        return False


def check_size(path: Path) -> None:
    """A few kilobytes may say that they unpack to gigabytes. torch stores without compression, in the form of a zip."""
    with zipfile.ZipFile(path) as archive:
        unpacked = sum(part.file_size for part in archive.infolist())
    if unpacked > path.stat().st_size:
        raise ValueError(
            f"{one_line(path.name)} has {path.stat().st_size:,} bytes and unpacks to {unpacked:,}; write it with save_state, "
            "which compresses nothing."
        )


def _ending(path: Path) -> str:
    if path.suffix not in SUFFIXES:
        raise ValueError(f"path is {short(path.name)}; it must end in one of {', '.join(SUFFIXES)}.")
    return path.suffix


def _safetensors(path: Path) -> Any:
    with needs(f"{one_line(path.name)} (the ending .pt needs nothing more)", extra="networks"):
        import safetensors.torch
    return safetensors.torch
