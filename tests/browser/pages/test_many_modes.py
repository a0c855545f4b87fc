"""The page "Many modes" in a browser. Every test also fails on console errors and on requests to other hosts."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from app.pages.many_modes.config import ModesConfig

COUNT = """(name) => {
  const found = [...(window.Bokeh?.documents?.[0]?._all_models.values() ?? [])].find((m) => m.name === name)
  return found ? found.get_length() : 0
}"""
FIGURE = """name => {
  const view = [...window.Bokeh.index.query((v) => v.model.name === name && v.model.type === 'Figure')][0]
  const box = view.el.getBoundingClientRect()
  return [box.left, box.right, box.top, box.bottom]
}"""

# Pixels that the letters in a figure are high.
LETTERS = """name => {
  const view = [...window.Bokeh.index.query((v) => v.model.name === name && v.model.type === 'Figure')][0]
  const size = view.model.renderers.map((r) => r.glyph).find((g) => g.type === 'Text').text_font_size
  return parseFloat(size.value ?? size)
}"""


def moving(app, *names: str) -> None:
    """Wait until both sides have chains on the screen."""
    for name in names or ("heads_left", "heads_right"):
        app.until(f"({COUNT})('{name}') > 0", 120)


def test_an_address_opens_it_and_both_panels_move_to_the_end(app):
    page = app.page
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{app.address}?page=many-modes&preset=modes")
    moving(app)
    expect(page.locator(".count")).to_contain_text(f"of {ModesConfig().gradients:,}")
    expect(page.locator("h1")).to_contain_text(
        re.compile("same number of gradients|gradients each")
    )  # or soon thereafter
    expect(page.locator(".caption")).to_have_text("finished", timeout=120_000)
    curve = app.source("kl")
    assert curve["gradients"][-1] == 400_000
    assert 0.006 < curve["left_median"][-1] < 0.018 and 0.0007 < curve["right_median"][-1] < 0.002
    expect(page.locator("h1")).to_contain_text("replica exchange is at least")
    expect(page.locator("[data-key=right_kl]")).to_have_text(f"{curve['right_median'][-1]:.4f}")
    assert len(app.source("ratio_left")["text"]) == 25 and len(app.source("turned_left")["x"]) > 0
    for name in ("plane_left", "cells_right"):
        assert page.evaluate(FIGURE, name)[3] <= 720
    with app.begins():
        app.button("Reset").click()
    moving(app)
    app.button("Pause").click()
    expect(page.locator(".caption")).to_have_text("paused")


def test_settings_start_again_and_a_fault_does_not_on_a_dark_phone(app):
    page = app.page
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{app.address}?page=many-modes&preset=seldom")
    moving(app)
    app.button("Pause").click()  # nothing is asked of this run any more
    app.switch_scheme()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    app.until("[...Bokeh.index.query((v) => v.model.name === 'kl_curves')].length > 0")
    for name in ("plane_left", "cells_left", "plane_right", "cells_right", "kl_curves"):
        left, right, *_ = page.evaluate(FIGURE, name)
        assert left >= 0 and right <= 390
    assert page.evaluate(LETTERS, "cells_left") < 10, "numbers of neighbouring cells do not touch"
    page.get_by_role("button", name="Open drawer").click()
    entry = page.get_by_role("textbox", name="Gradients of each trial", exact=True)
    entry.fill("5")
    entry.press("Enter")
    expect(page.get_by_role("alert").filter(has_text="gradients is 5")).to_be_visible()
    entry.fill("50000")
    entry.press("Enter")
    expect(page.locator(".count")).to_have_text(re.compile("of 50,000"))
    expect(page.locator(".caption")).to_have_text("finished", timeout=120_000)
    expect(page.locator("[data-name=seldom]")).to_have_attribute("aria-pressed", "false")
