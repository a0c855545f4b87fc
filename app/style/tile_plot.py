"""Measured numbers as a small plot on the tile of a preset."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

WIDTH, HEIGHT, EDGE = 112, 52, 4
RIGHT = "5 3"
"""Dashes of the right side's lines, as in the figures of pages."""


@dataclass(frozen=True)
class TilePlot:
    """x, y: what lies at the left and right edge, and at the foot and the top. Values beyond the foot or the top are drawn at it.

    top: where the plot begins, in px of the picture's 52.
    """

    x: tuple[float, float]
    y: tuple[float, float]
    top: int = EDGE

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Place in the picture, in px."""
        share = min(max((y - self.y[0]) / (self.y[1] - self.y[0]), 0.0), 1.0)
        across = (x - self.x[0]) / (self.x[1] - self.x[0])
        return EDGE + (WIDTH - 2 * EDGE) * across, HEIGHT - EDGE - (HEIGHT - EDGE - self.top) * share

    def line(self, points: Iterable[Sequence[float | None]], color: str, dash: str = "", width: float = 2) -> str:
        """SVG of a line through the points that are known."""
        path = self._path(points)
        broken = f' stroke-dasharray="{dash}"' if dash else ""
        drawn = f'fill="none" stroke="{color}" stroke-width="{width:g}" stroke-linejoin="round"{broken}'
        return f'<path d="M{path}" {drawn}/>' if path else ""

    def area(self, points: Sequence[tuple[float, float]], color: str) -> str:
        """SVG of what lies below a line."""
        foot = HEIGHT - EDGE
        first, last = (self.at(points[k][0], 0)[0] for k in (0, -1))
        return (
            f'<path d="M{first:.1f} {foot}L{self._path(points)}L{last:.1f} {foot}Z" fill="{color}" fill-opacity=".42"/>'
        )

    def dots(self, points: Iterable[Sequence[float]], color: str, square: bool = False) -> str:
        """SVG of discs, or of squares."""
        places = [self.at(x, y) for x, y in points]
        if square:
            return "".join(
                f'<rect x="{x - 2.6:.1f}" y="{y - 2.6:.1f}" width="5.2" height="5.2" fill="{color}"/>'
                for x, y in places
            )
        return "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>' for x, y in places)

    def _path(self, points: Iterable[Sequence[float | None]]) -> str:
        places = [self.at(x, y) for x, y in points if x is not None and y is not None]
        return "L".join(f"{x:.1f} {y:.1f}" for x, y in places)


def svg(parts: Iterable[str], label: str) -> str:
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">{"".join(parts)}</svg>'
