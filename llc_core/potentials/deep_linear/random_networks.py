"""Random deep linear networks: the size classes of the benchmark, and three ways to reduce ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from llc_core.compute.streams import numpy_stream
from llc_core.fields import FieldError, choice, is_list, short, whole
from llc_core.theory.rank_tables import masked_rank_table

SIZE_CLASSES: dict[str, tuple[tuple[int, int], tuple[int, int]]] = {
    "1K": ((2, 5), (5, 30)),
    "10K": ((2, 8), (15, 100)),
    "100K": ((2, 10), (50, 500)),
    "1M": ((2, 20), (100, 1000)),
    "10M": ((2, 20), (500, 2000)),
    "100M": ((2, 40), (500, 3000)),
}
"""class → (range of the number of layers, range of the widths). 1K and 10K are ours, the others of Hitchcock & Hoogland
appendix D.1, where H_0 must be drawn too."""
RANKS = ("equal", "full", "paper")
MAX_PARAMETERS = 2_000_000_000


@dataclass(frozen=True)
class RandomNetwork:
    """Weights, the exact table of product ranks, and the JSON from which both are made again."""

    weights: list[np.ndarray]
    rank_table: list[list[int]]
    description: dict[str, Any]


def draw_network(
    size_class: str | None,
    ranks: str | None,
    widths: Sequence[int] | None,
    layer_ranks: Sequence[int] | None,
    seed: int,
) -> RandomNetwork:
    """Xavier-normal layers of these widths and ranks; ValueError with one sentence if they are impossible."""
    random = numpy_stream(seed, "network")
    sizes = asked_widths(size_class, ranks, widths, layer_ranks, random)
    if ranks is None:
        ranks = "full" if size_class is None else "equal"
    size: dict[str, Any] = {"widths": sizes} if size_class is None else {"size_class": size_class}
    description = {**size, "ranks": ranks, "seed": seed}
    layers = len(sizes) - 1
    rows: list[Sequence[int] | None] = [None] * layers
    columns: list[Sequence[int] | None] = [None] * layers
    if layer_ranks is not None:
        wished = check_layer_ranks(sizes, layer_ranks)
        description = {"widths": sizes, "layer_ranks": wished, "seed": seed}
        rows = [
            _some(random, sizes[i + 1], k) if k < min(sizes[i], sizes[i + 1]) else None for i, k in enumerate(wished)
        ]
    elif ranks == "equal":
        keep = int(random.integers(0, min(sizes) + 1))
        rows = [_some(random, sizes[i + 1], keep) for i in range(layers)]
    elif ranks == "paper":
        for i in range(layers):
            if random.random() < 0.5:
                keep = int(random.integers(0, min(sizes[i], sizes[i + 1]) + 1))
                if random.random() < 0.5:
                    rows[i] = _some(random, sizes[i + 1], keep)
                else:
                    columns[i] = _some(random, sizes[i], keep)
    weights = []
    for i in range(layers):
        w = random.standard_normal((sizes[i + 1], sizes[i])) * np.sqrt(2 / (sizes[i] + sizes[i + 1]))
        if rows[i] is not None:
            w[np.setdiff1d(np.arange(sizes[i + 1]), np.asarray(rows[i], dtype=int))] = 0
        if columns[i] is not None:
            w[:, np.setdiff1d(np.arange(sizes[i]), np.asarray(columns[i], dtype=int))] = 0
        weights.append(w)
    return RandomNetwork(weights, masked_rank_table(sizes, rows, columns), description)


def asked_widths(
    size_class: str | None, ranks: str | None, widths: Any, layer_ranks: Any, random: np.random.Generator
) -> list[int]:
    """Widths of a network that is asked for; ValueError as `draw_network`, and nothing is made.

    random: the network's stream, from which a size class draws its widths first.
    """
    if (size_class is None) == (widths is None):
        raise ValueError("Give either size_class (for example '1K') or widths (for example [10, 8, 10]), and not both.")
    if ranks is not None:
        choice("ranks", ranks, RANKS)
    if size_class is not None:
        if layer_ranks is not None:
            raise FieldError("layer_ranks", "needs widths; with a size_class choose ranks='equal', 'full' or 'paper'.")
        return _draw_sizes(size_class, random)
    sizes = check_architecture(widths)
    if layer_ranks is not None:
        check_layer_ranks(sizes, layer_ranks)
    return sizes


def drawn_widths(size_class: str, seed: int) -> list[int]:
    """Widths of the random network, without making its weights; size_class may be an architecture, see `architecture`."""
    return architecture(size_class) or _draw_sizes(size_class, numpy_stream(seed, "network"))


def architecture(text: str) -> list[int] | None:
    """The widths H_0, …, H_M that a text such as "10-8-10" stands for; None where it is the name of a size class.

    ValueError for what is neither.
    """
    parts = text.split("-")
    if len(parts) > 1 and all(part.isascii() and part.isdigit() and len(part) < 8 for part in parts):
        return check_architecture([int(part) for part in parts])
    if text not in SIZE_CLASSES:
        raise ValueError(
            f"size_class is {short(text)}; choose one of {', '.join(SIZE_CLASSES)}, or widths such as '10-8-10'."
        )
    return None


def _draw_sizes(size_class: str, random: np.random.Generator) -> list[int]:
    choice("size_class", size_class, tuple(SIZE_CLASSES))
    (few, many), (narrow, wide) = SIZE_CLASSES[size_class]
    layers = int(random.integers(few, many + 1))
    return [int(h) for h in random.integers(narrow, wide + 1, size=layers + 1)]


def check_architecture(widths: Any) -> list[int]:
    """Validated widths H_0, …, H_M."""
    if not is_list(widths):
        raise FieldError("widths", "must be a list such as [10, 8, 10].")
    if not 2 <= len(widths) <= 1001:
        raise FieldError(
            "widths", f"has {len(widths)} entries; give an input width, an output width and any hidden ones between."
        )
    sizes = [whole(f"widths[{i}]", h, 1, 1_000_000) for i, h in enumerate(widths)]
    total = sum(a * b for a, b in zip(sizes, sizes[1:], strict=False))
    if total > MAX_PARAMETERS:
        raise FieldError(
            "widths", f"make {total} parameters; at most {MAX_PARAMETERS} are allowed: use smaller widths."
        )
    return sizes


def check_layer_ranks(sizes: Sequence[int], layer_ranks: Any) -> list[int]:
    """Validated layer ranks, one for each layer."""
    if not is_list(layer_ranks):
        raise FieldError("layer_ranks", "must be a list with one rank for each layer.")
    if len(layer_ranks) != len(sizes) - 1:
        raise FieldError("layer_ranks", f"has {len(layer_ranks)} entries but the network has {len(sizes) - 1} layers.")
    return [whole(f"layer_ranks[{i}]", k, 0, min(sizes[i], sizes[i + 1])) for i, k in enumerate(layer_ranks)]


def _some(random: np.random.Generator, total: int, keep: int) -> list[int]:
    return sorted(int(i) for i in random.choice(total, size=keep, replace=False))
