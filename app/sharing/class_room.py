"""Guesses of a class: who opens a link that leaves the answers out may guess, and the teacher's window shows how the guesses lie.

Only numbers are kept, in memory, one for each open window. No name, no address.
"""

from __future__ import annotations

import hashlib
import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence

from app.session.clock import every
from app.style import theme
from app.style.layout import card, prose
from app.style.legend import heading

ROOMS, SEATS = 64, 500
"""Links whose guesses are kept, the latest ones, and guesses of each."""
PARAMETER = "class"
"""`&class=1` behind such a link opens the teacher's window."""
LOOK_MILLISECONDS = 1000
COLUMNS, WIDTH, HEIGHT, EDGE, LINE = 24, 640, 150, 24, 118
STEP = 11
"""Px between dots that stand on each other."""
NOBODY = "Nobody has guessed yet. Give the class the link without “&class=1”."


class ClassRoom:
    """Guesses by the window they came from. Sessions of several threads use it."""

    def __init__(self) -> None:
        self._guesses: OrderedDict[str, float] = OrderedDict()
        self._lock = threading.Lock()

    def guess(self, window: str, value: float) -> None:
        """The last guess of a window counts."""
        if not math.isfinite(value):
            return
        with self._lock:
            self._guesses.pop(window, None)
            self._guesses[window] = value
            while len(self._guesses) > SEATS:
                self._guesses.popitem(last=False)

    @property
    def guesses(self) -> list[float]:
        with self._lock:
            return list(self._guesses.values())


_rooms: OrderedDict[str, ClassRoom] = OrderedDict()
_door = threading.Lock()


def room(link: str) -> ClassRoom:
    """That of a link, by its `?c=`."""
    key = hashlib.sha256(link.encode()).hexdigest()
    with _door:
        found = _rooms.pop(key, None) or ClassRoom()
        _rooms[key] = found
        while len(_rooms) > ROOMS:
            _rooms.popitem(last=False)
        return found


class ClassView:
    """The teacher's card. truth: the exact λ once it is shown, before that None."""

    def __init__(self, guesses: ClassRoom, truth: Callable[[], float | None]) -> None:
        self._room, self._truth = guesses, truth
        self._words = prose(theme.LESSON)
        self._drawing = prose()
        self._shown: object = None
        self.view = card(heading("What the class expects"), self._words, self._drawing)
        self.look()
        self._looking = every(LOOK_MILLISECONDS, self.look)

    def look(self) -> None:
        now = (self._room.guesses, self._truth())
        if now != self._shown:
            self._shown = now
            self._words.object = f"<p>{words(*now)}</p>"
            self._drawing.object = drawing(*now)

    def close(self) -> None:
        if self._looking.running:
            self._looking.stop()


def words(guesses: Sequence[float], truth: float | None) -> str:
    if not guesses:
        return NOBODY
    middle = sorted(guesses)[len(guesses) // 2]
    said = f"{len(guesses)} {'guess' if len(guesses) == 1 else 'guesses'}, from {min(guesses):g} to {max(guesses):g}, middle {middle:g}."
    if truth is None:
        return said
    near = sum(abs(value - truth) <= 0.1 * abs(truth) for value in guesses)
    return f"{said} The exact λ is {truth:g}: {near} within 10%."


def drawing(guesses: Sequence[float], truth: float | None) -> str:
    """SVG: a dot for each guess, and the exact value as a line."""
    values = [*guesses, *([] if truth is None else [truth])]
    if not guesses:
        return ""
    low, high = min(0.0, *values), max(*values, 1e-9)

    def place(value: float) -> float:
        return EDGE + (WIDTH - 2 * EDGE) * (value - low) / (high - low)

    heights = [0] * (COLUMNS + 1)
    parts = [
        f'<path d="M{EDGE} {LINE}H{WIDTH - EDGE}" stroke="currentColor" stroke-opacity=".4" stroke-width="2"/>',
        *(
            f'<text x="{place(value):.1f}" y="{LINE + 22}" text-anchor="middle" fill="currentColor" font-size="14">{value:g}</text>'
            for value in (low, high)
        ),
    ]
    most = (LINE - 12) // STEP
    for value in sorted(guesses):
        column = round(COLUMNS * (value - low) / (high - low))
        heights[column] += 1
        height = LINE - 7 - STEP * min(heights[column] - 1, most)
        parts.append(
            f'<circle cx="{place(value):.1f}" cy="{height}" r="5" fill="{theme.ESTIMATE}" fill-opacity=".75"/>'
        )
    if truth is not None:
        x = place(truth)
        parts.append(f'<path d="M{x:.1f} 8V{LINE + 6}" stroke="{theme.TRUTH}" stroke-width="3"/>')
    label = f"{len(guesses)} guesses on a line from {low:g} to {high:g}"
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="100%" style="max-width:{WIDTH}px" role="img" aria-label="{label}">{"".join(parts)}</svg>'
