"""The three choices of a page stand above its picture in every window: nothing is opened to see them, to change them, or to read
what is wrong with them."""

from __future__ import annotations

import re

import pytest
from browser_app import QUICK
from page_checks import CONTROLS, LEAST_PICTURES, MOST, PICTURES
from playwright.sync_api import expect

SIZES = [(1024, 768), (1280, 720), (1366, 768), (1440, 900), (1920, 1080), (390, 844)]


@pytest.fixture
def quick_at(app):
    def at(width, height):
        app.page.set_viewport_size({"width": width, "height": height})
        app.open_link("local-geometry", QUICK)
        app.wait_for_points()
        return app

    return at


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_each_choice_is_in_sight_and_its_change_is_a_new_run(quick_at, size):
    app = quick_at(*size)
    page = app.page
    sizes, ranks, step = (
        page.get_by_role("textbox", name=name) for name in ("Layer sizes", "Layer ranks", "Step size ε")
    )
    sampler = page.get_by_role("combobox", name="Sampler")
    for choice in (sizes, ranks, sampler, step):
        expect(choice).to_be_visible()
        box = choice.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= size[0] and box["y"] + box["height"] <= size[1], box
    with app.begins():
        sizes.fill("6, 5, 6")
        sizes.press("Enter")
    expect(page.get_by_role("img", name="Network of widths 6, 5, 6 with layer ranks 5, 5")).to_be_visible()
    with app.begins():
        step.fill("0.01")
        step.press("Enter")
    expect(page.get_by_role("checkbox", name="Step size ε automatic")).not_to_be_checked()
    with app.begins():
        sampler.click()
        page.get_by_role("option", name="SGLD", exact=True).click()
    expect(sampler).to_have_text("SGLD")

    sizes.fill("6, five, 6")
    sizes.press("Enter")
    said = page.get_by_role("alert").filter(has_text="is not a whole number")
    expect(said).to_be_visible()
    above, below = sizes.bounding_box(), ranks.bounding_box()
    assert above["y"] + above["height"] <= said.bounding_box()["y"] < below["y"]


def test_the_drawing_is_changed_by_mouse_and_by_keyboard(quick_at):
    app = quick_at(1280, 720)
    page = app.page
    sizes, ranks = (page.get_by_role("textbox", name=name) for name in ("Layer sizes", "Layer ranks"))
    net = page.get_by_role("group", name=re.compile("^Network"))
    expect(sizes).to_have_value("4, 3, 4")
    for name, options, now in (
        ("Layer 2 of 3: 3 units", {}, "4, 4, 4"),
        ("Layer 2 of 3: 4 units", {"modifiers": ["Shift"]}, "4, 3, 4"),
        ("Layer 1 of 3: 4 units", {"button": "right"}, "3, 3, 4"),
        ("Add a layer between 2 and 3", {}, "3, 3, 3, 4"),
    ):
        with app.begins():
            net.get_by_role("button", name=name).click(**options)
        expect(sizes).to_have_value(now)
    net.get_by_role("button", name="Layer 1 of 4: 3 units").focus()
    with app.begins():
        page.keyboard.press("ArrowUp")
    expect(sizes).to_have_value("4, 3, 3, 4")
    page.keyboard.press("ArrowRight")
    with app.begins():
        page.keyboard.press("ArrowDown")
    expect(ranks).to_have_value("2, 3, 3")
    net.get_by_role("button", name="Layer 2 of 4: 3 units").focus()
    with app.begins():
        page.keyboard.press("Delete")
    expect(sizes).to_have_value("4, 3, 4")


def centre(button):
    box = button.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_a_layer_and_a_rank_are_dragged_by_mouse(quick_at):
    app = quick_at(1280, 720)
    page = app.page
    sizes, ranks = (page.get_by_role("textbox", name=name) for name in ("Layer sizes", "Layer ranks"))
    run = page.get_by_role("toolbar", name="Run control")
    net = page.get_by_role("group", name=re.compile("^Network"))
    x, y = centre(net.get_by_role("button", name="Layer 2 of 3: 3 units"))
    with app.begins():
        before = run.get_attribute("data-run")
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x, y - 31)
        expect(sizes).to_have_value("4, 6, 4")  # drawn and written while it is held
        expect(page.get_by_role("img", name=re.compile("^Network of widths 4, 6, 4"))).to_be_visible()
        page.mouse.move(x, y - 11)
        expect(sizes).to_have_value("4, 4, 4")
        assert run.get_attribute("data-run") == before, "it runs once it is let go"
        page.mouse.up()
    x, y = centre(net.get_by_role("button", name="Rank 1: 4"))
    with app.begins():
        app.drag((x, y), (x, y + 10), (x, y + 21))
    expect(ranks).to_have_value("2, 4")
    x, y = centre(net.get_by_role("button", name="Layer 2 of 3: 4 units"))
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y + 21)
    expect(sizes).to_have_value("4, 2, 4")
    page.keyboard.press("Escape")
    expect(sizes).to_have_value("4, 4, 4")
    expect(ranks).to_have_value("2, 4")
    page.mouse.up()
    with app.begins():  # a press is still a press
        net.get_by_role("button", name="Layer 2 of 3: 4 units").click()
    expect(sizes).to_have_value("4, 5, 4")


def test_a_finger_widens_by_a_tap_and_narrows_by_dragging(quick_at):
    app = quick_at(390, 844)
    page = app.page
    sizes = page.get_by_role("textbox", name="Layer sizes")
    net = page.get_by_role("group", name=re.compile("^Network"))
    control = page.context.new_cdp_session(page)
    control.send("Emulation.setTouchEmulationEnabled", {"enabled": True})

    def touch(kind, *points):
        control.send(
            "Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": each[0], "y": each[1]} for each in points]}
        )

    net.scroll_into_view_if_needed()
    x, y = centre(net.get_by_role("button", name="Layer 2 of 3: 3 units"))
    with app.begins():
        touch("touchStart", (x, y))
        touch("touchEnd")
    expect(sizes).to_have_value("4, 4, 4")
    x, y = centre(net.get_by_role("button", name="Layer 2 of 3: 4 units"))
    with app.begins():
        touch("touchStart", (x, y))
        for far in (8, 15, 21):
            touch("touchMove", (x, y + far))
        expect(sizes).to_have_value("4, 2, 4")
        assert centre(net.get_by_role("button", name="Layer 2 of 3: 4 units")) == (x, y), (
            "the page does not scroll with it"
        )
        touch("touchEnd")
    expect(sizes).to_have_value("4, 2, 4")
    control.send("Emulation.setTouchEmulationEnabled", {"enabled": False})
    control.detach()


@pytest.mark.parametrize(("key", "names"), [
    ("landscapes", ("Landscape", "Sampler")),
    ("your-network", ("Network", "Sampler")),
    ("stationary-bias", ("Target", "Left sampler", "Right sampler")),
])  # fmt: skip
def test_other_pages_have_their_choices_in_sight(app, key, names):
    app.page.set_viewport_size({"width": 1280, "height": 720})
    app.open_page(key)
    choices = [app.page.get_by_role("combobox", name=name) for name in names]
    choices += app.page.get_by_role("textbox", name="Step size ε").all()
    for choice in (*choices, app.page.get_by_role("textbox", name="Step size ε").first):
        expect(choice).to_be_visible()
        assert choice.bounding_box()["y"] < 300


@pytest.mark.parametrize("size", [(1280, 720), (1366, 768)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_pictures_fill_the_first_screen(quick_at, size):
    """At least 35% of it, with the truth beside λ̂, a verdict of one line, and few things to press."""
    page = quick_at(*size).page
    expect(page.locator(".caption")).to_have_text("finished")
    expect(page.locator("p.good, p.fair, p.warn, p.bad")).to_be_visible()
    assert page.evaluate(PICTURES) >= LEAST_PICTURES
    controls = page.evaluate(CONTROLS)
    assert len(controls) <= MOST, controls
    llc, truth = (page.locator(f"[data-key={key}]").bounding_box() for key in ("llc", "truth"))
    assert llc["y"] < truth["y"] + truth["height"] and truth["y"] < llc["y"] + llc["height"] < size[1]
    said = page.locator("p.good, p.fair, p.warn, p.bad")
    line = said.bounding_box()
    assert line["height"] < 44
    said.focus()
    expect(said).to_have_css("white-space", "normal")
    page.get_by_role("button", name="Examples").click()
    expect(page.get_by_role("group", name="Presets").get_by_role("button").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("group", name="Presets")).not_to_be_visible()
