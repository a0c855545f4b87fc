"""The first stop of the Tab key: past the header and the side bar, to what the page shows."""

from __future__ import annotations

from panel.custom import JSComponent

from app.components.base import FIND_DEEP, text_beside


class SkipLink(JSComponent):
    """A link before everything else in the window, which is seen while it has the focus."""

    _esm = "\n".join([FIND_DEEP, text_beside(__file__, "skip_link.js")])
