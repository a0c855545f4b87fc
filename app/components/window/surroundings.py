"""What only the browser knows: how wide the window is, and whether its user likes dark pages."""

from __future__ import annotations

import panel as pn
import param
from panel.custom import JSComponent

from app.components.base import text_beside


class Surroundings(JSComponent):
    """Closes the side bar of a narrow window before the first paint, and takes light or dark from the system.

    What a visitor chooses with the button in the header is remembered in this browser, and then the system is not asked.
    """

    folded = param.Boolean(
        False, doc="The side bar was left closed for a narrow window, and opens in one that is wide now."
    )

    _esm = text_beside(__file__, "surroundings.js")


def was(what: str) -> bool:
    """Whether this visitor's window was "dark" or "narrow" when it last showed a page; False where nobody knows."""
    return pn.state.cookies.get(f"llc-lab-{what}") == "1"


def last_page() -> str:
    """The key of the page that this visitor's browser showed last; empty where nobody knows."""
    return pn.state.cookies.get("llc-lab-page", "")
