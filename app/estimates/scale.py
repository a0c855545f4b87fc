"""The number line from 0 to d/2, as SVG text: how far below the regular value the exact coefficients lie, and where λ̂ is."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from app.style.theme import ESTIMATE, GLOBAL, LOCAL

WIDTH, HEIGHT, EDGE, LINE = 460, 74, 14, 38
REGULAR = 'd/2<tspan class="more">, if regular</tspan>'
SMALL = "<style>@media (max-width: 599px) { text { font-size: 20px; } .below { transform: translateY(7px); } .more { display: none; } }</style>"
"""On a phone the picture is two thirds as large, and its words would be too small to read."""
GIVEN, POLISHED, HAT = "as given", "λ̂ polished", "\u0302"
WIDEST, APART_NAMES = 13.5, 4.0
"""Of a bold letter on a phone, and half the gap between two names."""
APART = 0.012
"""Of the line: two marks nearer than this would melt together."""


def draw_scale(
    half: float | None,
    local: float | None,
    best: float | None,
    llc: float = math.nan,
    se: float = math.nan,
    expected: float | None = None,
    before: tuple[float, float] | None = None,
) -> str:
    """SVG. half: d/2, None where it is too far away to be drawn.  local, best: exact local and global λ, None where they are not known.  llc, se: the estimate, nan while there is none.

    expected: what λ̂ should read at this n, a dotted mark where it is apart from λ.
    before: λ̂ and its error at the w0 that was given, where the estimate is at a polished one.
    """
    numbers = [each for each in (llc, before[0] if before else math.nan) if math.isfinite(each)]
    room = 1.03 if half is not None else 1.3
    top = max([half or 0.0, local or 0.0, 1e-9, *(room * each for each in numbers)])
    low = min([0.0, *(room * each for each in numbers)]) if before else 0.0

    def place(value: float) -> float:
        return EDGE + (WIDTH - 2 * EDGE) * min(max((value - low) / (top - low), 0.0), 1.0)

    parts = [
        f'<line x1="{EDGE}" x2="{WIDTH - EDGE}" y1="{LINE}" y2="{LINE}" stroke="currentColor" stroke-opacity=".35" stroke-width="2"/>',
        _tick(place(0), "currentColor"),
        _label(place(0), LINE + 20, "0"),
    ]
    words = "Number line"
    if half is not None:
        parts.append(_tick(place(half), "currentColor"))
        words += f": half the number of parameters {half:g}"
        if local != half:
            parts.append(_label(place(half), LINE + 20, REGULAR))
    if local is not None:
        parts += _truths(place, half, local, best)
        words += f", local λ {local:g}" + (f", global λ {best:g}" if best is not None else "")
    if expected is not None and (local is None or abs(expected - local) > APART * top):
        parts.append(_tick(place(expected), LOCAL, dotted=True))
    if before is not None and math.isfinite(before[0]):
        words += f", λ̂ at w0 as given {before[0]:.3g}"
        parts += _estimate(place, *before, "none")
        if math.isfinite(llc):
            words += f", λ̂ at the polished w0 {llc:.3g}"
            parts += _estimate(place, llc, se, ESTIMATE)
            parts += _side_by_side(sorted([(place(before[0]), GIVEN), (place(llc), POLISHED)]))
    elif math.isfinite(llc):
        words += f", λ̂ {llc:.3g}"
        parts += [*_estimate(place, llc, se, ESTIMATE), _label(place(llc), LINE - 16, "λ̂", weight=700)]
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{words}" '
        f'style="width:100%;max-width:620px;height:auto;display:block">{SMALL}{"".join(parts)}</svg>'
    )


def _estimate(place: Callable[[float], float], llc: float, se: float, fill: str) -> list[str]:
    """A disc, with a bar of two errors to either side."""
    parts = []
    if math.isfinite(se):
        low, high = place(llc - 2 * se), place(llc + 2 * se)
        parts.append(
            f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{LINE}" y2="{LINE}" stroke="{ESTIMATE}" stroke-opacity=".45" stroke-width="9"/>'
        )
    ring = f' stroke="{ESTIMATE}" stroke-width="2"' if fill == "none" else ""
    return [*parts, f'<circle cx="{place(llc):.1f}" cy="{LINE}" r="5.5" fill="{fill}"{ring}/>']


def _side_by_side(marks: list[tuple[float, str]]) -> list[str]:
    """Names of two marks above the line, from left to right: they neither touch nor leave the picture, on a phone as well."""
    (left, first), (right, second) = marks
    room = [WIDEST * len(name.replace(HAT, "")) for name in (first, second)]
    left, right = max(left, room[0] / 2), min(right, WIDTH - room[1] / 2)
    if right - left > (room[0] + room[1]) / 2:
        return [_name(left, "middle", first), _name(right, "middle", second)]
    between = min(max((left + right) / 2, room[0]), WIDTH - room[1])
    return [_name(between - APART_NAMES, "end", first), _name(between + APART_NAMES, "start", second)]


def _name(x: float, anchor: str, name: str) -> str:
    return (
        f'<text x="{x:.1f}" y="{LINE - 12}" text-anchor="{anchor}" font-size="13" font-weight="700" font-family="inherit" '
        f'fill="currentColor">{name}</text>'
    )


def _truths(place: Callable[[float], float], half: float | None, local: float, best: float | None) -> list[str]:
    """The marks of the exact coefficients, in one colour where they are one."""
    if best is None or best == local:
        return [_tick(place(local), LOCAL), _label(place(local), LINE + 20, "λ = d/2" if local == half else "λ")]
    return [
        _tick(place(local), LOCAL),
        _tick(place(best), GLOBAL),
        _label(place(local), LINE + 20, "local λ", 1),
        _label(place(best), LINE + 20, "global λ", -1),
    ]


def _tick(x: float, color: str, dotted: bool = False) -> str:
    dash = ' stroke-dasharray="3 2.6"' if dotted else ""
    return f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{LINE - 9}" y2="{LINE + 9}" stroke="{color}" stroke-width="3"{dash}/>'


def _label(x: float, y: float, text: str, side: int = 0, weight: int = 400) -> str:
    """side: 1 to the right of x, -1 to its left, 0 in the middle; always inside the picture, however large the words are."""
    half = 3.6 * len(re.sub("<[^>]*>", "", text))
    centre = x + side * (half - 4)
    at, anchor = {1: (x - 4, "start"), -1: (x + 4, "end"), 0: (x, "middle")}[side]
    if centre < half + 1:
        at, anchor = 1, "start"
    elif centre > WIDTH - half - 1:
        at, anchor = WIDTH - 1, "end"
    return (
        f'<text class="{"below" if y > LINE else ""}" x="{at:.1f}" y="{y + 4}" text-anchor="{anchor}" font-size="13" font-weight="{weight}" '
        f'font-family="inherit" fill="currentColor">{text}</text>'
    )
