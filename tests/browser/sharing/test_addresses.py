"""Addresses that people can read: they open a page with a preset, follow what is shown, and Back and Forward turn pages."""

from __future__ import annotations

import re

from playwright.sync_api import expect

CURRENT = "nav [aria-current=page]"


def test_an_address_opens_a_page_with_a_preset_and_follows(app):
    page = app.page
    page.goto(f"{app.address}?page=landscapes&preset=line")
    expect(page.locator(CURRENT)).to_have_text("Landscapes")
    expect(page.locator("[data-name=line]")).to_have_attribute("aria-pressed", "true")
    expect(page).to_have_title(re.compile("^Landscapes · "))
    page.locator("[data-name=crossing]").click()
    expect(page).to_have_url(re.compile(r"\?page=landscapes&preset=crossing$"))
    app.turn_to("Your network")
    expect(page).to_have_url(re.compile(r"\?page=your-network$"))
    expect(page.locator(CURRENT)).to_have_text("Your network")
    page.go_back()
    expect(page.locator(CURRENT)).to_have_text("Landscapes")
    page.go_forward()
    expect(page.locator(CURRENT)).to_have_text("Your network")


def test_an_address_with_an_unknown_name_says_what_there_is(app):
    page = app.page
    page.goto(f"{app.address}?page=landscapes&preset=nowhere")
    expect(page.get_by_text("this page has regular, line, crossing")).to_be_visible()
    expect(page.locator(CURRENT)).to_have_text("Landscapes")
