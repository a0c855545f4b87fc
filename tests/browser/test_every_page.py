"""Every page, on one walk through all of them: few controls and one heading in two windows, no serious fault by axe-core."""

from __future__ import annotations

import pytest
from page_checks import FIRST, READY, check_opening, faults, turned

# What `app/components/repairs.js` gives a label to when it looks at the page again, a few seconds after the last time.
PROBE = """() => {
  const probe = document.createElement('i')
  probe.setAttribute('role', 'progressbar')
  probe.id = 'probe'
  document.body.append(probe)
}"""
REPAIRED = "document.querySelector('#probe')?.getAttribute('aria-label')"
# How much there is of a page: what comes into it later than the rest makes it more.
AMOUNT = """() => {
  const all = (root) => [...root.querySelectorAll('*')].reduce((n, e) => n + 1 + (e.shadowRoot ? all(e.shadowRoot) : 0), 0)
  return all(document)
}"""
SMALL, COMMON = {"width": 1280, "height": 720}, {"width": 1440, "height": 900}


@pytest.fixture
def walk(kept):
    """Some page in the small window; each test turns to its own."""

    def opened(app):
        app.page.set_viewport_size(SMALL)
        app.open()

    return kept.get(opened, lambda app: app.page.set_viewport_size(SMALL))


def repaired(app):
    """Wait until all of a page has been looked at for repairs: nothing has come into it since the look before."""
    before, now = None, app.page.evaluate(AMOUNT)
    while before != now:
        app.page.evaluate(PROBE)
        app.until(REPAIRED)
        app.page.evaluate("() => document.querySelector('#probe').remove()")
        before, now = now, app.page.evaluate(AMOUNT)


@pytest.mark.parametrize("title", [FIRST, *READY])
def test_few_controls_one_heading_and_no_serious_fault(walk, title):
    """A page opens in the small window, and the other one sees it grow: a walk for each took twice the time."""
    if title != FIRST:
        turned(walk, title)
    walk.settle(1000)
    check_opening(walk.page, title)
    walk.page.set_viewport_size(COMMON)
    repaired(walk)
    check_opening(walk.page, title)
    found = faults(walk.page)
    if found:  # what came only now is repaired next time
        repaired(walk)
        found = faults(walk.page)
    assert found == []
