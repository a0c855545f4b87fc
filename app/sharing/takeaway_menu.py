"""The menu "Export" in the browser. It knows nothing of the engine: components are known before a page is sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import param
from panel.custom import JSComponent

from app.components.base import BASE, FIND_DEEP, text_beside


class TakeawayMenu(JSComponent):
    """Copies at once; figures are drawn by the browser; asks Python for files, and hands it what is opened.

    on_want: called with the key of a file.  on_upload: called with the text of a file.
    """

    code = param.String("", doc="Python that repeats the run; here beforehand, since browsers copy only at once.")
    configuration = param.String("")
    files = param.List(doc='{"key": …, "label": …} of every file; the page gives them.')
    figures = param.List(
        doc='{"name": …, "label": …}: figures by their name, drawings by the first words of their description.'
    )
    message = param.Dict({}, doc='{"text": …, "bad": …, "number": …}: a sentence beside the button.')

    _stylesheets = [BASE, text_beside(__file__, "takeaway_menu.css")]

    _esm = "\n".join([FIND_DEEP, text_beside(__file__, "copying.js", "figure_files.js", "takeaway_menu.js")])

    def __init__(self, **params: Any):
        super().__init__(**params)
        self.on_want: Callable[[str], None] = lambda key: None
        self.on_upload: Callable[[str], None] = lambda text: None

    def say(self, text: str, bad: bool = False) -> None:
        """A sentence beside the button. Its number lets the browser show it again where it has said something else meanwhile."""
        self.message = {"text": text, "bad": bad, "number": self.message.get("number", 0) + 1}

    def save(self, name: str, content: dict[str, str]) -> None:
        """Let the browser save a file. content: {"text": …} or {"base64": …}."""
        self._send_msg({"name": name, **content})

    def _handle_msg(self, msg: Any) -> None:
        if not isinstance(msg, dict):
            return
        if any(item["key"] == msg.get("want") for item in self.files):
            self.on_want(msg["want"])
        elif isinstance(msg.get("upload"), str):
            self.on_upload(msg["upload"])
