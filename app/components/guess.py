"""A guess that a student enters before the answer is shown, and the button that shows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import param
from panel.custom import JSComponent

from app.components.base import BASE, text_beside


class Guess(JSComponent):
    """An entry "Your guess" and the button Reveal; the key A presses it, and takes the answers away again.

    said: HTML of what is shown below. listener: called with the text of the entry, or with the key of what was chosen, when the
    button is pressed. keeper: called with the text when Enter is pressed in the entry.
    """

    asks = param.Boolean(True, doc="Whether there is an entry; else only the button.")
    label = param.String("Your guess of λ")
    choices = param.List(
        None,
        allow_None=True,
        doc="Of what is guessed, where it is no number: {key, label} each. None: a number is typed.",
    )
    revealed = param.Boolean(False)
    said = param.String("")

    _stylesheets = [BASE, text_beside(__file__, "guess.css")]

    _esm = text_beside(__file__, "guess.js")

    def __init__(self, **params: Any):
        super().__init__(**params)
        self.listener: Callable[[str], None] = lambda text: None
        self.keeper: Callable[[str], None] = lambda text: None

    def _handle_msg(self, msg: Any) -> None:
        for kind, heard in (("guess", self.listener), ("kept", self.keeper)):
            text = msg.get(kind) if isinstance(msg, dict) else None
            if isinstance(text, str):
                heard(text[:40])
