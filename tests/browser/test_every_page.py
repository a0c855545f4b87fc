"""Every page, on one walk through all of them: few controls and one heading in two windows, no serious fault by axe-core."""

from __future__ import annotations

import pytest
from page_checks import FIRST, READY, check_opening, faults, turned

REPAIRS = 5000
"""Milliseconds after which `app/components/repairs.js` has looked at a page again."""
SMALL, COMMON = {"width": 1280, "height": 720}, {"width": 1440, "height": 900}


@pytest.fixture
def walk(kept):
    """Some page in the small window; each test turns to its own."""

    def opened(app):
        app.page.set_viewport_size(SMALL)
        app.open()

    return kept.get(opened, lambda app: app.page.set_viewport_size(SMALL))


@pytest.mark.parametrize("title", [FIRST, *READY])
def test_few_controls_one_heading_and_no_serious_fault(walk, title):
    """A page opens in the small window, and the other one sees it grow: a walk for each took twice the time."""
    if title != FIRST:
        turned(walk, title)
    walk.settle(1000)
    check_opening(walk.page, title)
    walk.page.set_viewport_size(COMMON)
    walk.settle(REPAIRS + 500)
    check_opening(walk.page, title)
    if faults(walk.page):  # what came only now is repaired next time
        walk.settle(REPAIRS)
    assert faults(walk.page) == []
