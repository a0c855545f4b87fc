"""How often each bin was visited."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from llc_core.bins import Bins


class Counter:
    """Weighted counts of where the chains of each setting are, kept on their device: [S, count + 2] in float64.

    Chains are ordered chain-major: row c·S + s is chain c of setting s.
    """

    def __init__(self, bins: Bins, settings: int, chains: int, device: torch.device):
        self.bins, self.settings = bins, settings
        wide = torch.float32 if device.type == "mps" else torch.float64
        self._counts = torch.zeros(settings * (bins.count + 2), dtype=wide, device=device)
        self._row = torch.arange(settings, device=device).repeat(chains) * (bins.count + 2)

    def add(self, x: Tensor, sound: Tensor, weight: float = 1.0) -> None:
        """x: [C] positions.  sound: [C], whether a chain counts; positions that are not finite count nowhere."""
        finite = torch.isfinite(x) & sound
        place = ((x - self.bins.low) / self.bins.width).nan_to_num(0.0).floor_().clamp_(-1, self.bins.count)
        self._counts.index_add_(0, self._row + place.long() + 1, finite.to(self._counts.dtype) * weight)

    def clear(self) -> None:
        self._counts.zero_()

    def counts(self) -> np.ndarray:
        return self._counts.view(self.settings, -1).double().cpu().numpy().copy()
