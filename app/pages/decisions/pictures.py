"""Tiles of the presets. Their pictures: mushrooms for two agents, or digits on a scale."""

from __future__ import annotations

from app.pages.decisions.config import SIDES, DecisionsConfig
from app.pages.decisions.presets import DecisionsPreset
from app.style import theme

WIDTH, HEIGHT = 112, 52


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
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{words}">{parts}</svg>'


def tile(preset: DecisionsPreset) -> dict[str, str]:
    return {
        "name": preset.name, "title": preset.title, "tip": preset.lesson, "picture": draw_game(preset.config),
    }  # fmt: skip
