"""At which steps of the burn-in something is looked at. Step numbers alone decide, never how a run is cut into blocks."""

from __future__ import annotations

COORDINATE_CHANGES = (0.05, 0.1, 0.2, 0.4, 0.7)
"""Fractions of the burn-in at which the coordinates are made anew, from the curvature seen since the last change."""
SHORTEST_ADAPTATION = 50
"""Coordinates are not adapted in a burn-in shorter than this many steps."""
WATCH_EVERY = 10
"""Steps between looks for overflow during burn-in."""


def is_due(age: int) -> bool:
    """Whether the curvature is measured so many steps after the start or the last change of coordinates."""
    return age % (10 if age < 100 else 50 if age < 1000 else 100) == 0


def coordinate_looks(burn_in: int) -> tuple[int, int]:
    """How often the curvature is measured until the coordinates are adapted for good, and how many changes there are."""
    wanted = [f * burn_in for f in COORDINATE_CHANGES]
    looks = changes = origin = 0
    for step in range(WATCH_EVERY, burn_in, WATCH_EVERY):
        if not wanted:
            break
        if is_due(step - origin):
            looks += 1
            if step >= wanted[0]:
                wanted, origin, changes = [c for c in wanted if c > step], step, changes + 1
    return looks, changes
