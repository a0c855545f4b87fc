"""A side bar that is closed on phones until it is asked for."""

from __future__ import annotations

from panel.custom import JSComponent

from app.components.base import text_beside


class ClosedOnPhones(JSComponent):
    """Closes the side bar of a narrow window before the first paint; only the browser knows its width."""

    _esm = text_beside(__file__, "phones.js")
