"""The table and the picture of the section "Errors on new data"."""

from __future__ import annotations

from collections.abc import Sequence

from app.style import theme
from app.style.numbers import with_error, with_minus
from llc_core.studies.data_errors import DataErrors, Summary

ROWS = (
    ("bayes_generalisation", "new data, averaged prediction", "λ"),
    ("waic", "WAIC: a guess of it, from training data", "λ"),
    ("sum", "half the sum of these two", "λ"),
    ("gibbs_generalisation", "new data, one drawn network", "λ + ν"),
    ("bayes_training", "training data, averaged prediction", "λ − 2ν"),
    ("gibbs_training", "training data, one drawn network", "λ − ν"),
)
STYLE = """
.both { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 300px), 1fr)); gap: 16px 24px; align-items: start; }
th[scope=row] { white-space: normal; }
figure { margin: 0; max-width: 340px; }
figcaption { font-size: .875rem; line-height: 1.35; }
svg { display: block; width: 100%; height: auto; }
svg text { font-size: 14px; fill: currentColor; }
"""
WIDTH, HEIGHT, LEFT, FOOT = 320, 240, 56, 40
EDGE = 0.2
"""Of λ, between the outermost dot and the frame."""


def table(seen: Summary) -> str:
    """HTML: what was measured, and what theory says."""
    body = "".join(
        f"<tr><th scope=row>{name}</th><td>{signed(seen.means[key], seen.errors[key])}</td>"
        f"<td>{formula} = {plain(seen.expected[key])}</td></tr>"
        for key, name, formula in ROWS
    )
    head = "".join(f"<th scope=col>{name}</th>" for name in ("error × n", "measured ± s.e.", "theory"))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def scatter(found: Sequence[DataErrors], coefficient: float) -> str:
    """HTML: one dot for each data set, WAIC across and the error on new data upwards; the line on which their sum is 2λ."""
    pairs = [(each.waic, each.errors.bayes_generalisation, each.trusted) for each in found]
    values = [value for waic, new, _ in pairs for value in (waic, new)]
    low, high = min(0.0, *values) - EDGE * coefficient, max(2 * coefficient, *values) + EDGE * coefficient

    def place(across: float, up: float) -> tuple[float, float]:
        x = LEFT + (WIDTH - LEFT - 10) * (across - low) / (high - low)
        return x, HEIGHT - FOOT - (HEIGHT - FOOT - 10) * (up - low) / (high - low)

    dots = "".join(
        f'<circle cx="{place(waic, new)[0]:.1f}" cy="{place(waic, new)[1]:.1f}" r="4" '
        f'fill="{theme.ESTIMATE if trusted else theme.RECENT}"/>'
        for waic, new, trusted in pairs
    )
    start, stop = max(low, 2 * coefficient - high), min(high, 2 * coefficient - low)
    (x0, y0), (x1, y1) = place(start, 2 * coefficient - start), place(stop, 2 * coefficient - stop)
    line = f'<path d="M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}" stroke="{theme.TRUTH}" stroke-width="2" stroke-dasharray="8 5"/>'
    foot, mid = HEIGHT - FOOT, (HEIGHT - FOOT) / 2
    ends = "".join(
        f'<text x="{place(at, low)[0]:.0f}" y="{foot + 16}" text-anchor="middle">{plain(at)}</text>'
        f'<text x="{LEFT - 6}" y="{place(low, at)[1] + 5:.0f}" text-anchor="end">{plain(at)}</text>'
        for at in (0.0, coefficient, 2 * coefficient)
        if low <= at <= high
    )
    frame = f'<path d="M{LEFT} 10V{foot}H{WIDTH - 10}" stroke="currentColor" stroke-opacity=".4" fill="none"/>'
    names = (
        f'<text x="{(LEFT + WIDTH) / 2:.0f}" y="{HEIGHT - 4}" text-anchor="middle">WAIC</text>'
        f'<text x="14" y="{mid:.0f}" text-anchor="middle" transform="rotate(-90 14 {mid:.0f})">new data</text>'
    )
    words = "One dot for each data set. Orange: their sum is 2λ, as theory says."
    return (
        f'<figure><svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="WAIC and the error on new data">'
        f"{frame}{line}{dots}{ends}{names}</svg><figcaption>{words}</figcaption></figure>"
    )


def plain(value: float) -> str:
    """A 0 has no sign."""
    return with_minus(f"{round(value, 1) + 0.0:g}")


def signed(value: float, error: float) -> str:
    return with_minus(with_error(value, error))
