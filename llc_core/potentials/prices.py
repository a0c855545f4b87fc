"""What a described problem takes, said before any of it is made."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Price:
    """Upper bounds; `llc_core.potentials.price` gives them.

    parameters: of all problems side by side.  held: bytes that stay as long as the problem does.
    peak: the most bytes at once, while something of it is made or evaluated.
    """

    parameters: int
    held: int
    peak: int
