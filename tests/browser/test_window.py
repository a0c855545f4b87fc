"""The window around the pages: on a projector, by keyboard, in the dark, and on a tablet."""

from __future__ import annotations

import re

from page_scripts import CHANGED_TWICE, SETTLED
from playwright.sync_api import expect

SHOWN = """() => {
  const all = (root) => [...root.querySelectorAll('*')].flatMap((e) => [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])])
  return all(document).filter((e) => e.classList.contains('lab-card') && e.offsetParent !== null).length
}"""
ROOT_SIZE = "() => parseFloat(getComputedStyle(document.documentElement).fontSize)"
TALLEST = "Math.max(...[...Bokeh.index.query((v) => v.model.type === 'Figure')].map((v) => v.el.getBoundingClientRect().height))"
LARGE_TICKS = """() => {
  const figures = [...Bokeh.index.query((v) => v.model.type === 'Figure')]
  return figures.length > 0 && figures.every((v) => v.model.left.every((axis) => parseFloat(axis.major_label_text_font_size) > 1.3))
}"""
WITHIN = """() => [...Bokeh.index.query((v) => v.model.type === 'Figure')].map((v) => v.el.getBoundingClientRect())
  .filter((box) => box.height > 0).every((box) => box.bottom <= innerHeight)"""
FOCUS = """() => {
  let found = document.activeElement
  while (found.shadowRoot?.activeElement) found = found.shadowRoot.activeElement
  return found.className
}"""


def test_a_projector_shows_large_words_and_one_figure_at_a_time(still):
    page = still.page
    tiles = page.get_by_role("group", name="Presets")
    before, size = page.evaluate(SHOWN), page.evaluate(ROOT_SIZE)
    assert before > 2
    page.keyboard.press("p")
    expect(tiles).to_be_hidden()
    expect(page).to_have_url(re.compile("present=1"))
    assert page.evaluate(ROOT_SIZE) == 1.5 * size
    expect(page.locator("[data-key=llc]").first).to_be_visible()
    assert page.evaluate(SHOWN) == 2
    page.wait_for_function(LARGE_TICKS)
    page.reload()
    page.wait_for_function(LARGE_TICKS)
    page.wait_for_function(WITHIN)
    expect(tiles).to_be_hidden()
    assert page.evaluate(SHOWN) == 2
    page.keyboard.press("ArrowRight")
    expect(page.locator("[data-key=llc]").first).to_be_hidden()
    assert page.evaluate(SHOWN) == 1
    page.keyboard.press("ArrowLeft")
    expect(page.locator("[data-key=llc]").first).to_be_visible()
    page.keyboard.press("p")
    expect(tiles).to_be_visible()
    expect(page).not_to_have_url(re.compile("present"))
    assert (page.evaluate(SHOWN), page.evaluate(ROOT_SIZE)) == (before, size)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()


def test_a_tablet_in_the_dark(app):
    """The page follows the system until the visitor chooses, leaves its side bar closed, and can be skipped into."""
    app.page.emulate_media(color_scheme="dark")
    app.page.set_viewport_size({"width": 900, "height": 1100})
    page = app.open_short().page
    expect(page.locator(".mui-dark").first).to_be_visible()
    expect(page.get_by_role("button", name="Open drawer")).to_be_visible()
    page.evaluate("() => document.body.focus()")
    page.keyboard.press("Tab")
    assert page.evaluate(FOCUS) == "skip-link"
    page.keyboard.press("Enter")
    assert "main-content" in page.evaluate(FOCUS)
    app.turn_colours()
    expect(page.locator(".mui-light").first).to_be_visible()
    page.reload()
    app.wait_for_points()
    expect(page.locator(".mui-light").first).to_be_visible()


def test_what_changes_again_before_the_first_change_is_settled_stays_so(still):
    """The library gives back what it has drawn once that is settled, and took a value of before for the visitor's."""
    page = still.page
    page.evaluate(CHANGED_TWICE)
    page.wait_for_function("() => self.drawn.includes('twice')", timeout=25_000)
    page.evaluate(SETTLED)
    assert page.evaluate("() => [self.told, self.drawn]") == [["once", "twice"], ["once", "twice"]]


def test_the_models_of_a_page_that_was_left_are_forgotten(still):
    """While a run moves the library itself never does."""
    page = still.page
    kept = "() => [...Bokeh.documents[0]._all_models.values()].some((model) => model.name === 'losses')"
    assert page.evaluate(kept)
    page.get_by_role("button", name="Stationary bias", exact=True).click()
    page.wait_for_function(f"() => !({kept})()", timeout=25_000)
    page.get_by_role("button", name="Local geometry", exact=True).click()
    still.wait_for_points()


def test_a_figure_goes_on_the_whole_screen_and_back(app):
    app.open()
    figure = app.page.locator(".bk-Figure").first
    before, window = figure.bounding_box()["height"], app.page.viewport_size["height"]
    figure.hover()
    app.button("Full screen").click()
    app.until("document.fullscreenElement !== null")
    app.until(f"{TALLEST} > {window} - 100")
    app.page.keyboard.press("f")
    app.until("document.fullscreenElement === null")
    app.until(f"Math.abs({TALLEST} - {before}) < 2")
