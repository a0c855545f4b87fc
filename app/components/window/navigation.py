"""The list of pages in the header."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import param
from panel.custom import JSComponent

from app.components.base import FIND_DEEP, text_beside


class Navigation(JSComponent):
    """The pages, as buttons in the header; the current one is marked. Where the header is narrow all of them are a menu."""

    titles = param.List([])
    keys = param.List([], doc="Names of the pages in the address of the window; empty: the address stays.")
    main = param.Integer(
        0, doc="How many of the titles are always in sight; the others stand under “More pages”. 0: all."
    )
    app = param.String("", doc="Follows the page's title in the title of the window.")
    current = param.String("")
    turned = param.Integer(
        0, doc="How many wishes have been answered: after the last one the browser takes its placeholder away."
    )

    _stylesheets = [text_beside(__file__, "navigation.css")]

    _esm = "\n".join([FIND_DEEP, text_beside(__file__, "navigation.js")])

    def __init__(self, **params: Any):
        super().__init__(**params)
        self.listener: Callable[[str], None] = lambda title: None

    def _handle_msg(self, msg: Any) -> None:
        title = msg.get("open") if isinstance(msg, dict) else None
        if title in self.titles:
            try:
                if title != self.current:
                    self.current = title
                    self.listener(title)
            finally:
                self.turned += 1
