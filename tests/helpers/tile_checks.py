"""What is asked of the tiles of every page that draws outcomes."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from xml.etree import ElementTree


def check_outcomes(page: Any, outcomes: Collection[str], presets: Collection[Any]) -> None:
    """Each tile draws an outcome of its own, and none while answers are hidden."""
    drawn, hidden = [item["picture"] for item in page._items], [item["picture"] for item in page._plain]
    assert len(set(drawn)) == len(presets) == len(outcomes) and not set(drawn) & set(hidden)
    for picture in (*drawn, *hidden):
        ElementTree.fromstring(picture)
    try:
        page.answers.visible = False
        assert [item["picture"] for item in page.tiles.items] == hidden
    finally:
        page.answers.visible = True
    assert [item["picture"] for item in page.tiles.items] == drawn
