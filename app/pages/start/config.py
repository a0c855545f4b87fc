"""What can be set on the page "Start": how far the valley is bent, and how many samples there are."""

from __future__ import annotations

from dataclasses import dataclass

from app.components.drawings.valley import BENDS, SAMPLES
from llc_core.fields import Settings, hyper


@dataclass(frozen=True)
class StartConfig(Settings):
    bend: float = hyper(0.0, *BENDS, help="The valley's shape: 0 a bowl, 1 quartic, 2 flat, 3 a crossing.")
    samples: float = hyper(2.0, *SAMPLES, help="log10 of the number of samples n.")
