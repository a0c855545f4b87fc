"""Digits that are learned, and digits that are never shown: what "does it notice?" is asked of."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from llc_core.compute.streams import torch_stream
from llc_core.fields import whole
from llc_core.networks.data import Split, digits

KNOWN = 5
"""Digits below are learned."""


@dataclass(frozen=True)
class Halves:
    """known: digits 0 to 4, a fifth of them held out.  foreign [Q, 64], foreign_targets [Q]: all digits 5 to 9."""

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
