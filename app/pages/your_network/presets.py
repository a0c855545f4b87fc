"""Tiles of the page "Your network". Lessons state what tests/app/pages/your_network/test_page.py measures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.pages.preset import Named


@dataclass(frozen=True)
class NetworkPreset(Named):
    """config: what `app.pages.your_network.scene.link_config` reads.  shape: units of each layer on the tile."""

    config: Mapping[str, Any] = field(default_factory=dict)
    shape: tuple[int, ...] = (5, 4, 3)


PRESETS = (
    NetworkPreset(
        "trained",
        "Trained",
        "A network of 2,410 parameters that reads digits. λ̂ is only a few; d/2 would be 1,205.",
        {"network": "small", "steps": 3000},
    ),
    NetworkPreset(
        "halfway",
        "Half-way",
        "The same network after 100 steps: no minimum yet. Pin it and compare it with the trained one.",
        {"network": "small", "checkpoint": 100},
    ),
    NetworkPreset(
        "start",
        "Not trained",
        "Before training w0 is no minimum: nearby the loss is lower, and λ̂ is negative. The verdict says so.",
        {"network": "small", "checkpoint": 0},
    ),
    NetworkPreset(
        "layer",
        "One layer",
        "Only the last layer moves: λ̂ of a part of the network, while the rest is frozen.",
        {"network": "deep", "part": "layer:4", "steps": 4000},
        (5, 4, 4, 3),
    ),
    NetworkPreset(
        "entropy",
        "Entropy-SGD",
        "The deeper network, trained by entropy-SGD, which looks for wide valleys. Compare it with plain SGD.",
        {"network": "deep", "optimizer": "Entropy-SGD", "steps": 3000},
        (5, 4, 4, 3),
    ),
    NetworkPreset(
        "head",
        "One head",
        "A transformer on tokens: only the first attention head of layer 1 moves.",
        {"network": "heads", "part": "head:0.0"},
        (3, 3, 3),
    ),
)
