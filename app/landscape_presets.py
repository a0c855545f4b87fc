"""One click from an interesting landscape. Each preset teaches one thing; the sentences state what was measured here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class LandscapePreset:
    """own: keys of the landscape beside its name.  settings: fields of RunConfig that differ from the page's defaults."""

    name: str
    title: str
    lesson: str
    landscape: str
    own: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def problem(self) -> dict[str, Any]:
        return {"kind": "planar", "name": self.landscape, **self.own}


ALL = (
    LandscapePreset("crossing", "Crossing", "Two lines of true parameters cross.", "normal_crossing", {"k": [1, 1]}),
)
