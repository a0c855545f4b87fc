"""A small task of pictures and quick settings for it, for tests of classifiers."""

from __future__ import annotations

import dataclasses

import torch

from llc_core.compute.streams import torch_stream
from llc_core.networks import Split
from llc_core.networks.published import SMALL
from llc_core.studies.pictures import PictureTask

NET = {"kind": "small_cnn", "side": 8, "channels": [2, 2]}
QUICK = dataclasses.replace(
    SMALL["ResNet-20"], description=NET, epochs=4, milestones=(2, 3), draws_from=2, batch_size=32, cycles=2, chains=3
)


def task(rows: int = 64) -> PictureTask:
    random = torch_stream(0, "task")
    x, targets = torch.rand(2 * rows, 64, generator=random), torch.arange(2 * rows) % 2
    x[targets == 1, :32] += 1.0
    foreign = torch.rand(40, 64, generator=random) * 3
    return PictureTask(Split("made", x[:rows], targets[:rows], x[rows:], targets[rows:]), foreign, 2)
