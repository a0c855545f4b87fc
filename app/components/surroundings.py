"""What only the browser knows: how wide the window is, and whether its user likes dark pages."""

from __future__ import annotations

from panel.custom import JSComponent

from app.components.base import text_beside


class Surroundings(JSComponent):
    """Closes the side bar of a narrow window before the first paint, and takes light or dark from the system.

    What a visitor chooses with the button in the header is remembered in this browser, and then the system is not asked.
    """

    _esm = text_beside(__file__, "surroundings.js")
