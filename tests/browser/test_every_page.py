"""Every page, on one walk through all of them at each size: few controls, one heading, no serious fault by axe-core."""

from __future__ import annotations

import pytest
from page_checks import FIRST, READY, check_opening, faults, turned

REPAIRS = 3000
"""Milliseconds after which `app/components/repairs.js` has looked at a page again."""


@pytest.fixture
def walk(kept):
    """The window at 1440 × 900 with some page; each test turns to its own."""

    def opened(app):
        app.page.set_viewport_size({"width": 1440, "height": 900})
        app.open()

    return kept.get(opened, lambda app: None)


@pytest.mark.parametrize("title", [FIRST, *READY])
def test_few_controls_one_heading_and_no_serious_fault(walk, title):
    if title != FIRST:
        turned(walk, title)
    walk.settle(REPAIRS + 500)
    check_opening(walk.page, title)
    assert faults(walk.page) == []


def test_few_controls_and_one_heading_in_a_small_window(app):
    app.page.set_viewport_size({"width": 1280, "height": 720})
    app.open()
    for title in (FIRST, *READY):
        if title != FIRST:
            turned(app, title)
        app.settle(1000)
        check_opening(app.page, title)
