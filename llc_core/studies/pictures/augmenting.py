"""Pictures as they are varied while a network learns CIFAR: shifted, mirrored, and with a rectangle erased."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

SHIFT = 4
SMALLEST, LARGEST, NARROWEST, TRIES = 0.02, 0.4, 0.3, 20
"""Shares of the area, least ratio of the sides, and tries for a rectangle that fits."""


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


def erased(pictures: Tensor, random: torch.Generator, chance: float = 0.5) -> Tensor:
    """[B, K, H, W], each with `chance` with one rectangle of random numbers in it, of 2 to 40% of its area.

    Source: Zhong, Zheng, Kang, Li & Yang 2020, algorithm 1; the numbers are normal, as pixels in units of their deviation are.
    """
    found = pictures.clone()
    count, channels, height, width = pictures.shape
    for k in torch.nonzero(torch.rand(count, generator=random) < chance).flatten().tolist():
        for _ in range(TRIES):
            area, ratio, down, right = torch.rand(4, generator=random).tolist()
            area = (SMALLEST + (LARGEST - SMALLEST) * area) * height * width
            ratio = NARROWEST + (1 / NARROWEST - NARROWEST) * ratio
            tall, wide = round((area * ratio) ** 0.5), round((area / ratio) ** 0.5)
            if 0 < tall < height and 0 < wide < width:
                top, left = int(down * (height - tall + 1)), int(right * (width - wide + 1))
                patch = torch.randn(channels, tall, wide, generator=random)
                found[k, :, top : top + tall, left : left + wide] = patch.to(found)
                break
    return found
