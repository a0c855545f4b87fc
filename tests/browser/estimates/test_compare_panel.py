"""Pin and compare, why this number, and the menu "Export", in a browser."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from browser_app import WIDE
from page_scripts import PAUSE, SOURCE
from playwright.sync_api import expect

from llc_core import RunConfig


def test_two_samplers_side_by_side_are_two_clicks(quick):
    app, page = quick, quick.page
    first = app.number("llc")
    curve = app.source("estimates")["llc"]
    app.button("Pin this run").click()
    page.get_by_role("combobox", name="Sampler").click()
    with app.begins():
        page.get_by_text("SGHMC", exact=True).click()
    table = page.get_by_role("table").filter(has_text="pinned: Underdamped Langevin")
    expect(table).to_be_visible()
    expect(table).to_contain_text(first)
    expect(page.get_by_text("SGHMC instead of Underdamped Langevin (BAOAB)")).to_be_visible()
    assert app.source("pinned")["llc"] == curve
    expect(page.locator(".caption")).to_have_text("finished")
    assert app.source("estimates")["llc"] != curve and app.source("pinned")["llc"] == curve

    unpin = app.button("Unpin")
    unpin.focus()
    page.keyboard.press("Enter")
    expect(table).to_have_count(0)
    assert app.source("pinned")["llc"] == []


def test_why_appears_part_by_part_and_can_be_stopped(quick):
    app, page = quick, quick.page
    parts = page.locator(".why li:not(.sum)")
    app.button("Why this number?").click()
    expect(parts.first).to_be_visible()
    expect(page.get_by_text("Finite n lowers the estimate")).to_be_visible()
    expect(page.get_by_text("local λ 7.5).")).to_be_visible()
    assert parts.count() == 5
    drawn = ElementTree.fromstring(saved(app, "Error split as SVG").read_bytes())
    names = [name.text_content() for name in page.locator(".why .name").all()]
    shown = [text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert set(names) <= set(shown)
    app.button("Reset").click()
    expect(parts).to_have_count(0)

    # Stopped on the way: of a run that is long enough to be seen on any machine.
    for name, value in (("Chains", "10"), ("Steps", "10000")):
        entry = page.get_by_role("textbox", name=name, exact=True)
        entry.fill(value)
        entry.press("Enter")
    expect(page.locator(".count")).to_contain_text("of 10,000")
    app.button("Explain").click()  # it waits until there is an estimate
    page.evaluate(PAUSE)
    expect(page.get_by_text("% done.")).to_be_visible()
    app.button("Stop").click()
    expect(page.get_by_text("Stopped; the parts below")).to_be_visible()


def saved(app, name: str) -> Path:
    """Open the menu, press a button of it, and wait for the file."""
    app.button("Export ▾").click()
    with app.page.expect_download() as download:
        app.button(name).click()
    return download.value.path()


def test_everything_can_be_taken_away(quick):
    app, page = quick, quick.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.set_viewport_size({"width": 1280, "height": 720})
    app.button("Export ▾").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".away .menu:visible")).to_be_in_viewport(ratio=0.99)
    page.set_viewport_size(WIDE)
    app.button("Copy as Python").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Copied: Python that runs as pasted.")).to_be_visible()
    code = page.evaluate("navigator.clipboard.readText()")
    page.context.clear_permissions()
    compile(code, "pasted", "exec")
    assert "llc_core.run(config)" in code

    config = RunConfig.from_json(saved(app, "Configuration (JSON)").read_text())
    assert (config.steps, config.chains) == (1000, 4)
    traces = saved(app, "Traces (CSV)").read_text().splitlines()
    assert traces[0] == "step,averaged,chain_0,chain_1,chain_2,chain_3" and len(traces) == 1001
    results = dict(line.split(",", 1) for line in saved(app, "Results (CSV)").read_text().splitlines())
    shown = float(app.number("llc").split(" ± ")[0])
    assert float(results["llc"]) == pytest.approx(shown, abs=0.006)
    assert saved(app, "Everything (NetCDF)").read_bytes()[:4] == b"\x89HDF"
    every_figure_is_saved_as_png_and_svg(app)
    a_configuration_is_brought_back(app)


def every_figure_is_saved_as_png_and_svg(app):
    page = app.page
    app.button("Sweep a setting").click()
    app.button("Sweep").click()  # its figures are there from then on
    expect(page.locator(".bk-Figure:visible")).to_have_count(4)
    app.button("Stop").click()
    app.button("Export ▾").click()
    names = [row.get_attribute("aria-label") for row in page.locator(".figures button").all()]
    page.keyboard.press("Escape")
    expect(page.locator(".figures")).not_to_be_visible()
    assert len(names) == 14
    for name in names:
        if name.startswith("Error split"):
            continue  # there once it has been asked for
        content = saved(app, name).read_bytes()
        if name.endswith("SVG"):
            picture = ElementTree.fromstring(content)
            assert picture.tag.endswith("svg") and float(picture.attrib["width"]) > 50
            assert b"<image" not in content, "drawn, not photographed"
        else:
            assert content[:4] == b"\x89PNG"
    losses = saved(app, "Loss traces as SVG").read_text()
    assert losses.count("<path") > 6 and "steps of each chain" in losses
    for words in ("Loss traces", "middle 80%", "expected λ̂"):
        assert words in losses, "the legend comes with the figure"


def a_configuration_is_brought_back(app):
    page = app.page
    path = saved(app, "Configuration (JSON)")
    values = json.loads(path.read_text())
    values.update(steps=700, chains=3)
    values["problem"].update(widths=[5, 4, 5], layer_ranks=[4, 4])

    def bring(content, message):
        file = {"name": "a.json", "mimeType": "application/json", "buffer": content}
        page.locator("input[type=file]").set_input_files(file)
        expect(page.get_by_text(message)).to_be_visible()

    wrong = b"<script>alert(1)</script>", "This file is not valid JSON."
    bring(json.dumps(values).encode(), "The configuration is set.")
    expect(page.locator(".count")).to_contain_text("of 700")
    expect(page.locator("[data-key=dim]")).to_have_text("40")
    for each in (wrong, (json.dumps({**values, "chains": 5000}).encode(), "chains is 5000; it must be at most 32.")):
        bring(*each)
    expect(page.locator(".count")).to_contain_text("of 700")


def test_a_finished_run_goes_on(quick):
    app, page = quick, quick.page
    before = app.source("losses")
    go_on = page.get_by_role("button", name=re.compile("^Run .* more"))
    expect(go_on).to_have_attribute("aria-label", "Run 1,000 more steps")
    go_on.click()
    expect(page.locator(".count")).to_have_text("step 2,000 of 2,000")
    expect(page.get_by_role("textbox", name="Steps", exact=True)).to_have_value("2,000")
    app.until(f"({SOURCE})('losses').step.at(-1) >= 1990")
    after = app.source("losses")
    assert after["step"] == sorted(set(after["step"])), "no row is drawn twice"
    same = [after["step"].index(step) for step in before["step"] if step in after["step"]]
    assert len(same) > 400 and [after["c0"][i] for i in same] == [
        before["c0"][before["step"].index(after["step"][i])] for i in same
    ]
    app.until(f"Math.min(...({SOURCE})('estimates').step) > 1000")  # all that was done is burn-in
    assert app.source("estimates")["step"]
    expect(go_on).to_have_attribute("aria-label", "Run 2,000 more steps")
    page.locator("body").click(position={"x": 4, "y": 400})
    page.keyboard.press("Space")
    expect(page.locator(".count")).to_have_text("step 4,000 of 4,000")
    app.button("Reset").click()
    expect(go_on).to_be_hidden()
