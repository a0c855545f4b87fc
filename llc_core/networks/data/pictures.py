"""Colour pictures of 32 × 32 pixels: CIFAR-10, CIFAR-100 and SVHN from their published files. Nothing is unpickled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from llc_core.fields import choice, whole
from llc_core.networks.data.splits import Split

SIDE = 32
PIXELS = 3 * SIDE * SIDE
LARGEST = 1 << 31
"""Most bytes of a file."""
MOST_PICTURES = 1_000_000
CIFAR10 = ([f"data_batch_{k}.bin" for k in range(1, 6)], ["test_batch.bin"])
CIFAR100 = (["train.bin"], ["test.bin"])
SVHN = ("train_32x32.mat", "test_32x32.mat")


def cifar10(folder: str | Path, rows: int | None = None) -> Split:
    """CIFAR-10, binary version: pictures [n, 3, 32, 32] in [0, 1], ten classes.

    folder: with data_batch_1.bin … data_batch_5.bin and test_batch.bin.  rows: of each part at most so many, the first ones.
    Source: Krizhevsky 2009; https://www.cs.toronto.edu/~kriz/cifar.html.
    Raises ValueError with one sentence where a file is absent, cut off or of another format.
    """
    return _cifar("CIFAR-10", Path(folder), CIFAR10, 1, 0, 10, rows)


def cifar100(folder: str | Path, labels: str = "fine", rows: int | None = None) -> Split:
    """CIFAR-100, binary version: as `cifar10`, with files train.bin and test.bin.

    labels: "fine", 100 classes, or "coarse", 20 of them.
    """
    fine = choice("labels", labels, ("fine", "coarse")) == "fine"
    return _cifar("CIFAR-100", Path(folder), CIFAR100, 2, int(fine), 100 if fine else 20, rows)


def svhn(folder: str | Path, rows: int | None = None) -> Split:
    """SVHN, cropped digits: pictures [n, 3, 32, 32] in [0, 1], ten classes; the files' label 10 is the digit 0.

    folder: with train_32x32.mat and test_32x32.mat.  rows: of each part at most so many, the first ones.
    Source: Netzer et al. 2011; http://ufldl.stanford.edu/housenumbers.
    Raises ValueError with one sentence where a file is absent, cut off or of another format.
    """
    parts: list[Tensor] = []
    for name in SVHN:
        pictures, labels = read_svhn(Path(folder) / name)
        parts += [_unit(pictures[: _most(rows)]), torch.from_numpy(labels[: _most(rows)])]
    return Split("SVHN", *parts)


def _cifar(
    name: str,
    folder: Path,
    files: Sequence[Sequence[str]],
    label_bytes: int,
    which: int,
    classes: int,
    rows: int | None,
) -> Split:
    parts: list[Tensor] = []
    for names in files:
        found = [read_cifar(folder / each, label_bytes, which, classes) for each in names]
        pictures, labels = (np.concatenate(column)[: _most(rows)] for column in zip(*found, strict=True))
        parts += [_unit(pictures), torch.from_numpy(labels)]
    return Split(name, *parts)


def read_cifar(path: Path, label_bytes: int = 1, which: int = 0, classes: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Pictures [n, 3, 32, 32] as bytes and labels [n] of one file of the binary version.

    label_bytes: before each picture, 1 or 2 (coarse, fine); `which` of them is the label, below `classes`.
    """
    content = _bytes(path)
    record = label_bytes + PIXELS
    if not content or len(content) % record:
        raise ValueError(
            f"The file {path} has {len(content):,} bytes, which is no whole number of records of {record:,}; "
            "take the binary version from its source again."
        )
    table = np.frombuffer(content, np.uint8).reshape(-1, record)
    labels = table[:, which].astype(np.int64)
    if int(labels.max()) >= classes:
        row = int(np.argmax(labels >= classes))
        raise ValueError(
            f"The file {path} has label {int(labels[row])} in record {row + 1}, where labels end at {classes - 1}; "
            "take the binary version from its source again."
        )
    return table[:, label_bytes:].reshape(-1, 3, SIDE, SIDE), labels


def read_svhn(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Pictures [n, 3, 32, 32] as bytes and digits [n] of one .mat file of cropped digits."""
    from scipy.io import loadmat, whosmat

    if not _bytes(path, head=6).startswith(b"MATLAB"):
        raise ValueError(f"The file {path} is no MATLAB file; take it from its source again.")
    # What the file says of its arrays comes first: a small compressed file may claim a huge one.
    _check_svhn(path, {name: (shape, kind) for name, shape, kind in _read(path, whosmat)})
    found = _read(path, lambda at: loadmat(at, variable_names=("X", "y")))
    pictures, labels = found["X"], found["y"].astype(np.int64).reshape(-1)
    if pictures.dtype != np.uint8 or int(labels.min()) < 0 or int(labels.max()) > 10:
        raise ValueError(
            f"The file {path} has labels {int(labels.min())} to {int(labels.max())}, where digits are 1 to 10; "
            "take it from its source again."
        )
    return np.ascontiguousarray(pictures.transpose(3, 2, 0, 1)), labels % 10


def _read(path: Path, reader: Callable[[Path], Any]) -> Any:
    try:
        return reader(path)
    except Exception as error:  # scipy's readers raise what they happen to meet in a damaged file
        raise _damaged(path, error) from None


def _check_svhn(path: Path, shapes: dict[str, tuple[tuple[int, ...], str]]) -> None:
    x, y = shapes.get("X"), shapes.get("y")
    count = x[0][3] if x is not None and len(x[0]) == 4 else 0
    if (
        x is None
        or y is None
        or x[0][:3] != (SIDE, SIDE, 3)
        or x[1] != "uint8"
        or not 1 <= count <= MOST_PICTURES
        or int(np.prod(y[0])) != count
    ):
        said = ", ".join(f"{name} {shape[0]}" for name, shape in list(shapes.items())[:4]) or "nothing"
        raise ValueError(
            f"The file {path} holds {said}; cropped digits are X (32, 32, 3, n) of bytes and y with n labels."
        )


def _damaged(path: Path, error: Exception) -> ValueError:
    return ValueError(f"The file {path} cannot be read ({type(error).__name__}); take it from its source again.")


def _bytes(path: Path, head: int | None = None) -> bytes:
    try:
        if path.stat().st_size > LARGEST:
            raise ValueError(f"The file {path} has {path.stat().st_size:,} bytes; at most {LARGEST:,} are read.")
        with path.open("rb") as file:
            return file.read() if head is None else file.read(head)
    except FileNotFoundError:
        raise ValueError(f"The file {path} does not exist; put it there under this name.") from None
    except OSError as error:
        raise _damaged(path, error) from None


def _most(rows: int | None) -> int | None:
    return None if rows is None else whole("rows", rows, 1)


def _unit(pictures: np.ndarray) -> Tensor:
    found: Any = pictures.astype(np.float32)
    return torch.from_numpy(found) / 255
