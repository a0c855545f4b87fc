"""The page "Landscapes" in a browser. Every test also fails on console errors and on requests to other hosts."""

from __future__ import annotations

import re

import pytest
from page_scripts import SOURCE
from playwright.sync_api import expect

from app.pages.landscapes.presets import PRESETS

TITLE = next(preset.title for preset in PRESETS if preset.name == "crossing")
# Where a point of the plane lies on the screen. The upper half is in view without scrolling.
PLACE = """([x, y]) => {
  const view = [...window.Bokeh.index.query((v) => v.model.name === 'plane' && v.model.type === 'Figure')][0]
  const box = view.el.getBoundingClientRect()
  const frame = view.frame ?? view.frame_view
  return [box.left + frame.x_scale.compute(x), box.top + frame.y_scale.compute(y)]
}"""


def wait_for(app, name: str, column: str, count: int = 1) -> None:
    app.page.wait_for_function(
        f"([name, column, count]) => (({SOURCE})(name)?.[column]?.length ?? 0) >= count",
        arg=[name, column, count],
        timeout=60_000,
    )


def choose(page, name, option):
    page.get_by_role("combobox", name=name, exact=True).click()
    page.get_by_role("option", name=option, exact=True).click()


@pytest.fixture
def plane(kept):
    """The page, opened by its address or left in order by another test, with chains that move where two lines cross."""

    def first(app):
        app.page.goto(f"{app.address}?page=landscapes&preset=crossing")
        wait_for(app, "trails", "x0", 20)

    def again(app):
        page = app.page
        for name, option in (("The pointer", "moves w₀"), ("Behind the chains", "loss")):
            choose(page, name, option)
        with app.begins():
            page.get_by_role("group", name="Presets").get_by_role("button").filter(has_text=TITLE).click()
        expect(page.get_by_role("textbox", name="Point w0: w₁, w₂", exact=True)).to_have_value("0, 0")
        expect(page.get_by_role("textbox", name="Start w₁", exact=True)).to_have_value("0.1")
        expect(page.locator("[data-key=multiplicity]")).to_have_text("2")
        expect(app.button("Pause")).to_be_visible()
        wait_for(app, "trails", "x0", 20)

    return kept.get(first, again)


def test_chains_move_and_meet_the_exact_answer(plane):
    page = plane.page
    assert len(plane.source("heads")["x"]) == 10 and len(plane.source("trails")["x9"]) <= 200
    expect(page.locator(".caption")).to_have_text("finished", timeout=120_000)
    expect(page.locator("[data-key=exact]").first).to_have_text("0.3558")
    expect(page.locator("[data-key=llc]")).to_contain_text("0.3565 ±")
    # The data have noise, so the truth is no minimum of their loss, and the chains alone would be refused.
    expect(page.locator("p.warn")).to_contain_text("For this w0 λ̂ is right (it should be 0.3558)")
    wait_for(plane, "volume", "x", 20)
    expect(page.locator("[data-key=slope]")).to_have_text("0.5000")
    choose(page, "Behind the chains", "posterior")
    expect(page.get_by_text("Purple: where chains should go")).to_be_visible()
    wait_for(plane, "posterior", "image")


def test_a_click_moves_w0_along_the_truth(plane):
    page = plane.page
    x, y = plane.place(PLACE, [0.4, 2.0])
    page.mouse.click(x, y)
    entry = page.get_by_role("textbox", name="Point w0: w₁, w₂", exact=True)
    expect(entry).not_to_have_value("0, 0")
    across, up = (float(part) for part in entry.input_value().split(","))
    assert across == 0 and abs(up - 2) < 0.1
    expect(page.locator("[data-key=multiplicity]")).to_have_text("1")


def test_a_click_sets_the_start_and_so_does_an_entry(plane):
    page = plane.page
    plane.button("Pause").click()
    choose(page, "The pointer", "moves start")
    expect(page.get_by_text("the chains begin there")).to_be_visible()
    x, y = plane.place(PLACE, [1.5, 2.0])
    page.mouse.click(x, y)
    entry = page.get_by_role("textbox", name="Start w₁", exact=True)
    expect(entry).not_to_have_value("0.1")
    assert abs(float(entry.input_value()) - 1.5) < 0.1
    below = page.get_by_role("textbox", name="Start w₂", exact=True)
    assert abs(float(below.input_value()) - 2.0) < 0.1
    below.fill("-0.75")
    below.press("Enter")
    page.wait_for_function(f"() => (({SOURCE})('start')?.y ?? [])[0] === -0.75", timeout=60_000)
    below.fill("hello")
    below.press("Enter")
    expect(page.get_by_role("alert").filter(has_text="is not a number")).to_be_visible()


def test_nuts_stands_beside_the_chains(app):
    """Figure 8 of the paper by its address, and the same without NUTS, which the address then says."""
    page = app.page
    app.page.goto(f"{app.address}?page=landscapes&preset=paper-001-figure-8")
    wait_for(app, "draws", "x", 100)
    count = len(app.source("draws")["x"])
    expect(page.get_by_text(f"Squares: {count} draws of NUTS")).to_be_visible()
    choose(page, "Beside them", "nothing")
    page.wait_for_function(f"() => (({SOURCE})('draws')?.x ?? []).length === 0", timeout=60_000)
    expect(page.get_by_text("draws of NUTS")).to_have_count(0)
    choose(page, "Behind the chains", "exp(−nβK)")
    wait_for(app, "weight", "image")
    page.wait_for_function("() => new URL(location).searchParams.has('c')")
    page.reload()
    wait_for(app, "weight", "image")
    expect(page.get_by_role("combobox", name="Behind the chains", exact=True)).to_contain_text("exp(−nβK)")


def test_u_and_v_are_compared_while_one_watches(plane):
    page = plane.page
    plane.button("Pause").click()
    page.get_by_role("button", name="100 data sets", exact=True).click()
    plane.button("Run U and V").click()
    page.wait_for_function(
        f"() => (({SOURCE})('points_U')?.top ?? []).reduce((a, b) => a + b, 0) === 100", timeout=60_000
    )
    expect(page.get_by_text("On the same data U is above V")).to_be_visible()
    expect(page.get_by_text("Step 5,000 of 5,000.")).to_be_visible(timeout=120_000)
    expect(plane.button("Run U and V")).to_be_visible()


def test_nothing_sticks_out_light_or_dark(app):
    """Opened on a phone, and opened again on a tablet."""
    page = app.page
    for width in (390, 1024):
        page.set_viewport_size({"width": width, "height": 900})
        app.open_page("landscapes")
        wait_for(app, "trails", "x0", 20)
        app.until(f"document.documentElement.scrollWidth <= {width}")
        found = [page.get_by_role("button", name=name).first for name in ("choose a page", "Share")]
        pages, share = (button.bounding_box() for button in found)
        assert pages["x"] + pages["width"] <= share["x"], "buttons of the header lie over each other"
        assert share["x"] + share["width"] <= width
        app.switch_scheme()
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_slow_run_shows_what_one_step_is_made_of(plane):
    page = plane.page
    page.get_by_label("Speed").evaluate("e => { e.value = 0; e.dispatchEvent(new Event('change')) }")
    plane.button("Reset").click()  # a run at full speed may be over by now
    wait_for(plane, "step_drift", "x0", 1)
    expect(page.get_by_text(re.compile("^Drift .* The chain moves by their sum"))).to_be_visible()
    plane.button("Pause").click()
    expect(page.locator(".caption")).to_contain_text("paused")
    before = plane.step
    plane.button("Step: advance by 1 step").click()
    expect(page.locator(".count")).to_contain_text(f"step {before + 1:,} of")
    page.get_by_label("Speed").evaluate("e => { e.value = 4; e.dispatchEvent(new Event('change')) }")
    plane.button("Play").click()
    expect(page.get_by_text("Press Step, or turn the speed down")).to_be_visible()


def test_a_drag_draws_a_valley_once_the_pen_is_chosen(plane):
    page = plane.page
    choose(page, "The pointer", "draws")
    expect(page.get_by_text("there the loss is 0")).to_be_visible()
    x, y = plane.place(PLACE, [-2, 1.0])
    right, top = plane.place(PLACE, [2, 2.0])
    with plane.begins():
        plane.drag(*((x + (right - x) * share / 20, y + (top - y) * share / 20) for share in range(21)))
    page.wait_for_function(f"() => (({SOURCE})('truth_lines')?.xs ?? []).length === 1", timeout=60_000)
    xs, ys = (plane.source("truth_lines")[name][0] for name in ("xs", "ys"))
    assert abs(xs[0] + 2) < 0.1 and abs(ys[0] - 1) < 0.1 and abs(xs[-1] - 2) < 0.1 and abs(ys[-1] - 2) < 0.1
    wait_for(plane, "trails", "x0", 20)
    expect(page.locator("[data-key=multiplicity]")).to_have_text("1")


def test_a_tour_by_keyboard(plane):
    """Begun by a key, a prediction, what came out, and the way out."""
    page = plane.page
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
