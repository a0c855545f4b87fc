"""The page "Stages" in a real browser: the slider over the training while it is dragged, and a cell of the table of ranks by keyboard."""

from __future__ import annotations

import re

from playwright.sync_api import expect


def test_the_slider_moves_the_training_and_a_cell_begins_chains(app):
    app.open_page("stages")
    page = app.page
    expect(page.locator(".caption")).to_have_text("finished", timeout=120_000)
    slider = page.get_by_role("slider", name="Time of the training slider")
    expect(page.get_by_text("4 of 4", exact=True)).to_be_visible()
    box = slider.bounding_box()
    page.mouse.move(box["x"] + box["width"] - 8, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.13 * box["width"], box["y"] + box["height"] / 2, steps=5)
    expect(page.get_by_text("1 of 4", exact=True)).to_be_visible()  # before it is released
    page.mouse.up()
    slider.focus()
    page.keyboard.press("Home")
    expect(page.get_by_text("0 of 4", exact=True)).to_be_visible()
    cell = page.get_by_role("button", name="rank A 2, rank B 0, rank BA 0: λ 2, m 1")
    cell.focus()
    page.keyboard.press("Enter")
    expect(cell).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_text("smooth sheet of dimension 4")).to_be_visible()
    expect(page.get_by_text(re.compile(r"Chains that begin here read λ̂ = [12]\.\d"))).to_be_visible(timeout=60_000)
    page.set_viewport_size({"width": 390, "height": 844})
    cells = page.get_by_role("button", name=re.compile("^rank A"))
    assert all(
        box["x"] >= 0 and box["x"] + box["width"] <= 390 for box in (each.bounding_box() for each in cells.all())
    )
    assert not app.problems
