"""Headings of figures with their legends as HTML: beside the data, wrapping on a phone, in the colours of the theme."""

from __future__ import annotations

import time
from collections.abc import Sequence
from html import escape

import panel as pn

from app.style import theme

_SWATCHES = {
    "estimate": (
        f'<rect y="2" width="26" height="10" fill="{theme.ESTIMATE}" fill-opacity=".28"/>'
        f'<path d="M0 7h26" stroke="{theme.ESTIMATE}" stroke-width="3"/>'
    ),
    "pinned": (
        f'<rect y="2" width="26" height="10" fill="{theme.PINNED}" fill-opacity=".22"/>'
        f'<path d="M0 7h26" stroke="{theme.PINNED}" stroke-width="3" stroke-dasharray="6 3"/>'
    ),
    "recent": f'<path d="M0 7h26" stroke="{theme.RECENT}" stroke-width="1.5"/>',
    "local": f'<path d="M0 7h26" stroke="{theme.LOCAL}" stroke-width="2"/>',
    "global": f'<path d="M0 7h26" stroke="{theme.GLOBAL}" stroke-width="2" stroke-dasharray="9 4"/>',
    "expected": f'<path d="M0 7h26" stroke="{theme.EXPECTED}" stroke-width="2" stroke-dasharray="2 3"/>',
    "histogram": (
        f'<path d="M0 13V8h6V3h7v3h6v4h7v3z" fill="{theme.HISTOGRAM}" fill-opacity=".35" stroke="{theme.HISTOGRAM}"/>'
    ),
    "target": f'<path d="M0 7h26" stroke="{theme.TARGET}" stroke-width="2.5"/>',
    "predicted": f'<path d="M0 7h26" stroke="{theme.PREDICTED}" stroke-width="2.5" stroke-dasharray="9 4"/>',
    "exact": f'<path d="M0 7h26" stroke="{theme.EXACT}" stroke-width="2.5" stroke-dasharray="2 3"/>',
    "floor": f'<path d="M0 7h26" stroke="{theme.RECENT}" stroke-width="1.5" stroke-dasharray="2 3"/>',
    "left": f'<path d="M0 7h26" stroke="{theme.SIDES["left"]}" stroke-width="2.5"/>',
    "left_dashed": f'<path d="M0 7h26" stroke="{theme.SIDES["left"]}" stroke-width="2.5" stroke-dasharray="9 4"/>',
    "right": f'<path d="M0 7h26" stroke="{theme.SIDES["right"]}" stroke-width="2.5"/>',
    "right_dashed": f'<path d="M0 7h26" stroke="{theme.SIDES["right"]}" stroke-width="2.5" stroke-dasharray="9 4"/>',
    "band": (
        f'<rect y="1" width="26" height="12" fill="{theme.ESTIMATE}" fill-opacity=".25"/>'
        f'<path d="M0 7h26" stroke="{theme.ESTIMATE}" stroke-width="2.5"/>'
    ),
    "one_chain": f'<path d="M0 8l4-4 4 6 5-8 4 7 4-5 5 4" fill="none" stroke="{theme.ONE_CHAIN}" stroke-width="1.3"/>',
    "marginal": (
        f'<path d="M2 0h3v3h6v3h11v3H9v3H2z" fill="{theme.ESTIMATE}" fill-opacity=".4"/>'
        f'<path d="M2 7h24" stroke="{theme.ESTIMATE}" stroke-width="2.5"/>'
    ),
    "chains": "".join(
        f'<path d="M0 {2 + 3.3 * i}h26" stroke="{color}" stroke-width="1.5"/>'
        for i, color in enumerate(theme.CHAINS[:4])
    ),
}


def legend(title: str, entries: Sequence[tuple[str, str]], figures: str = "", headed: bool = True) -> pn.pane.HTML:
    """Heading and legend of a figure. See `legend_html`."""
    return pn.pane.HTML(
        legend_html(title, entries, figures, headed),
        sizing_mode="stretch_width",
        margin=0,
        stylesheets=[theme.TEXT, theme.LEGEND],
    )


def legend_html(
    title: str, entries: Sequence[tuple[str, str]], figures: str = "", headed: bool = True, summary: str = ""
) -> str:
    """entries: kind of line (or its SVG shapes) and what it stands for.

    figures: names of the figures it belongs to, with spaces between; it is written over them when they are saved.
    headed: whether the page shows the title here.  summary: what the figure shows, in words that are heard and not seen.
    """
    items = "".join(f"<li>{swatch(kind)}{escape(words)}</li>" for kind, words in entries)
    head = f"<h2>{escape(title)}</h2>" if headed else ""
    heard = heard_html(figures, summary)
    return f'{head}{heard}<ul data-legend="{escape(figures)}" data-title="{escape(title)}">{items}</ul>'


def heard_html(figures: str, words: str) -> str:
    """What figures show, in words that are heard and not seen; nothing where there is nothing to say."""
    return f'<p class="heard" data-summary="{escape(figures)}">{escape(words)}</p>' if words else ""


def told_html(figures: str, words: str) -> str:
    """The same in words that everybody sees."""
    return f'<p class="small" data-summary="{escape(figures)}">{escape(words)}</p>'


def swatch(kind: str) -> str:
    """The SVG of one kind of line, or of shapes in a field of 26 × 14."""
    shapes = kind if kind.startswith("<") else _SWATCHES[kind]
    return f'<svg width="26" height="14" aria-hidden="true">{shapes}</svg>'


def heading(title: str) -> pn.pane.HTML:
    return pn.pane.HTML(f"<h2>{escape(title)}</h2>", sizing_mode="stretch_width", margin=0, stylesheets=[theme.TEXT])


SPEAKS = 1.0
"""Seconds between two sentences on a figure at least: what is read aloud must be heard to its end."""


class Heard:
    """A sentence of what figures show that have no legend, for those who do not see them. `view` is its pane, and takes no room."""

    def __init__(self, figures: str = "") -> None:
        self.view = pn.pane.HTML("", margin=0, styles={"position": "absolute"}, stylesheets=[theme.LEGEND])
        self._figures = figures
        self._said, self._at = "", 0.0

    def say(self, words: str, now: bool = False) -> None:
        """What the figure shows. now: without waiting, as at the end of a run."""
        if words != self._said and (now or time.monotonic() - self._at >= SPEAKS):
            self._at = time.monotonic()
            self._write(words)

    def _write(self, words: str) -> None:
        self._said = words
        self.view.object = heard_html(self._figures, words)


class HeardLegend(Heard):
    """The legend of a figure that moves, with such a sentence."""

    def __init__(self) -> None:
        super().__init__()
        self.view = legend("", [])
        self._entries: tuple[str, Sequence[tuple[str, str]], str, bool] = ("", [], "", True)

    def begin(self, title: str, entries: Sequence[tuple[str, str]], figure: str, headed: bool = True) -> None:
        """Another run, of which there is nothing to say yet. As `legend_html`."""
        self._entries, self._at = (title, entries, figure, headed), 0.0
        self._write("")

    def _write(self, words: str) -> None:
        self._said = words
        self.view.object = legend_html(*self._entries, summary=words)
