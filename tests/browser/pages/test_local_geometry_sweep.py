"""The sweep in a browser: live points, the marks, a point taken over by mouse and by button, stop."""

from __future__ import annotations

from page_scripts import SOURCE
from playwright.sync_api import expect

from app.pages.local_geometry.panels.sweep.job import MAX_STEPS
from app.style.numbers import number_text

# Middle of a point of the sweep on the screen, from its value and error.
PLACE = """([value, error]) => {
  const view = [...Bokeh.index.query((v) => v.model.name === 'sweep_figure' && v.model.type === 'Figure')][0]
  const box = view.canvas_view.el.getBoundingClientRect()
  return [box.x + view.frame.x_scale.compute(value), box.y + view.frame.y_scale.compute(error)]
}"""


def test_a_sweep_comes_in_live_and_its_points_set_the_step_size(quick):
    app, page = quick, quick.page
    shown = page.locator(".bk-Figure:visible")
    expect(shown).to_have_count(2)
    page.get_by_role("button", name="Export").click()
    page.get_by_role("button", name="Sweep as PNG", exact=True).click()
    expect(page.get_by_text("This figure is not on the screen yet; try again when it is.")).to_be_visible()
    app.button("Sweep a setting").click()
    app.button("Sweep").click()
    expect(shown).to_have_count(4)
    app.button("Use the best").wait_for(timeout=60_000)
    app.button("Sweep").wait_for(timeout=60_000)
    points = app.source("sweep")
    assert len(points["value"]) == 12 and set(points["alpha"]) == {1}
    assert points["dead"][0] == 0 and points["dead"][-1] == 1
    expect(page.get_by_text("Smallest error, its error bar included, at")).to_be_visible()

    # By mouse: a click on the third point; hovering shows its numbers.
    page.get_by_text("Smallest error, its error bar included, at").scroll_into_view_if_needed()
    x, y = app.place(PLACE, [points["value"][2], points["error"][2]])
    page.mouse.move(x, y)
    tip = page.locator(".bk-Tooltip").filter(has_text=number_text(points["value"][2]))
    expect(tip).to_be_visible()
    expect(tip).to_contain_text("trust it")
    with app.begins():
        page.mouse.click(x, y)
    step = page.get_by_role("textbox", name="Step size ε")
    expect(step).to_have_value(number_text(points["value"][2]))
    app.wait_for_points()
    assert len(app.source("sweep")["value"]) == 12, "the points hold for other step sizes"

    # By keyboard: the button for the best one.
    best = app.button("Use the best")
    best.focus()
    page.keyboard.press("Enter")
    expect(step).not_to_have_value(number_text(points["value"][2]))
    assert float(step.input_value()) in [float(number_text(value)) for value in points["value"]]

    # Another field, settings that make the points obsolete, and stop.
    page.get_by_role("combobox", name="Field").click()
    page.get_by_text("Localization γ", exact=True).click()
    app.button("Sweep").click()
    page.wait_for_function(f"() => Math.max(...(({SOURCE})('sweep')?.value ?? [0])) > 10")
    app.button("Sweep").wait_for(timeout=60_000)
    values = app.source("sweep")["value"]
    assert min(values) < 0.1 and max(values) > 10

    widths = page.get_by_role("textbox", name="Layer sizes")
    widths.fill("5, 4, 5")
    widths.press("Enter")
    expect(page.get_by_text("These points are of earlier settings")).to_be_visible()
    expect(app.button("Use the best")).to_have_count(0)

    # Points come in live: of a sweep that is long enough to be seen on any machine, as many steps as a sweep may have.
    entry = page.get_by_role("textbox", name="Steps", exact=True)
    entry.fill(f"{MAX_STEPS}")
    entry.press("Enter")
    app.button("Sweep").click()
    app.button("Stop").wait_for()
    page.wait_for_function(f"() => (({SOURCE})('sweep')?.alpha?.[0] ?? 1) < 1")
    app.button("Stop").click()
    expect(page.get_by_text("Stopped.", exact=True)).to_be_visible()


def test_every_place_of_the_page_has_the_same_step_sizes(quick):
    """The automatic one and the largest stable one, in the field, on the slider, in the sweep, in the verdict and on its button."""
    app, page = quick, quick.page
    step = page.get_by_role("textbox", name="Step size ε")
    expect(page.get_by_role("checkbox", name="Step size ε automatic")).to_be_checked()
    automatic = step.input_value()
    unfold = app.button("Sweep a setting")
    expect(unfold.or_(app.button("Sweep"))).to_be_visible()
    if unfold.is_visible():
        unfold.click()
    page.get_by_role("combobox", name="Field").click()
    page.get_by_role("option", name="Step size ε", exact=True).click()
    app.button("Sweep").click()
    app.button("Use the best").wait_for(timeout=60_000)
    app.button("Sweep").wait_for(timeout=60_000)
    slider = page.locator(".limit", has_text="stable below")
    said = page.get_by_text("Smallest error, its error bar included, at")
    largest = slider.text_content().removeprefix("stable below ")
    expect(said).to_contain_text(f"the automatic {automatic})")
    expect(said).to_contain_text(f"Chains are stable below {largest}.")

    with app.begins():  # far too large: its verdict advises another
        step.fill(str(1.2 * float(largest)))
        step.press("Enter")
    button = page.get_by_role("button", name="Apply: step size ε")
    button.wait_for()
    expect(said).to_contain_text(f"the automatic {automatic})")
    largest = float(slider.text_content().removeprefix("stable below "))
    expect(said).to_contain_text(f"Chains are stable below {largest:g}.")
    advised = float(button.text_content().split()[-1])
    expect(page.get_by_text(f"half the largest stable step size, {advised:g}, or leave it automatic")).to_be_visible()
    assert abs(advised - largest / 2) <= 0.005 * largest, "two digits, of a number of three"
    with app.begins():
        button.click()
    expect(step).to_have_value(f"{advised:g}")
