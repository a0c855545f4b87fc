"""A message at the foot of the window. Panel's own notification area keeps every closed page in memory (see app/main.py)."""

from __future__ import annotations

import param
from panel.custom import JSComponent

from app.components.base import text_beside


class Notice(JSComponent):
    """Shows `text` until it is dismissed or has been there for a while."""

    text = param.String("")

    _stylesheets = [text_beside(__file__, "notice.css")]

    _esm = text_beside(__file__, "notice.js")
