"""What one entry of the data is: a row, a batch of rows, a sequence of tokens."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

TARGETS = ("labels", "label", "targets", "target", "y")
"""Keys of a dictionary that name the targets; the first of them that is there does."""


def is_array(value: Any) -> bool:
    return isinstance(value, Tensor | np.ndarray)


def as_tensor(value: Any) -> Tensor:
    """Tensors and arrays keep their precision; plain numbers get single precision, whatever torch's default is."""
    if isinstance(value, Tensor):
        return value.clone() if value.is_inference() else value  # a loop by autograd could keep nothing of it
    array = np.asarray(value)
    if array.dtype == np.float64 and not isinstance(value, np.ndarray | np.generic):
        array = array.astype(np.float32)
    return torch.as_tensor(array, device="cpu")


def flat(row: Any) -> Any:
    """A row without nesting: ((a, b), y) is (a, b, y), and ({…}, y) a dictionary with "labels"."""
    if not isinstance(row, tuple | list) or len(row) != 2:
        return row
    inputs, target = row
    if isinstance(inputs, Mapping) and not isinstance(target, Mapping) and TARGETS[0] not in inputs:
        return {**inputs, TARGETS[0]: target}
    if isinstance(inputs, tuple | list) and inputs and all(is_array(x) for x in inputs):
        return (*inputs, target)
    return row


def is_row(item: Any) -> bool:
    """Whether an item of a loader that makes no batches (batch_size=None) is one row, and not a batch that its data set has made."""
    item = flat(item)
    if is_array(item):
        return item.ndim < 2
    values = item.values() if isinstance(item, Mapping) else item if isinstance(item, tuple | list) else ()
    shapes = [tuple(x.shape) if is_array(x) else () for x in values if not isinstance(x, str | bytes)]
    return any(not shape for shape in shapes) or len({shape[0] for shape in shapes}) > 1


def are_tokens(data: Any) -> bool:
    """Whether a list holds sequences of tokens, one a row, and no columns: whole numbers of different lengths, or more than a pair."""
    if not isinstance(data, list) or not all(is_array(x) and x.ndim == 1 for x in data):
        return False
    if any(as_tensor(x).is_floating_point() or as_tensor(x).is_complex() for x in data):
        return False
    return len(data) > 2 or len({len(x) for x in data}) > 1


def say_batches(data: Any) -> None:
    """A warning where entries of a list, which are rows, look like batches; ValueError where they can be no rows."""
    if not isinstance(data, list | tuple) or len(data) == 0:
        return
    sizes = [_batch_size(entry) for entry in data]
    if not all(sizes) or max(sizes) < 2:
        return
    if len(set(sizes)) == 1:
        warnings.warn(
            f"data is a list of {len(data)} entries with {sizes[0]} inputs and {sizes[0]} targets each, read as {len(data)} rows; if "
            "they are batches, give the DataLoader itself.",
            stacklevel=6,
        )
    elif not isinstance(data[0], Mapping):  # rows of dictionaries may differ in length
        raise ValueError(
            f"data is a list of {len(data)} batches of up to {max(sizes)} rows; give the DataLoader itself, or one row for each entry."
        )


def _batch_size(entry: Any) -> int:
    """Of inputs and a target that has one number for each of them how many these are; 0 for any other entry."""
    entry = flat(entry)
    if isinstance(entry, Mapping):
        key = next((name for name in TARGETS if name in entry), None)
        columns = [x for name, x in entry.items() if name != key] + ([] if key is None else [entry[key]])
    else:
        columns = list(entry) if isinstance(entry, tuple | list) else []
    if len(columns) < 2 or not all(map(is_array, columns)):
        return 0
    *inputs, target = columns
    count = len(target) if target.ndim else 0
    single = count == torch.Size(target.shape).numel()
    return count if single and all(x.ndim > 1 and len(x) == count for x in inputs) else 0
