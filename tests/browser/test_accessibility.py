"""axe-core finds no serious fault on any page on a phone in the dark; `test_every_page.py` asks the same of a wide window."""

from __future__ import annotations

import pytest
from page_checks import FIRST, READY, faults, lasting_faults, repaired
from playwright.sync_api import expect


@pytest.mark.parametrize("title", [FIRST, *READY])
def test_no_serious_fault_on_a_phone_in_the_dark(app, title):
    app.page.set_viewport_size({"width": 390, "height": 900})
    app.open()
    if title != FIRST:
        app.turn_to(title)
        app.page.get_by_text(READY[title]).first.wait_for(timeout=60_000)
    app.switch_scheme()
    repaired(app)
    assert lasting_faults(app) == []


def test_on_a_phone_the_pages_are_a_menu_that_the_keyboard_works(app):
    page = app.page
    page.set_viewport_size({"width": 390, "height": 844})
    app.open_short()
    menu = page.get_by_role("button", name="Local geometry: choose a page")
    inside = page.get_by_role("navigation", name="Pages").get_by_role("button")
    expect(menu).to_have_attribute("aria-expanded", "false")
    expect(inside).to_have_count(1)
    menu.focus()
    page.keyboard.press("Enter")
    expect(menu).to_have_attribute("aria-expanded", "true")
    expect(app.button("Local geometry")).to_be_focused()
    for i in range(inside.count()):
        box = inside.nth(i).bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 390 and box["height"] >= 40
    assert lasting_faults(app) == []
    page.evaluate("document.body.appendChild(document.createElement('button'))")
    assert any("button-name" in fault for fault in faults(page)), "the check can find one"
    page.evaluate("document.body.lastElementChild.remove()")

    page.keyboard.press("Escape")
    expect(menu).to_be_focused()
    expect(menu).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("Enter")
    page.mouse.click(200, 700)
    expect(menu).to_have_attribute("aria-expanded", "false")

    menu.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    expect(app.button("Stationary bias")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Stationary bias: choose a page")).to_be_focused()
    expect(page.get_by_text(READY["Stationary bias"]).first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
