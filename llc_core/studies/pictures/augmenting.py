"""Pictures as they are usually varied while a network learns CIFAR."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

SHIFT = 4


def shifted_and_mirrored(pictures: Tensor, random: torch.Generator) -> Tensor:
    """[B, K, H, W], each moved by up to 4 pixels, 0 where nothing was, and mirrored or not.

    Source: He, Zhang, Ren & Sun 2016, section 4.2.
    """
    count, _, height, width = pictures.shape
    padded = functional.pad(pictures, (SHIFT,) * 4)
    down, right = torch.randint(2 * SHIFT + 1, (2, count), generator=random)
    mirrored = torch.rand(count, generator=random) < 0.5
    columns = torch.arange(width).expand(count, width)
    columns = torch.where(mirrored[:, None], width - 1 - columns, columns) + right[:, None]
    rows = torch.arange(height).expand(count, height) + down[:, None]
    place = pictures.device
    at = torch.arange(count, device=place)[:, None, None]
    moved = padded.permute(0, 2, 3, 1)[at, rows.to(place)[:, :, None], columns.to(place)[:, None, :]]
    return moved.permute(0, 3, 1, 2).contiguous()
