"""Faults of the widget library that shut out screen readers and keyboards, mended in the browser."""

from __future__ import annotations

from panel.custom import JSComponent

from app.components.base import FIND_DEEP, text_beside


class Repairs(JSComponent):
    """Looks through the page a few times after it has changed and mends what axe-core calls serious.

    The library's choices open by mouse only, and what they list is not called an option. Its loading bar has no name, its
    tooltips name a bare span, and so does the handle of the side bar; formulas and tables that are wider than the
    page cannot be scrolled by keyboard.
    """

    _esm = "\n".join([FIND_DEEP, text_beside(__file__, "repairs.js")])
