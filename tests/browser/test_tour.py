"""The guided tour in the browser: begun by a key, a prediction by keyboard, what came out, and the way out."""

from __future__ import annotations

import re

from playwright.sync_api import expect


def test_a_tour_by_keyboard(app):
    page = app.open_page("landscapes")
    page = getattr(page, "page", app.page)
    expect(page.locator(".count")).to_contain_text("of 12,000")
    expect(page.get_by_role("button", name="Tour", exact=True)).to_be_visible()
    page.locator("h1").click()
    page.keyboard.press("t")
    guide = page.get_by_role("region", name="Tour")
    expect(guide).to_contain_text("step 1 of 5")
    expect(guide).to_be_focused()
    assert guide.bounding_box()["y"] > 300, "λ̂ is seen above it"
    page.keyboard.press("Tab")  # the way out comes first
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(guide.get_by_role("status")).to_contain_text(
        re.compile("(As you expected|You expected).* λ̂ is 0.8"), timeout=60_000
    )
    expect(page.locator("[data-name=regular]")).to_have_attribute("aria-pressed", "true")
    expect(guide.get_by_role("button", name="Next")).to_be_focused()
    page.keyboard.press("Escape")
    expect(guide).to_have_count(0)
    expect(page.get_by_role("button", name="Tour", exact=True)).to_be_focused()
