"""A figure on the whole screen, by a button in the corner of its card or the key F."""

from __future__ import annotations

from panel.custom import JSComponent

from app.components.base import BASE, text_beside


class FullScreen(JSComponent):
    """Lies on the page once; the server is not asked."""

    _stylesheets = [BASE, text_beside(__file__, "full_screen.css")]

    _esm = text_beside(__file__, "cards.js", "full_screen.js")
