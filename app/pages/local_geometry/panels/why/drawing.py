"""The error split as one drawing, for slides and papers: the page itself shows it as a list with sentences."""

from __future__ import annotations

from html import escape

from app.pages.local_geometry.panels.why.job import frame, short_label, value_text
from app.style import theme
from llc_core.studies.explain.parts import Explanation

WIDTH, ROW, TOP = 640, 34, 44
LEFT, RIGHT = 190, 510
"""Ends of the bars; names stand before, values behind."""


def drawing(found: Explanation) -> str:
    """SVG: title, a row for each part and one for the sum, each a bar with two standard errors and its value."""
    rows = [(short_label(p), p.value, p.se, theme.ESTIMATE) for p in found.parts]
    low, high = frame([(value, se) for _, value, se, _ in rows] + [(found.total, 0.0)])
    rows.append((f"sum: λ̂ − {found.truth_label}", found.total, 0.0, theme.RECENT))

    def place(x: float) -> float:
        return LEFT + (RIGHT - LEFT) * (x - low) / (high - low)

    def text(x: float, y: float, words: str, anchor: str = "start", weight: int = 400, size: int = 13) -> str:
        return (
            f'<text x="{x}" y="{y}" text-anchor="{anchor}" font-weight="{weight}" font-size="{size}" fill="currentColor">'
            f"{escape(words)}</text>"
        )

    height = TOP + ROW * len(rows) + 10
    parts = [text(12, 26, f"Why λ̂ = {value_text(found.llc, 0).lstrip('+')}?", weight=700, size=16)]
    for i, (label, value, se, color) in enumerate(rows):
        y = TOP + ROW * i + ROW / 2
        left, right = sorted((place(0), place(value)))
        parts.append(text(LEFT - 12, y + 4, label, "end", 700 if i == len(rows) - 1 else 400))
        parts.append(f'<rect x="{left:.1f}" y="{y - 9}" width="{right - left:.1f}" height="18" rx="2" fill="{color}"/>')
        if se > 0:
            first, last = place(value - 2 * se), place(value + 2 * se)
            parts.append(
                f'<path d="M{first:.1f} {y}H{last:.1f}M{first:.1f} {y - 5}v10M{last:.1f} {y - 5}v10" stroke="currentColor" '
                'stroke-width="1.5" fill="none"/>'
            )
        parts.append(text(WIDTH - 12, y + 4, value_text(value, found.total_se if i == len(rows) - 1 else se), "end"))
    zero = place(0)
    parts.append(f'<path d="M{zero:.1f} {TOP - 2}V{height - 8}" stroke="currentColor" stroke-opacity=".55"/>')
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="Error split: bars of the measured causes">'
        f"{''.join(parts)}</svg>"
    )
