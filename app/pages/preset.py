"""What presets of all pages have: a name, a title, a lesson, and what of the page's settings differs from its defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar


@dataclass(frozen=True)
class Named:
    name: str
    title: str
    lesson: str


@dataclass(frozen=True)
class Preset(Named):
    """settings: fields of the configuration `of` that differ from its defaults."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    of: ClassVar[Any]

    @property
    def config(self) -> Any:
        return self.of(**self.settings)
