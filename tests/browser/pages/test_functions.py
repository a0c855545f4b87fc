"""The page "Weights and functions" in a browser. Every test also fails on console errors and on requests to other hosts."""

from __future__ import annotations

import re

import pytest
from page_scripts import SOURCE
from playwright.sync_api import expect

from app.pages.functions.config import FunctionsConfig
from app.pages.functions.job import FunctionsJob
from app.pages.functions.pictures import written
from app.pages.functions.scene import scene_of

PLACE = """([name, x, y]) => {
  const view = [...window.Bokeh.index.query((v) => v.model.name === name && v.model.type === 'Figure')][0]
  const box = view.el.getBoundingClientRect()
  return [box.left + view.frame.x_scale.compute(x), box.top + view.frame.y_scale.compute(y)]
}"""
SHORT = 60
QUICK = FunctionsConfig(steps=SHORT, chains=8)


@pytest.fixture
def functions(app):
    """The page after a short run of its first network."""
    app.open_link("functions", QUICK.to_dict())
    expect(app.page.locator(".count")).to_contain_text(f"{SHORT} of {SHORT}", timeout=120_000)
    expect(app.page.locator(".caption")).to_have_text("finished")
    return app


def enter(app, name: str, value: str) -> None:
    entry = app.page.get_by_role("textbox", name=name, exact=True).first
    entry.fill(value)
    entry.press("Enter")


def column(app, name: str, key: str, length: int) -> list[float]:
    app.page.wait_for_function(
        f"([name, key, n]) => ({SOURCE})(name)?.[key]?.length === n", arg=[name, key, length], timeout=120_000
    )
    return app.source(name)[key]


def test_bands_gauges_slider_and_a_point(functions):
    """Numbers on the screen are the engine's; the slider replays them; a tap adds a point and starts again."""
    page = functions.page
    job = FunctionsJob(scene_of(QUICK))
    job.record(job.advance(SHORT), None)
    seen = job.judge()
    for key in ("weights", "loss", "functions"):
        expect(page.locator(f"[data-key=r_hat_{key}]")).to_have_text(written(getattr(seen.gauges, key)))
    inputs = len(job.scene.inputs)
    live, edges = column(functions, "live", "low", inputs), seen.band.edges["pooled"]
    assert max(abs(a - b) for a, b in zip(live, edges.low[0.8], strict=True)) < 1e-9
    limit, exact = (column(functions, name, "mean", inputs) for name in ("limit", "exact"))
    assert max(abs(a - b) for a, b in zip(limit, exact, strict=True)) > 0.05, "two answers, drawn apart"
    expect(page.locator("[data-key=distance]")).to_have_text(re.compile(r"\d\.\d\d sd"))
    expect(page.locator("h1")).to_contain_text(re.compile(r"R-hat [\d>]"))

    enter(functions, "Iteration", "50")
    expect(page.get_by_text("from iteration 25 to 50")).to_be_visible()
    expect(page.locator("[data-key=r_hat_weights]")).to_have_text(written(job.log.gauges(50).weights))
    first = functions.source("lines")["ys"][0]
    assert max(abs(a - b) for a, b in zip(first, job.log.rows[50].functions[0], strict=True)) < 1e-9

    x, y = functions.place(PLACE, ["functions", 0.25, 0.0])
    with functions.begins():
        page.mouse.click(x, y)
    added = column(functions, "data", "x", 8)
    assert abs(added[-1] - 0.25) < 0.03
    expect(page.get_by_role("button", name="Back to the paper’s points")).to_be_visible()
    expect(page.get_by_text("Your own settings.")).to_be_visible()
    expect(page.locator(".caption")).to_have_text("finished")
