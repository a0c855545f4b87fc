"""Residual networks for small pictures: ResNet-20, 32, 56 and wide ones such as WRN-16-8, and narrow copies for a CPU."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from llc_core.compute.precision import SINGLE
from llc_core.fields import choice, whole

NORMS = ("batch", "group")
GROUPS = 4


def _norm(kind: str, channels: int) -> nn.Module:
    if kind == "batch":
        return nn.BatchNorm2d(channels, **SINGLE)
    return nn.GroupNorm(GROUPS if channels % GROUPS == 0 else 1, channels, **SINGLE)


def _conv(inputs: int, outputs: int, stride: int = 1, size: int = 3) -> nn.Conv2d:
    return nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False, **SINGLE)


class Block(nn.Module):
    """x ↦ relu(shortcut(x) + norm(conv(relu(norm(conv(x)))))); the shortcut skips pixels and pads channels with zeros (option A)."""

    def __init__(self, inputs: int, outputs: int, stride: int, norm: str):
        super().__init__()
        self.conv1, self.norm1 = _conv(inputs, outputs, stride), _norm(norm, outputs)
        self.conv2, self.norm2 = _conv(outputs, outputs), _norm(norm, outputs)
        self.stride, self.padding = stride, outputs - inputs

    def forward(self, x: Tensor) -> Tensor:
        inner = self.norm2(self.conv2(torch.relu(self.norm1(self.conv1(x)))))
        short = x[:, :, :: self.stride, :: self.stride]
        return torch.relu(
            inner + functional.pad(short, (0, 0, 0, 0, self.padding // 2, self.padding - self.padding // 2))
        )


class WideBlock(nn.Module):
    """Norm and relu come before each convolution; where the shape changes, the shortcut is a 1 × 1 convolution of what they give."""

    def __init__(self, inputs: int, outputs: int, stride: int, norm: str):
        super().__init__()
        self.norm1, self.conv1 = _norm(norm, inputs), _conv(inputs, outputs, stride)
        self.norm2, self.conv2 = _norm(norm, outputs), _conv(outputs, outputs)
        changes = stride != 1 or inputs != outputs
        self.shortcut = _conv(inputs, outputs, stride, 1) if changes else None

    def forward(self, x: Tensor) -> Tensor:
        ready = torch.relu(self.norm1(x))
        inner = self.conv2(torch.relu(self.norm2(self.conv1(ready))))
        return inner + (x if self.shortcut is None else self.shortcut(ready))


def _stages(block: type[nn.Module], first: int, widths: list[int], each: int, norm: str) -> list[nn.Module]:
    found: list[nn.Module] = []
    before = first
    for stage, width in enumerate(widths):
        for k in range(each):
            made: Any = block(before, width, 2 if stage and not k else 1, norm)
            found.append(made)
            before = width
    return found


class _Mean(nn.Module):
    """Over all pixels: [B, C, H, W] → [B, C]."""

    def forward(self, x: Tensor) -> Tensor:
        return x.mean(dim=(2, 3))


def _shaped(side: int, channels: int) -> list[nn.Module]:
    """Rows [B, channels·side²] as pictures; pictures [B, channels, side, side] pass as they are."""
    return [nn.Flatten(), nn.Unflatten(1, (channels, side, side))]


def resnet(
    depth: int = 20, classes: int = 10, channels: int = 3, side: int = 32, width: int = 16, norm: str = "batch"
) -> nn.Module:
    """Three stages of (depth − 2)/6 blocks with width, 2·width and 4·width channels. Inputs [B, channels, side, side], or as rows.

    ResNet-20, 32 and 56 of Deng et al. 2022 have the width 16; a width of 4 is for a CPU.
    norm: "batch", or "group", under which a picture's output does not depend on the others of its batch, so that λ̂ and chains
    can be had of it.
    Source: He, Zhang, Ren & Sun 2016, section 4.2, with option A. ValueError where depth is not 6n + 2.
    """
    depth, classes, channels, side, width = _checked(depth, classes, channels, side, width)
    if depth < 8 or (depth - 2) % 6:
        raise ValueError(f"depth is {depth}; it must be 6n + 2, such as 20, 32 or 56.")
    kind = choice("norm", norm, NORMS)
    blocks = _stages(Block, width, [width, 2 * width, 4 * width], (depth - 2) // 6, kind)
    return nn.Sequential(
        *_shaped(side, channels),
        *(_conv(channels, width), _norm(kind, width), nn.ReLU()),
        *blocks,
        *(_Mean(), nn.Linear(4 * width, classes, **SINGLE)),
    )


def wide_resnet(
    depth: int = 16,
    factor: int = 8,
    classes: int = 10,
    channels: int = 3,
    side: int = 32,
    width: int = 16,
    norm: str = "batch",
) -> nn.Module:
    """WRN-depth-factor: three stages of (depth − 4)/6 blocks with factor·width, 2·factor·width and 4·factor·width channels.

    Other fields as of `resnet`. Source: Zagoruyko & Komodakis 2016, without dropout. ValueError where depth is not 6n + 4.
    """
    depth, classes, channels, side, width = _checked(depth, classes, channels, side, width)
    if depth < 10 or (depth - 4) % 6:
        raise ValueError(f"depth is {depth}; it must be 6n + 4, such as 16 or 28.")
    kind, wide = choice("norm", norm, NORMS), width * whole("factor", factor, 1, 64)
    blocks = _stages(WideBlock, width, [wide, 2 * wide, 4 * wide], (depth - 4) // 6, kind)
    return nn.Sequential(
        *_shaped(side, channels),
        _conv(channels, width),
        *blocks,
        *(_norm(kind, 4 * wide), nn.ReLU(), _Mean(), nn.Linear(4 * wide, classes, **SINGLE)),
    )


def _checked(depth: int, classes: int, channels: int, side: int, width: int) -> tuple[int, int, int, int, int]:
    return (
        whole("depth", depth, 1, 1000),
        whole("classes", classes, 2, 1_000_000),
        whole("channels", channels, 1, 1024),
        whole("side", side, 4, 4096),
        whole("width", width, 1, 1024),
    )
