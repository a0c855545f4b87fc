"""Two things beside each other that look alike: which one is meant is guessed before it is shown."""

from __future__ import annotations

from typing import Any

import param
from panel.custom import JSComponent

from app.components.base import BASE, text_beside


def bar(label: str, share: float, text: str, kind: str = "") -> dict[str, Any]:
    """A bar of a choice.  share: of its rail.  kind: "measured" or "truth", which have colours."""
    return {"label": label, "share": share, "text": text, "kind": kind}


def choice(
    name: str, said: str, bars: list[dict[str, Any]], hidden: list[dict[str, Any]], picture: str = ""
) -> dict[str, Any]:
    """said: to whoever presses it.  hidden: bars that stand there once something has been pressed.  picture: SVG made here."""
    return {"name": name, "said": said, "bars": bars, "hidden": hidden, "picture": picture}


class Twins(JSComponent):
    """Nothing is sent back: a guess stays with the visitor.  question, words: what stands above."""

    question = param.String("")
    words = param.String("")
    choices = param.List([], doc="Two of `choice`.")

    _stylesheets = [BASE, text_beside(__file__, "twins.css")]

    _esm = text_beside(__file__, "twins.js")

    def _handle_msg(self, msg: Any) -> None:
        """There is nothing to hear."""
