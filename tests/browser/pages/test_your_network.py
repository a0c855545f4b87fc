"""The page "Your network" in a browser: a run, a checkpoint, a part, the map, weights from a file."""

from __future__ import annotations

import io

import pytest
import torch
from page_scripts import SOURCE
from playwright.sync_api import expect

from app.pages.your_network.config import NETWORKS
from llc_core.networks import build_model

# How many pixels of a canvas are neither empty nor grey.
COLOURED = """(canvas) => {
  const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
  let found = 0
  for (let k = 0; k < data.length; k += 4) found += data[k + 3] > 60 && Math.abs(data[k] - data[k + 2]) > 40
  return found
}"""
QUICK = {"network": "small", "steps": 600, "batch_size": 16}


@pytest.fixture
def mine(kept):
    """The page after a short run, loaded for this test or left by another, whose choices are taken back."""

    def first(app):
        app.open_link("your-network", QUICK)
        finished(app)

    def again(app):
        page = app.page
        app.bring(QUICK)
        expect(page.get_by_role("combobox", name="Checkpoint")).to_have_text("after 1,000 steps")
        expect(page.get_by_role("combobox", name="What moves")).to_have_text("all parameters")
        expect(page.get_by_role("checkbox", name="Step size ε automatic")).to_be_checked()
        finished(app)

    return kept.get(first, again)


def finished(app):
    app.wait_for_points(180)
    expect(app.page.locator(".count")).to_contain_text("of 600")
    expect(app.page.locator(".caption")).to_have_text("finished", timeout=180_000)


def unfold(app, label):
    """Open a card, unless a test before has: once and for all."""
    button = app.button(label)
    expect(button.or_(app.page.get_by_role("heading", name=label, exact=True))).to_be_visible()
    if button.is_visible():
        button.click()


def test_a_checkpoint_and_a_part_are_chosen_and_compared(mine):
    app, page = mine, mine.page
    first = app.number("llc")
    unfold(app, "Over training")
    app.until(f"(({SOURCE})('training')?.step?.length ?? 0) > 0")
    assert len(app.source("training")["step"]) == len(NETWORKS["small"].checkpoints)
    app.button("Pin this run").click()
    page.get_by_role("combobox", name="Checkpoint").click()
    with app.begins():
        page.get_by_text("after 100 steps", exact=True).click()
    table = page.get_by_role("table").filter(has_text="pinned: SGLD")
    expect(table).to_be_visible()
    expect(table).to_contain_text(first)
    expect(page.locator(".caption")).to_have_text("finished")
    assert app.number("llc") != first
    expect(page.get_by_role("cell", name="All 4 chains stayed finite.")).to_be_visible()

    page.get_by_role("combobox", name="What moves").click()
    with app.begins():
        page.get_by_role("option", name="layer 2", exact=True).click()
    expect(page.locator(".caption")).to_have_text("finished")
    app.button("Unpin").click()


def test_the_weights_are_drawn_and_what_is_held_is_told_from_what_moves(mine):
    app, page = mine, mine.page
    first, last = (page.get_by_role("img", name=f"weights, {shape}:") for shape in ("64 → 32", "32 → 10"))
    expect(first).to_have_accessible_name("weights, 64 → 32: 2,048 weights, all move")
    far = page.get_by_text("moved by")
    expect(far).to_have_count(4)  # two layers, each with its bias
    app.button("What has changed").click()
    expect(app.button("What has changed")).to_have_attribute("aria-pressed", "true")
    page.wait_for_function(f"(canvas) => ({COLOURED})(canvas) > 0", arg=first.element_handle())
    expect(page.get_by_text("The lines show the largest at w0: 150 of 2,048, 150 of 320.")).to_be_visible()

    app.button("Where chain 1 is now").click()
    page.get_by_role("combobox", name="What moves").click()
    with app.begins():
        page.get_by_role("option", name="layer 2", exact=True).click()
    expect(first).to_have_accessible_name("weights, 64 → 32: 2,048 weights, frozen")
    expect(last).to_have_accessible_name("weights, 32 → 10: 320 weights, all move")
    expect(page.get_by_text("A frame marks what moves.")).to_be_visible()
    expect(far).to_have_count(2)
    assert first.evaluate(COLOURED) == 0 < last.evaluate(COLOURED)
    expect(page.get_by_role("img", name="Network of layers 64, 32, 10")).to_be_visible()


def test_a_flat_direction_is_walked_along_and_measured_beside(mine):
    app, page = mine, mine.page
    unfold(app, "A flat direction")  # which begins at once
    rows = page.get_by_role("table").filter(has_text="change of the loss along it").get_by_role("row")
    expect(rows).to_have_count(6, timeout=60_000)
    expect(page.get_by_text("4 times as large, and what it meets as much smaller, the loss changes by")).to_be_visible()
    for row in rows.all()[1:]:
        along, beside = row.get_by_role("cell").all_text_contents()[1:]
        assert abs(float(along.replace("−", "-"))) < 1e-9 < 1e-4 < float(beside.split(" ± ")[0])


def test_the_map_gives_its_pick_to_the_side_bar_and_checkpoints_come_in(mine):
    app, page = mine, mine.page
    unfold(app, "Over training")
    app.button("At every checkpoint").click()
    page.wait_for_function(f"() => (({SOURCE})('over_training')?.step?.length ?? 0) >= 2", timeout=60_000)
    app.button("Stop").first.click()
    unfold(app, "Which step size?")
    app.button("Calibrate").click()
    app.button("Use the pick").wait_for(timeout=120_000)
    cells = app.source("calibration")
    assert len(cells["llc"]) == 24 and max(cells["frame"]) > 0
    app.button("Use the pick").click()
    expect(page.get_by_role("checkbox", name="Step size ε automatic")).not_to_be_checked()


def test_weights_from_a_file_and_from_a_wrong_one(mine):
    page = mine.page
    content = io.BytesIO()
    torch.save(build_model(NETWORKS["small"].model, seed=9).state_dict(), content)
    chooser = page.locator("input[type=file][accept^='.safetensors,.pt']")
    file = {"name": "mine.pt", "mimeType": "application/octet-stream", "buffer": content.getvalue()}
    with mine.begins():
        chooser.set_input_files(file)
    expect(page.get_by_text("Weights from mine.pt.")).to_be_visible()
    expect(page.get_by_role("combobox", name="Checkpoint")).to_have_text("the file’s weights")
    mine.until_taken("mine.pt")
    chooser.set_input_files({"name": "bad.pt", "mimeType": "application/octet-stream", "buffer": b"nothing"})
    expect(page.get_by_role("alert").filter(has_text="bad.pt contains Python objects")).to_be_visible()
    expect(page.locator(".caption")).to_have_text("finished")


def test_rows_are_chosen_and_others_matter_for_them(mine):
    page = mine.page
    unfold(mine, "Which rows matter?")
    matrix, title = page.locator("canvas.matrix"), page.locator(".list .title")
    expect(matrix).to_be_visible(timeout=180_000)
    matrix.focus()
    before = title.inner_text()
    page.keyboard.press("ArrowDown")
    expect(title).not_to_have_text(before)
    item = page.locator(".list li button").first
    name = item.locator(".name").inner_text()
    item.click()
    expect(title).to_contain_text(f"The loss of {name} changes most")
    expect(page.locator(".list li")).to_have_count(8)
    expect(page.locator(".list .value").first).to_contain_text("±")
