"""What every page's menu "Take away" does: hands out files of what is on the page, takes a configuration back."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from app.errors import report
from app.takeaway_menu import TakeawayMenu


class TakeawayDesk:
    """read: a file's text → a configuration, checked as a whole.  apply: shows and runs it. Both may raise ValueError."""

    def __init__(self, menu: TakeawayMenu, read: Callable[[str], Any], apply: Callable[[Any], None]):
        self.menu, self._read, self._apply = menu, read, apply
        menu.on_want, menu.on_upload = self._on_want, self._on_upload

    def content(self, key: str) -> tuple[str, str | bytes]:
        """(file name, content) of one of the menu's files; ValueError where there is nothing to put into it yet."""
        raise NotImplementedError

    def _on_want(self, key: str) -> None:
        try:
            name, content = self.content(key)
        except ValueError as error:
            self.menu.say(str(error), bad=True)
        except Exception as error:
            self.menu.say("The file could not be made.", bad=True)
            report(error)
        else:
            is_text = isinstance(content, str)
            self.menu.save(name, {"text": content} if is_text else {"base64": base64.b64encode(content).decode()})

    def _on_upload(self, text: str) -> None:
        try:
            self._apply(self._read(text))
        except ValueError as error:
            self.menu.say(str(error), bad=True)
        else:
            self.menu.say("The configuration is set.")
