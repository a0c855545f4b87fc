"""What the first picture does not need is sent once that picture is on the screen: it comes a second sooner then."""

from __future__ import annotations

import math
from collections.abc import Sequence
from time import monotonic
from typing import Any

import panel as pn
from panel_material_ui.base import MaterialComponent

from app.runs import giving_way

PATIENCE = 40
"""Polls after which the rest comes though nothing has moved: a run may rest, or have failed."""
SEEN = 2
"""Polls after the first picture was sent until it has been drawn: a browser that gets the rest before that draws both at once."""
SHARE = 2.0
"""So many times as long as making one page's rest took, the others' pages have the event loop before the next one's is made."""


class Later:
    """Places of a page that are empty at first, and what comes into them."""

    _next = -math.inf
    """When the rest of any visitor's page may be made, by `monotonic`."""

    def __init__(self) -> None:
        self.arrived = False
        self._waiting: list[tuple[pn.Column, Sequence[Any]]] = []
        self._polls = self._moved = 0

    def put(self, place: pn.Column, objects: Sequence[Any]) -> pn.Column:
        """Append objects to a column when it is time. Returns the column."""
        self._waiting.append((place, objects))
        return place

    def due(self, moved: bool) -> bool:
        """Asked at every poll of the run until the rest is there. moved: whether something of the run has been drawn before."""
        self._polls += 1
        self._moved += moved
        if self.arrived or monotonic() < Later._next:
            return False
        # Of a class that comes at once all shall see something first.
        others = giving_way.pages_wait.is_set() or giving_way.give_way(pn.state.curdoc)
        return self._polls > PATIENCE or (self._moved >= SEEN and not others)

    def arrive(self) -> None:
        began, self.arrived = monotonic(), True
        waiting, self._waiting = self._waiting, []
        dark = pn.config.theme == "dark"
        for place, objects in waiting:
            rest = pn.Column(*objects)
            # They were made before the browser said whether it is dark; what was on the screen by then has followed by itself.
            for component in rest.select(MaterialComponent):
                component.dark_theme = dark
            place.extend(rest.objects)
        Later._next = monotonic() + SHARE * (monotonic() - began)
