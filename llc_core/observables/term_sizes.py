"""The sizes of a step's terms, and the distance from w0."""

from __future__ import annotations

SIZES_EVERY = 50
"""Steps between looks at distances and at the sizes of a step's terms: they then cost next to nothing."""
