"""What a visitor sees without scrolling: the sentence, the picture that moves, λ̂ in large type, and the verdict."""

from __future__ import annotations

import re

import pytest
from browser_app import QUICK
from page_scripts import PAUSE
from playwright.sync_api import expect

SIZES = [(1280, 720), (1440, 900)]
VERDICTS = "p.good, p.fair, p.warn, p.bad, p.wait"
SIZE = "e => parseFloat(getComputedStyle(e).fontSize)"
READ = "h1, h2, p, dt, dd, button, label, summary, li"
"""What has words that must be read; numbers of axes are left out."""
SIZES_OF = """es => es.filter((e) => e.checkVisibility() && e.innerText?.trim() && !e.classList.contains('heard'))
  .map((e) => [parseFloat(getComputedStyle(e).fontSize), e.innerText.slice(0, 40)])"""
FIGURE = """name => {
  const view = [...window.Bokeh.index.query((v) => v.model.name === name && v.model.type === 'Figure')][0]
  const box = view.el.getBoundingClientRect()
  return [box.top, box.bottom]
}"""


FRAME = """() => {
  const view = [...window.Bokeh.index.query((v) => v.model.name === 'plane' && v.model.type === 'Figure')][0]
  return [view.frame.bbox.width, view.frame.bbox.height]
}"""


def test_the_app_opens_with_chains_in_a_valley_beside_the_number(app):
    """The bare address: the valley, λ̂ beside the exact λ, and the charts are in the first screen."""
    page = app.page
    page.goto(app.address)
    expect(page.get_by_role("heading", level=1)).to_contain_text("counts the weights that a solution really uses")
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        app.still()
        for part in (".map", ".hat", ".truth", ".charts"):
            box = page.locator(part).bounding_box()
            assert box["y"] >= 0 and box["y"] + box["height"] <= height, (part, width, height, box)


def test_the_plane_lies_beside_the_number(app):
    """The whole plane and the line from 0 to d/2 are in the first screen, and a circle is a circle."""
    page = app.page
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        if (width, height) == SIZES[0]:
            app.open_page("landscapes")
            expect(page.get_by_role("heading", level=1)).to_contain_text("How many parameters does this model use?")
            expect(page.locator(".caption")).to_have_text("finished", timeout=120_000)
        app.still()
        line = page.get_by_role("img", name="Number line")
        expect(line).to_have_attribute("aria-label", re.compile("λ̂ 0.4"))
        box, (top, bottom), frame = line.bounding_box(), page.evaluate(FIGURE, "plane"), page.evaluate(FRAME)
        assert top >= 0 and max(bottom, box["y"] + box["height"]) <= height + 12, (box, top, bottom)
        assert abs(frame[0] - frame[1]) <= 4 and frame[0] > 200, frame
        picture_estimate_and_verdict_lie_above_the_fold(page, "plane", height)


POLYGON = {"problem": {"kind": "superposition", "sides": 5}, "steps": 600}
SHORT = {
    "local-geometry": QUICK,
    "polygons": POLYGON,
    "your-network": {"network": "small", "steps": 600, "batch_size": 64},
}


@pytest.mark.parametrize("key", SHORT)
def test_picture_estimate_and_verdict_lie_above_the_fold(app, key):
    """After short runs: the page "Landscapes" above is the one that is asked after the run that visitors meet."""
    page = app.page
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        if (width, height) == SIZES[0]:
            app.open_link(key, SHORT[key])
            expect(page.locator(".caption")).to_have_text("finished", timeout=120_000)
        app.still()
        picture_estimate_and_verdict_lie_above_the_fold(page, "estimates", height)
    if key == "your-network":
        why_it_is_not_known_is_said(page)
    if key == "local-geometry":
        diagnostics_are_folded_and_open_by_keyboard(page)


def picture_estimate_and_verdict_lie_above_the_fold(page, figure, height):
    expect(page.locator("h1")).to_be_visible()
    bottoms = {
        name: page.locator(name).first.bounding_box()
        for name in ("h1", "[data-key=llc]", "[data-key=variance]", "p.good, p.fair, p.warn, p.bad")
    }
    assert all(box["y"] >= 0 and box["y"] + box["height"] <= height for box in bottoms.values()), bottoms
    assert page.locator("[data-key=llc]").first.evaluate(SIZE) >= 40
    small = [words for size, words in page.locator(READ).evaluate_all(SIZES_OF) if size < 14]
    assert not small, small
    top, bottom = page.evaluate(FIGURE, figure)
    assert top >= 0 and (top + bottom) / 2 < height - 60


def why_it_is_not_known_is_said(page):
    """Of λ̂ from the variance, in the tip of its cell."""
    number = page.locator("[data-key=variance]")
    expect(number).to_have_text("not known")
    number.hover()
    tip = page.locator(".numbers > div", has=number).locator(".tip")
    expect(tip).to_be_visible()
    expect(tip).to_contain_text(
        "Not known: so short a run sees the losses of minibatches alone. λ̂ from how much the losses vary"
    )


def diagnostics_are_folded_and_open_by_keyboard(page):
    expect(page.locator("[data-key=r_hat]")).to_be_hidden()
    page.locator("summary", has_text="Diagnostics").focus()
    page.keyboard.press("Enter")
    expect(page.locator("[data-key=r_hat]")).to_be_visible()


def what_the_run_ends_with_is_said(page):
    """The sentences are the last ones long before the run is over, which would take ten seconds."""
    for side, words in (("left", "Wrong distribution."), ("right", "Samples the target.")):
        expect(page.locator(f"[data-key={side}_exact]")).to_have_text(re.compile(r"\d"))
        expect(page.locator(VERDICTS).filter(has_text=f"{side.title()} panel:")).to_contain_text(words)
    page.evaluate(PAUSE)
    expect(page.locator(".caption")).to_have_text(re.compile("paused|finished"))
    for side in ("Left", "Right"):  # the words of a run that rests are read aloud, and stay
        said = page.locator(VERDICTS).filter(has_text=f"{side} panel:")
        expect(said).to_have_attribute("aria-live", "polite")


def test_both_laws_and_what_is_said_of_them_lie_above_the_fold(app):
    """On "Stationary bias", where the estimate is a histogram: of both sides the whole figure and the verdict below it."""
    page = app.page
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        if (width, height) == SIZES[0]:
            app.open_page("stationary-bias")
            what_the_run_ends_with_is_said(page)
        app.still()
        for side in ("left", "right"):
            top, bottom = page.evaluate(FIGURE, f"law_{side}")
            said = page.locator(VERDICTS).filter(has_text=f"{side.title()} panel:")
            expect(said).to_be_visible()
            box = said.bounding_box()
            assert top >= 0 and bottom <= box["y"] + 8 and box["y"] + box["height"] <= height, (side, bottom, box)
            assert said.evaluate(SIZE) >= 16
    before = [page.evaluate(FIGURE, f"metric_figure_{side}") for side in ("left", "right")]
    said.evaluate("e => e.append(' More words on one side.'.repeat(20))")
    app.still()
    after = [page.evaluate(FIGURE, f"metric_figure_{side}") for side in ("left", "right")]
    assert before[0] == before[1] and after[0] == after[1] and after[0][0] > before[0][0], (before, after)
