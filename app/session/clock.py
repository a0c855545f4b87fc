"""What a page looks at again and again, in its visitor's document."""

from __future__ import annotations

from collections.abc import Callable

from panel.io import PeriodicCallback


def every(milliseconds: int, look: Callable[[], None]) -> PeriodicCallback:
    """Begin to call `look` so often. Returns the clock, which can be stopped and has a `period`.

    In the background, which to Panel means: the whole process is not called busy before each look and idle after it. With ten
    visitors that took two fifths of the event loop.
    """
    clock = PeriodicCallback(callback=look, period=milliseconds, background=True)
    clock.start()
    return clock
