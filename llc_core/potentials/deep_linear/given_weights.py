"""Weights as users give them, as matrices that were checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from torch import Tensor

from llc_core.fields import is_list


def as_weights(weights: Sequence[Any]) -> list[np.ndarray]:
    if not is_list(weights) or len(weights) == 0:
        raise ValueError("weights must be a list of matrices W_1, …, W_M; give at least one.")
    result: list[np.ndarray] = []
    for index, w in enumerate(weights, start=1):
        w = w.detach().cpu().numpy() if isinstance(w, Tensor) else w
        try:
            matrix = np.array(w, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(f"weights[{index - 1}] is not a matrix of numbers.") from None
        if matrix.ndim != 2 or matrix.size == 0:
            raise ValueError(f"weights[{index - 1}] has shape {matrix.shape}; each layer must be a non-empty matrix.")
        if not np.isfinite(matrix).all():
            raise ValueError(f"weights[{index - 1}] holds nan or infinity; give finite numbers.")
        if result and matrix.shape[1] != result[-1].shape[0]:
            raise ValueError(
                f"weights[{index - 1}] takes {matrix.shape[1]} inputs but the layer before gives {result[-1].shape[0]}; "
                "layers must be W_l of shape [H_l, H_{l-1}]."
            )
        result.append(matrix)
    return result
