"""The page "Local geometry" in a browser. Every test also fails on console errors and on requests to other hosts."""

from __future__ import annotations

import time

import pytest
from browser_app import UNUSED_MILLISECONDS
from page_scripts import SCHEME
from playwright.sync_api import expect

UPDATES = """(count) => new Promise((done) => {
  const source = [...Bokeh.documents[0]._all_models.values()].find((m) => m.name === 'losses' && m.type === 'ColumnDataSource')
  let updates = 0
  const counted = () => {
    updates += 1
    if (updates < count) return
    source.streaming.disconnect(counted)
    done(updates)
  }
  source.streaming.connect(counted)
  setTimeout(() => done(updates), 60000)
})"""


def test_a_slow_browser_whose_session_has_expired_gets_the_page_from_this_server_alone(app):
    def late(route):
        time.sleep(UNUSED_MILLISECONDS / 1000 + 1)
        route.continue_()

    app.page.route("**/bokeh.min.js*", late)
    app.open_short()


def test_ten_chains_are_drawn_while_they_run(long):
    """How often a second: `python -m lab.benchmarks.served.latencies`, as for the other times of the app."""
    app = long
    assert len(app.source("losses")) == 11, "ten chains and the step"
    assert app.page.evaluate(UPDATES, 15) == 15


def test_the_tiny_preset_meets_the_expected_value(started):
    """Within two standard errors; one other seed is allowed, since an honest error bar misses one time in fifteen."""
    app = started
    expect(app.page.locator(".caption")).to_have_text("finished")
    expect(app.page.get_by_text("Trust it.")).to_be_visible()
    if distance(app) > 2:
        app.page.get_by_text("Advanced").click()
        seed = app.page.get_by_role("textbox", name="Chain seed")
        seed.fill("1")
        with app.begins():
            seed.press("Enter")
        expect(app.page.locator(".caption")).to_have_text("finished")
        expect(app.page.get_by_text("Trust it.")).to_be_visible()
    assert distance(app) <= 2
    assert app.number("dead") == "0 of 10"
    assert float(app.number("r_hat")) < 1.05


def distance(app) -> float:
    """|λ̂ − expected| in standard errors, from the read-outs as shown (rounding included)."""
    llc, se = map(float, app.number("llc").split(" ± "))
    return abs(llc - float(app.number("expected"))) / se


def test_pause_step_play_reset(long):
    app = long
    app.button("Pause").click()
    expect(app.page.locator(".caption")).to_contain_text("paused")
    held = app.step
    app.page.get_by_role("button", name="Step: advance by 1,000 steps").click()
    expect(app.page.locator(".count")).to_contain_text(f"step {held + 1000:,} of")  # no step was made on the way

    app.button("Play").click()
    expect(app.page.locator(".caption")).not_to_contain_text("paused")
    app.page.wait_for_function(f"() => {SHOWN_STEP} > {held + 1000}")

    with app.begins():
        app.button("Reset").click()
    app.wait_for_points()
    assert min(app.source("losses")["step"]) == 0
    app.button("Pause").wait_for()


SHOWN_STEP = """(() => {
  const deep = (root) => root.querySelector('.count') ?? [...root.querySelectorAll('*')].filter((e) => e.shadowRoot)
    .map((e) => deep(e.shadowRoot)).find(Boolean)
  return Number(deep(document).textContent.split(' ')[1].replaceAll(',', ''))
})()"""


def test_the_keyboard_does_what_the_buttons_do(long):
    app = long
    app.page.keyboard.press("Space")
    expect(app.page.locator(".caption")).to_contain_text("paused")
    held = app.step
    app.page.keyboard.press("s")
    app.page.wait_for_function(f"() => {SHOWN_STEP} > {held}")
    widths = app.page.get_by_role("textbox", name="Layer sizes")
    widths.focus()
    app.page.keyboard.press("s")
    app.page.keyboard.press("Escape")
    expect(app.page.locator(".caption")).to_contain_text("paused")
    assert app.page.get_by_role("progressbar", name="Progress").count() == 1
    for name in ("Play", "Reset"):
        app.button(name).focus()


GOOD = {"60": ("6, 5, 6", "5, 5"), "70": ("7, 5, 7", "5, 5")}
"""Widths and ranks of networks, by their number of parameters."""


@pytest.fixture
def network(kept, request):
    """The page with a network whose run is on or over: the one that the case before has left, otherwise as the page opens."""
    app = kept.app
    return app if app is not None and app.number("dim") in GOOD else request.getfixturevalue("started")


@pytest.mark.parametrize(
    "widths, ranks, message",
    [
        ("8, -6, 8", "", "Width number 2 is -6; it must be at least 1."),
        ("8, six, 8", "", "is not a whole number"),
        ("8", "", "give an input width, an output width"),
        ("4000, 4000", "", "this server gives each run"),
        ("5, 4, 5", "9, 1", "The rank of layer 1 is 9; it must be at most 4."),
    ],
)
def test_bad_widths_get_a_message_and_the_page_keeps_working(network, widths, ranks, message):
    app, dim = network, network.number("dim")
    good = next(each for each in GOOD if each != dim)
    entry, rank_entry = (app.page.get_by_role("textbox", name=name) for name in ("Layer sizes", "Layer ranks"))
    if ranks:
        entry.fill("5, 4, 5")
        entry.press("Enter")
        expect(app.page.locator("[data-key=dim]")).to_have_text("40")
        rank_entry.fill(ranks)
        rank_entry.press("Enter")
    else:
        entry.fill(widths)
        entry.press("Enter")
    expect(app.page.get_by_role("alert").filter(has_text=message)).to_be_visible()
    assert app.number("dim") == ("40" if ranks else dim), "the run that was on stays"
    before = app.step
    app.page.wait_for_function(f"() => {SHOWN_STEP} > {before} || {SHOWN_STEP} === 8000")  # it goes on to its end

    rank_entry.fill("")
    rank_entry.press("Enter")
    entry.fill(GOOD[good][0])
    with app.begins():
        entry.press("Enter")
    expect(app.page.locator("[data-key=dim]")).to_have_text(good)
    expect(app.page.get_by_role("alert").filter(has_text=message)).to_have_count(0)
    drawn = "Network of widths {} with layer ranks {}".format(*GOOD[good])
    expect(app.page.get_by_role("img", name=drawn)).to_be_visible()
    app.wait_for_points()


def test_presets_start_their_runs(started):
    app = started
    tiles = app.page.get_by_role("group", name="Presets").get_by_role("button")
    assert tiles.count() >= 6
    expected = {"Local ≠ global": ("32 (m = 1)", "29 (m = 2)"), "Regular": ("24 (m = 1)", "24 (m = 1)")}
    for title, (local, best) in expected.items():
        tile = tiles.filter(has_text=title)
        with app.begins():
            tile.click()
        expect(tile).to_have_attribute("aria-pressed", "true")
        expect(app.page.locator("[data-key=local]")).to_have_text(local)
        expect(app.page.locator("[data-key=global]")).to_have_text(best)
        app.wait_for_points()
    minibatch = tiles.filter(has_text="Minibatch")
    with app.begins():
        minibatch.click()
    expect(app.page.get_by_text("Do not trust it.")).to_be_visible()


def test_another_sampler_brings_its_own_fields_and_its_formula(started):
    app = started
    app.page.get_by_role("combobox", name="Sampler").click()
    app.page.get_by_text("SGHMC", exact=True).click()
    expect(app.page.get_by_text("How SGHMC moves")).to_be_visible()
    expect(app.page.locator("math").first).to_be_attached()
    app.page.get_by_text("Advanced").click()
    friction = app.page.get_by_role("textbox", name="Friction")
    expect(friction).to_have_value("0.1")
    friction.fill("2")
    friction.press("Enter")
    expect(app.page.get_by_role("alert").filter(has_text="SGHMC.friction is 2;")).to_be_visible()
    friction.fill("0.2")
    with app.begins():
        friction.press("Enter")
    expect(app.page.get_by_role("alert").filter(has_text="SGHMC.friction")).to_have_count(0)
    app.wait_for_points()


def test_a_phone_shows_everything_below_each_other(app):
    app.page.set_viewport_size({"width": 390, "height": 844})
    app.open_short()
    figures = app.page.locator(".bk-Figure:visible")
    expect(figures).to_have_count(2)
    app.button("Sweep a setting").click()
    app.button("Sweep").click()
    expect(figures).to_have_count(4)
    app.button("Stop").click()
    boxes = [figures.nth(i).bounding_box() for i in range(4)]
    for above, below in zip(boxes, boxes[1:], strict=False):
        assert above["y"] + above["height"] <= below["y"]
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 390 for box in boxes)
    assert app.page.evaluate("document.documentElement.scrollWidth") <= 390
    app.page.locator("summary", has_text="Diagnostics").click()
    cells = app.page.locator(".numbers > div:not([hidden])")
    assert cells.count() >= 6
    for cell in cells.all():
        cell.hover()
        explanation = cell.locator(".tip")
        expect(explanation).to_be_visible()
        box = explanation.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 390, explanation.text_content()
    expect(app.page.get_by_role("textbox", name="Steps", exact=True)).not_to_be_visible()
    app.page.get_by_role("button", name="Open drawer").click()
    expect(app.page.get_by_role("textbox", name="Steps", exact=True)).to_be_visible()


def test_dark_mode_reaches_figures_and_components(started):
    app = started
    light = app.page.evaluate(SCHEME)
    assert light[0] == "#ffffff"
    app.switch_scheme()
    before = app.step
    app.page.wait_for_function(f"() => {SHOWN_STEP} > {before} || {SHOWN_STEP} === 8000")  # it goes on to its end
    app.switch_scheme()
