"""The page "Your network" in a browser: a run, a checkpoint, a part, the map, weights from a file."""

from __future__ import annotations

import io

import pytest
import torch
from page_scripts import SOURCE
from playwright.sync_api import expect

from app.pages.your_network.config import NETWORKS
from llc_core.networks import build_model

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


def test_a_checkpoint_and_a_part_are_chosen_and_compared(mine):
    app, page = mine, mine.page
    first = app.number("llc")
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
        page.get_by_text("layer 2", exact=True).click()
    expect(page.locator(".caption")).to_have_text("finished")
    app.button("Unpin").click()


def test_the_map_gives_its_pick_to_the_side_bar_and_checkpoints_come_in(mine):
    app, page = mine, mine.page
    app.button("At every checkpoint").click()
    page.wait_for_function(f"() => (({SOURCE})('over_training')?.step?.length ?? 0) >= 2", timeout=60_000)
    app.button("Stop").first.click()
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
