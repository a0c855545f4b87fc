"""Cards that are buttons until somebody asks for them: a page then opens with what it is about, and sooner."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import panel as pn
import panel_material_ui as pmui

from app.style.layout import pair


class Folded:
    """cards: what each button says, its card, and what is called when it is opened (None: nothing).

    A card is part of the document only from then on. `view` is a row of buttons above the open cards.
    """

    def __init__(self, cards: Mapping[str, tuple[pn.Column, Callable[[], Any] | None]]) -> None:
        self._cards = dict(cards)
        self._buttons = {
            label: pmui.Button(label=label, size="small", variant="outlined", margin=0) for label in self._cards
        }
        for label, button in self._buttons.items():
            button.on_click(lambda event, label=label: self.open(label))
        self._row = pn.FlexBox(*self._buttons.values(), gap="12px", sizing_mode="stretch_width", margin=0)
        self._open = pair()
        self._open.visible = False
        self.view = pn.Column(self._row, self._open, sizing_mode="stretch_width", margin=0, styles={"gap": "12px"})

    def open(self, label: str) -> None:
        """Show the card, once and for all; its button goes."""
        card, opened = self._cards[label]
        if card in self._open:
            return
        with pn.io.hold():
            self._buttons[label].visible = False
            self._row.visible = any(button.visible for button in self._buttons.values())
            card.styles = {"min-width": "0", "max-width": "100%", "height": "auto"}
            self._open.append(card)
            self._open.visible = True
            if opened is not None:
                opened()
