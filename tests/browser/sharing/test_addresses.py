"""Addresses that people can read: they open a page with a preset, follow what is shown, and Back and Forward turn pages."""

from __future__ import annotations

import re

from browser_app import QUICK
from playwright.sync_api import expect

CURRENT = "nav [aria-current=page]"


def test_an_address_opens_a_page_with_a_preset_and_follows(app):
    page = app.page
    page.goto(f"{app.address}?page=landscapes&preset=line")
    expect(page.locator(CURRENT)).to_have_text("Landscapes")
    expect(page.locator("[data-name=line]")).to_have_attribute("aria-pressed", "true")
    expect(page).to_have_title(re.compile("^Landscapes · "))
    app.choose("crossing")
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


def test_a_reload_brings_ones_own_settings_back(app):
    page = app.page
    app.open_link("local-geometry", QUICK)
    app.until_moving()
    entry, before = page.get_by_role("textbox", name="Layer sizes", exact=True), page.url
    entry.fill("6, 5, 6")
    entry.press("Enter")
    expect(page).not_to_have_url(before)
    expect(page).to_have_url(re.compile(r"\?c=[\w-]{20,}$"))
    page.reload()
    expect(page.get_by_role("textbox", name="Layer sizes", exact=True)).to_have_value("6, 5, 6")


def test_the_bare_address_opens_start_and_later_the_page_that_was_used_last(app):
    page = app.page
    page.goto(app.address)
    expect(page.locator(CURRENT)).to_have_text("Start")
    app.turn_to("Decisions")
    expect(page.locator(CURRENT)).to_have_text("Decisions")
    expect(page.locator("nav .more")).to_have_text("Decisions")
    page.goto(app.address)
    expect(page.locator(CURRENT)).to_have_text("Decisions")
