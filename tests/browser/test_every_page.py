"""Every page, on one walk through all of them: one heading in two windows, no serious fault by axe-core."""

from __future__ import annotations

import pytest
from page_checks import FIRST, READY, check_letters, check_opening, lasting_faults, repaired, turned
from page_scripts import PAUSE

SMALL, COMMON = {"width": 1280, "height": 720}, {"width": 1440, "height": 900}
LONG = ("Stationary bias", "Many modes")
"""Pages whose run would outlast the check: it rests once it has drawn, and takes no time from axe."""


@pytest.fixture
def walk(kept):
    """Some page in the small window; each test turns to its own."""

    def opened(app):
        app.page.set_viewport_size(SMALL)
        app.open()

    return kept.get(opened, lambda app: app.page.set_viewport_size(SMALL))


@pytest.mark.parametrize("title", [FIRST, *READY])
def test_one_heading_and_no_serious_fault(walk, title):
    """A page opens in the small window, and the other one sees it grow: a walk for each took twice the time."""
    if title != FIRST:
        turned(walk, title)
    walk.still()
    check_opening(walk.page, title)
    if title in LONG:
        walk.page.evaluate(PAUSE)
    walk.page.set_viewport_size(COMMON)
    repaired(walk)
    check_opening(walk.page, title)
    check_letters(walk.page, title)
    assert lasting_faults(walk) == []
