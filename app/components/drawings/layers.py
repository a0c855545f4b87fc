"""A network drawn layer by layer: each tensor a small picture of all its weights, and between units lines for the largest of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import param
from panel.custom import JSComponent

from app.components.base import BASE, text_beside

STEPS = 127
"""Steps of a weight to either side of 0: more than an eye tells apart in a colour."""


class Layers(JSComponent):
    """tensors: one dictionary each, in the network's order. Keys: name and shape, in words; part: the box that it lies in;
    rows, columns; moves: how many of its entries may move; heads, along: number of heads and whether they share its "rows" or
    its "columns".

    w0, displaced: `packed` weights and displacements, all entries of all tensors.  moves: one byte each, 1 where it may move.
    widths: of the layers of units, where the tensors are matrices and biases in turn; else empty.
    """

    tensors = param.List([])
    widths = param.List([])
    w0 = param.Bytes(b"")
    moves = param.Bytes(b"")
    displaced = param.Bytes(b"", doc="Of the first chain; empty before it has moved.")

    _stylesheets = [BASE, text_beside(__file__, "layers.css")]

    _esm = text_beside(__file__, "layers.js")


def packed(values: Sequence[np.ndarray]) -> bytes:
    """The largest size in each tensor as float32, then every entry as a share of it in `STEPS` steps, one byte each."""
    largest = np.array([np.abs(each).max(initial=0.0) for each in values], dtype="<f4")
    shares = [
        np.rint(each.ravel() * (STEPS / most if most > 0 else 0.0)) for each, most in zip(values, largest, strict=True)
    ]
    return largest.tobytes() + np.concatenate(shares).astype(np.int8).tobytes()
