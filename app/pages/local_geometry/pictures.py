"""Drawings as SVG text: a linear network has one column per layer of units, and ribbons between them with the kept rank shaded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from app.style.theme import ESTIMATE, TRUTH
from app.style.tile_plot import WIDTH, TilePlot, svg

MANY_UNITS = 14
"""Wider layers are drawn as bars, since single dots would melt together."""
SIDE = 18
"""Room beside the first and the last layer, where they have labels."""
MANY_LAYERS = 10
"""Deeper networks get no labels for ranks and only the first and last widths."""


def draw_network(
    widths: Sequence[int],
    ranks: Sequence[int] | None = None,
    *,
    width: int = 320,
    height: int = 150,
    labels: bool = True,
) -> str:
    """SVG of a network with the given widths [M + 1] and layer ranks [M] (None: full)."""
    full = [min(a, b) for a, b in zip(widths, widths[1:], strict=False)]
    kept = list(ranks) if ranks is not None else full
    top, bottom, side = (16, 22, SIDE) if labels else (4, 4, 8)
    xs = [side + i * (width - 2 * side) / (len(widths) - 1) for i in range(len(widths))]
    room, middle = height - top - bottom, top + (height - top - bottom) / 2
    most = max(widths)
    heights = [max(6.0, room * _share(w, most)) for w in widths]
    few = len(widths) - 1 <= MANY_LAYERS
    parts = []
    for i, (k, limit) in enumerate(zip(kept, full, strict=True)):
        left, right = xs[i], xs[i + 1]
        parts.append(_ribbon(left, heights[i], right, heights[i + 1], middle, "currentColor", 0.09))
        if k:
            shares = k / widths[i], k / widths[i + 1]
            parts.append(
                _ribbon(left, heights[i] * shares[0], right, heights[i + 1] * shares[1], middle, ESTIMATE, 0.38)
            )
        if labels and few:
            weight = 400 if k == limit else 700
            parts.append(_text((left + right) / 2, 11, f"rank {k}", weight=weight, size=10.5 if len(kept) < 6 else 9))
    for i, (x, w, h) in enumerate(zip(xs, widths, heights, strict=True)):
        parts.append(_units(x, middle, w, h, most))
        if labels and (few or i in (0, len(widths) - 1)):
            parts.append(_text(x, height - 6, str(w), weight=700, size=12))
    described = escape(f"Network of widths {', '.join(map(str, widths))} with layer ranks {', '.join(map(str, kept))}")
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{described}" '
        f'style="width:100%;height:auto;display:block">{"".join(parts)}</svg>'
    )


def draw_outcome(widths: Sequence[int], ranks: Sequence[int], shares: Sequence[float | None]) -> str:
    """SVG of a network, and below it how its estimate goes: the moving average as a share of the value that it should have.

    That value is the dotted line. shares: along the run; None where no chain lived. What is above twice the value is cut off.
    """
    top, last = 28, max(len(shares) - 1.0, 1.0)
    network = draw_network(widths, ranks, width=WIDTH, height=top, labels=False)
    network = network.replace("<svg ", f'<svg width="{WIDTH}" height="{top}" ', 1).replace(
        "width:100%;height:auto;", ""
    )
    plot = TilePlot((0.0, last), (0.0, 2.0), top)
    level = plot.line([(0.0, 1.0), (last, 1.0)], TRUTH, "2 3", 1.6)
    return svg([network, level, plot.line(enumerate(shares), ESTIMATE)], "how the estimate goes")


def _share(width: int, most: int) -> float:
    """Height of a column: proportional for narrow networks, by square root for wide ones."""
    return width / most if most <= MANY_UNITS else math.sqrt(width / most)


def _ribbon(x1: float, h1: float, x2: float, h2: float, middle: float, fill: str, opacity: float) -> str:
    points = f"{x1:.1f},{middle - h1 / 2:.1f} {x2:.1f},{middle - h2 / 2:.1f} {x2:.1f},{middle + h2 / 2:.1f} {x1:.1f},{middle + h1 / 2:.1f}"
    return f'<polygon points="{points}" fill="{fill}" fill-opacity="{opacity}"/>'


def _units(x: float, middle: float, width: int, height: float, most: int) -> str:
    if most > MANY_UNITS:
        return f'<rect x="{x - 3.5:.1f}" y="{middle - height / 2:.1f}" width="7" height="{height:.1f}" rx="3.5" fill="currentColor"/>'
    gap = height / width
    radius = min(4.5, 0.36 * gap)
    centres = (middle - height / 2 + (i + 0.5) * gap for i in range(width))
    return "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="currentColor"/>' for y in centres)


def _text(x: float, y: float, text: str, weight: int, size: float) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" font-size="{size}" font-weight="{weight}" '
        f'font-family="inherit" fill="currentColor">{escape(text)}</text>'
    )
