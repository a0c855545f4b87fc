"""Figures as files: one HTML page that needs nothing but a browser."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from llc_core.extras import needs
from llc_core.plots.style import holoviews

STYLE = "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}pre{overflow-x:auto;font-size:13px}"


def write_page(path: Path, title: str, lines: list[str], table: list[str], figure: Any = None) -> None:
    """A page with a heading, a list of lines, a table of plain text, and a figure of HoloViews.

    Raises ValueError where the file cannot be written, MissingExtra where there is a figure and no library that draws it.
    """
    body = [f"<h1>{escape(title)}</h1>"]
    if lines:
        body.append("<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>")
    if table:
        body.append("<pre>" + escape("\n".join(table)) + "</pre>")
    head = ""
    if figure is not None:
        hv = holoviews()
        with needs("a figure in a file", extra="plots"):
            from bokeh.embed import components
            from bokeh.resources import INLINE
        script, place = components(hv.render(figure, backend="bokeh"))
        head, body = INLINE.render(), [body[0], place, *body[1:], script]
    page = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title><style>{STYLE}</style>{head}</head>'
        f"<body>{''.join(body)}</body></html>\n"
    )
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise ValueError(f"{str(path)!r} cannot be written ({error.strerror}); check the path.") from None
