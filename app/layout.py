"""How pages are put together: cards, and pairs of them."""

from __future__ import annotations

from typing import Any

import panel as pn

from app import theme


def card(*objects: Any) -> pn.Column:
    return pn.Column(*objects, sizing_mode="stretch_width", stylesheets=[theme.CARD], margin=0)


def pair(*cards: pn.Column) -> pn.Column:
    """Side by side where there is room, else below each other."""
    for member in cards:
        member.styles = {"min-width": "0", "max-width": "100%", "height": "auto"}
    return pn.Column(*cards, sizing_mode="stretch_width", margin=0, stylesheets=[theme.PAIR])


def page(*objects: Any) -> pn.Column:
    """The main part of a page."""
    return pn.Column(
        *objects, sizing_mode="stretch_width", margin=(2, 18, 24, 18), styles={"gap": "12px"}, stylesheets=[theme.TALL]
    )
