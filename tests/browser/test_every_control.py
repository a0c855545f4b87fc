"""Every control of every page: reached by Tab, named for screen readers, worked by keyboard and by mouse."""

from __future__ import annotations

import re

import pytest
from page_checks import FIRST, READY
from playwright.sync_api import Page, expect

from app.pages import load_pages

SEEN = {FIRST: "Loss traces", **READY}
"""Titles of the pages, and what is seen on each when it is open."""
PAGES = tuple(SEEN)
STILL = ("Start", "Benchmark")
"""Pages on which nothing runs: they have no transport, and no sliders that are fields of a run."""
PLAIN = ("Stages",)
"""Pages with so few settings that none is folded."""
SAID = ("Speed", "Samples n")
"""Sliders that say their value in words and have no entry."""
RUNNING = tuple(title for title in PAGES if title not in STILL)
TABS = 250

# Every element that a person could work with, those inside shadow roots too. Bokeh's own tool bars and figures are left
# out: what they do (zoom, save) is no control of a run. Of radio buttons one is in the order of Tab.
CONTROLS = """() => {
  const found = []
  const walk = (root) => {
    for (const element of root.querySelectorAll('*')) {
      if (element.shadowRoot) walk(element.shadowRoot)
      const works = element.matches('button, input, select, textarea, a[href], [role=combobox], [role=slider], summary')
      const shown = element.checkVisibility({checkOpacity: false, checkVisibilityCSS: true}) && element.getClientRects().length
      const passive = element.disabled || element.getAttribute('aria-hidden') === 'true' || element.tabIndex < 0
      if (!works || !shown || passive || element.closest('.bk-Toolbar, .bk-ToolbarPanel')) continue
      if (element.getRootNode().host?.closest?.('.bk-Figure, .bk-Toolbar')) continue
      if (element.getRootNode().host?.className?.includes?.('bk-Tool')) continue
      found.push(element)
    }
  }
  walk(document)
  window.controls = found
  return found.length
}"""
# What is focused now, through all shadow roots: its place among the controls, or −1.
FOCUSED = """() => {
  let element = document.activeElement
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
  return window.controls.indexOf(element)
}"""
DESCRIBED = "(i) => window.controls[i].outerHTML.slice(0, 160)"


def prepare(app, title: str) -> Page:
    page = app.page
    page.set_viewport_size({"width": 1600, "height": 2600})
    app.open_page(next(entry.key for entry in load_pages() if entry.title == title))
    expect(page.get_by_text(SEEN[title]).filter(visible=True).first).to_be_visible(
        timeout=60_000
    )  # menus have titles of figures too
    if title in RUNNING:
        expect(page.locator(".caption")).to_have_text("finished", timeout=300_000)
        fields = page.locator("input")
        before = fields.count()
        if title not in PLAIN:
            page.get_by_role("button", name="Advanced").first.click()
            expect(fields).not_to_have_count(before)  # they are built when they are asked for
    app.still()
    return page


@pytest.mark.parametrize("title", PAGES)
def test_tab_reaches_every_control(app, title):
    page = prepare(app, title)
    count = page.evaluate(CONTROLS)
    assert count > (15 if title == "Start" else 25)
    page.locator("body").focus()
    reached = set()
    for _ in range(TABS):
        page.keyboard.press("Tab")
        reached.add(page.evaluate(FOCUSED))
    missed = [page.evaluate(DESCRIBED, i) for i in range(count) if i not in reached]
    missed = [text for text in missed if 'type="radio"' not in text]
    assert not missed, "\n".join(missed)


@pytest.mark.parametrize("title", RUNNING)
def test_every_slider_and_entry_by_keyboard_and_by_mouse(app, title):
    page = prepare(app, title)
    sliders = page.get_by_role("slider").all()
    names = [slider.get_attribute("aria-label") for slider in sliders if slider.is_visible() and slider.is_enabled()]
    assert len(names) >= (3 if title in PLAIN else 5) and all(names), names
    for name in dict.fromkeys(names):
        slider = page.get_by_role("slider", name=name, exact=True).first
        if name in SAID:
            said = slider.get_attribute("aria-valuetext")
            slider.focus()
            page.keyboard.press("ArrowLeft")
            expect(slider).not_to_have_attribute("aria-valuetext", said)
            page.keyboard.press("ArrowRight")
            expect(slider).to_have_attribute("aria-valuetext", said)
            continue
        entry = page.get_by_role("textbox", name=re.sub(" slider$", "", name), exact=True).first
        before = entry.input_value()
        slider.focus()
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowLeft")
        if entry.input_value() == before:
            page.keyboard.press("ArrowRight")
        expect(entry).not_to_have_value(before)
        by_keyboard = entry.input_value()
        box = slider.bounding_box()
        low, high, now = (float(slider.evaluate(f"e => e.{name}")) for name in ("min", "max", "value"))
        share = 0.25 if (now - low) / (high - low) > 0.5 else 0.75  # not where the thumb is
        page.mouse.click(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
        expect(entry).not_to_have_value(by_keyboard)
        entry.fill(before)
        entry.press("Enter")
        expect(entry).to_have_value(before)
    assert page.get_by_role("alert").filter(has_text="went wrong").count() == 0


@pytest.mark.parametrize("title", [title for title in PAGES if title != "Start"])
def test_every_choice_by_keyboard_and_by_mouse(app, title):
    page = prepare(app, title)
    boxes = page.get_by_role("combobox")
    listed = page.get_by_role("listbox")
    assert boxes.count() >= (1 if title in PLAIN else 2)
    for i in range(boxes.count()):
        box, count = boxes.nth(i), boxes.count()
        before = box.inner_text()
        box.focus()
        page.keyboard.press("Enter")
        expect(listed).to_be_visible()
        expect(listed.get_by_role("option").first).to_be_visible()
        app.still()
        page.keyboard.press("Escape")
        expect(listed).to_have_count(0)
        page.keyboard.press("ArrowDown")
        expect(listed.locator("[role]:focus")).to_have_text(before)
        last = listed.get_by_role("option").last.inner_text() == before
        page.keyboard.press("ArrowUp" if last else "ArrowDown")
        page.keyboard.press("Enter")
        expect(listed).to_have_count(0)
        expect(box).not_to_have_text(before)
        box.click()
        listed.get_by_text(before, exact=True).click()
        expect(listed).to_have_count(0)
        expect(box).to_have_text(before)
        expect(boxes).to_have_count(count)  # a sampler brings choices of its own, which come back with it
        app.still()


@pytest.mark.parametrize("title", [PAGES[0], "Benchmark"])
def test_every_tick_by_keyboard_and_by_mouse(app, title):
    page = prepare(app, title)
    ticks = [tick for tick in page.get_by_role("checkbox").all() if tick.is_visible() and tick.is_enabled()]
    assert ticks
    for tick in ticks:
        was = tick.is_checked()
        tick.focus()
        page.keyboard.press("Space")
        expect(tick).to_be_checked(checked=not was)
        tick.click()
        expect(tick).to_be_checked(checked=was)
    if title in RUNNING:  # the last one began a run: a server that ends while it is built says that it failed
        expect(page.locator(".caption")).to_have_text("finished", timeout=300_000)


def test_a_page_that_is_loaded_again_during_a_run_starts_afresh(app):
    app.open()
    assert app.step < 8000
    app.page.reload()
    app.wait_for_points()
    expect(app.page.locator(".caption")).to_have_text("finished")
    app.page.reload()
    app.wait_for_points()
    assert app.step <= 8000


def test_two_visitors_do_not_disturb_each_other(app):
    app.open()
    other = type(app)(app.page.context.new_page(), app.address).open()
    other.choose("regular")
    app.button("Pause").click()
    expect(app.page.locator(".caption")).to_contain_text("paused")
    stopped = app.step
    expect(other.page.locator(".caption")).to_have_text("finished")
    assert app.step == stopped
    assert app.number("dim") != other.number("dim")
    other.page.close()
    app.button("Play").click()
    expect(app.page.locator(".caption")).to_have_text("finished")
    assert not other.problems
