"""Tiles of the presets. Their pictures: what both agents lost, or how sure draws are of known digits and of others; in their place,
while answers are hidden, mushrooms for two agents, or digits on a scale."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from app.components.tiles import item
from app.pages.decisions.config import SIDES, DecisionsConfig
from app.pages.decisions.presets import DecisionsPreset
from app.pages.measured import outcomes
from app.style import theme
from app.style.tile_plot import RIGHT, TilePlot, svg

OUTCOMES: Mapping[str, Mapping[str, Any]] = outcomes(__file__)


def _mushroom(x: float, color: str, spots: int, dashed: bool, bruised: bool) -> str:
    """A cap with spots, one for each net, on its stalk; bruises where they count."""
    outline = ' stroke-dasharray="3 2"' if dashed else ""
    cap = f'<path d="M{x} 26a20 17 0 0 1 40 0z" fill="{color}" fill-opacity=".25" stroke="{color}" stroke-width="1.8"{outline}/>'
    stalk = f'<path d="M{x + 15} 26c2 8 1 14 -1 20h12c-2 -6 -3 -12 -1 -20" fill="none" stroke="{color}" stroke-width="1.8"/>'
    places = ((20, 15), (12, 20), (28, 20), (20, 22))[:spots]
    dots = "".join(f'<circle cx="{x + dx}" cy="{dy}" r="2.4" fill="{color}"/>' for dx, dy in places)
    line = f'<path d="M{x + 9} 22L{x + 31} 15" stroke="{color}" stroke-width="2"/>' if not spots else ""
    bruise = f'<path d="M{x + 17} 33l6 6m0 -6l-6 6" stroke="{theme.LOCAL}" stroke-width="2"/>' if bruised else ""
    return cap + stalk + dots + line + bruise


def draw_game(config: DecisionsConfig) -> str:
    """SVG."""
    if config.plays:
        own = config.bandit
        parts = ""
        for k, side in enumerate(SIDES):
            given = getattr(own, side)
            spots = {"linear": 0, "pCSGLD": 1}.get(given["agent"], 4)
            parts += _mushroom(
                10 + 52 * k, theme.SIDES[side], spots, given["policy"] != "mean", own.mushrooms == "exclusive"
            )
        words = "two agents and their mushrooms"
    else:
        unsure = 26 if config.outside.temperature > 1 else 0  # of the known ones too
        known = "".join(f'<text x="{8 + unsure + 11 * k}" y="20">{k}</text>' for k in range(4))
        apart = 12 if config.outside.localization > 100 else 30
        other = "".join(f'<text x="{20 + apart + 12 * k}" y="42">{6 + k}</text>' for k in range(4))
        parts = (
            f'<g font-size="16" font-weight="700" font-family="sans-serif"><g fill="{theme.SIDES["left"]}">{known}</g>'
            f'<g fill="{theme.LOCAL}">{other}</g></g>'
            f'<path d="M4 48H108m-5 -3l5 3l-5 3" fill="none" stroke="{theme.RECENT}" stroke-width="1.4"/>'
        )
        words = "digits from sure to unsure"
    return svg([parts], words)


def draw_outcome(found: Mapping[str, Any]) -> str:
    """SVG of what `lab.benchmarks.accuracy.tiles` has measured: the loss of both agents by rounds, up to the larger; or a histogram of
    the entropy of known digits, filled, and of others, on an axis of square roots, since most known ones lie in the first bin."""
    if entropy := found.get("entropy"):
        heights = {kind: [math.sqrt(share) for share in shares] for kind, shares in entropy.items()}
        points = {kind: list(enumerate(values)) for kind, values in heights.items()}
        plot = TilePlot((0.0, len(heights["inside"]) - 1.0), (0.0, max(max(values) for values in heights.values())))
        parts = [plot.area(points["inside"], theme.SIDES["left"]), plot.line(points["inside"], theme.SIDES["left"])]
        return svg([*parts, plot.line(points["outside"], theme.LOCAL, RIGHT)], "doubt of known digits and of others")
    rows = found["regret"]
    plot = TilePlot((0.0, rows[-1][0]), (0.0, max(max(row[1:]) for row in rows)))
    left, right = ([(row[0], row[k]) for row in rows] for k in (1, 2))
    lines = [plot.line(left, theme.SIDES["left"]), plot.line(right, theme.SIDES["right"], RIGHT)]
    return svg(lines, "what both agents lost, by rounds")


def tile(preset: DecisionsPreset) -> dict[str, str]:
    return item(preset, draw_outcome(OUTCOMES[preset.name]))


def plain_tile(preset: DecisionsPreset) -> dict[str, str]:
    return item(preset, draw_game(preset.config))
