"""The page "Benchmark" in a browser: figures, filters by mouse and keyboard, a point's runs, files in and out, a phone."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect
from synthetic_store import synthetic_rows, write_store

from app.server.report import write_report
from app.sharing.links import decode

# A figure of the report: keys of its points.
POINTS = """(name) => {
  const view = [...(window.Bokeh?.index?.query?.((v) => v.model.name === name && v.model.type === 'Figure') ?? [])][0]
  if (!view) return null
  const source = view.model.renderers.find((r) => r.name === 'points').data_source
  const get = (column) => Array.from(source.data instanceof Map ? source.data.get(column) : source.data[column])
  return {key: get('key'), index: get('index')}
}"""
DOTS = "circle[data-key]"


SMALL = {"store": "small", "gradient": "full"}
NAMES = {"SGLD", "RMSPropSGLD", "SGHMC", "UnderdampedLangevin", "HMC"}


@pytest.fixture
def bench(kept):
    """The page with the small store, loaded for this test or left by another, whose choices are taken back by a file."""

    def again(app):
        page = app.page
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
        app.give(SMALL)
        expect(page.get_by_text("The configuration is set.")).to_be_visible()  # it said that it was being opened
        expect(page.get_by_role("combobox", name="Store")).to_have_text("small")
        expect(page.get_by_role("combobox", name="Gradient")).to_have_text("full data")
        drawn(app, {f"{sampler}|full" for sampler in NAMES})

    return kept.get(lambda app: opened(app, SMALL), again)


def opened(app, config):
    app.open_link("benchmark", config)
    expect(app.page.locator(DOTS).first).to_be_visible(timeout=60_000)
    app.page.wait_for_function("() => Bokeh.documents[0].is_idle", timeout=60_000)
    return app


def drawn(app, wanted: set[str]) -> None:
    """Wait until the charts show these curves."""
    for key in wanted:
        expect(app.page.locator(f'circle[data-key="{key}"]').first).to_be_visible(timeout=60_000)
    others = "".join(f':not([data-key="{key}"])' for key in wanted)
    expect(app.page.locator(DOTS + others)).to_have_count(0)


def test_figures_are_drawn_and_filters_work_by_mouse_and_keyboard(bench):
    app, page = bench, bench.page
    drawn(app, {f"{sampler}|full" for sampler in NAMES})
    assert app.number("runs") == "481" and app.number("errors") == "1"

    page.get_by_role("combobox", name="Gradient").click()
    page.get_by_role("listbox").get_by_text("control variate", exact=True).click()
    drawn(app, {f"{sampler}|control_variate" for sampler in NAMES})
    app.button("Samplers ▾").focus()
    page.keyboard.press("Enter")
    toggle = page.get_by_role("group", name="Samplers").get_by_role("button", name="SGHMC", exact=True)
    toggle.focus()
    page.keyboard.press("Space")
    expect(toggle).to_have_attribute("aria-pressed", "false")
    drawn(app, {f"{sampler}|control_variate" for sampler in NAMES - {"SGHMC"}})

    box = page.get_by_role("combobox", name="Ranks")
    box.focus()
    page.keyboard.press("ArrowDown")
    focused = page.get_by_role("listbox").locator("[role]:focus")
    expect(focused).to_have_text("all")
    page.keyboard.press("ArrowDown")
    page.wait_for_timeout(600)  # no wait for a state: the page put the focus back after a while
    expect(focused).to_have_text("equal")
    page.keyboard.press("Enter")
    expect(box).to_have_text("equal")
    expect(page.locator("[data-key=problems]").first).to_have_text("6")

    app.button("Printed estimate").click()
    expect(page.get_by_role("combobox", name="Truth")).to_have_text("global λ")
    drawn(app, {f"{sampler}|minibatch" for sampler in NAMES})
    expect(page.get_by_role("region", name="Accuracy").get_by_role("row")).to_have_count(6)


def test_a_click_on_a_point_lists_its_runs_and_one_runs_beside_the_charts(bench):
    app, page = bench, bench.page
    point = page.locator('circle[data-key="RMSPropSGLD|full"][data-index="4"]')
    chart = page.locator("[data-chart=RMSProp-SGLD]")
    expect(chart.locator(".band").first).to_have_css("opacity", "0")
    app.still()  # a chart that is drawn anew under a pointer at rest has forgotten it
    point.hover(force=True)
    expect(chart.locator(".band").first).to_have_css("opacity", "1")
    expect(page.locator(".tip", has_text="problems have a λ̂")).to_be_visible()
    point.click(force=True)
    expect(page.get_by_role("combobox", name="Curve")).to_have_text("RMSProp-SGLD, full data")
    assert page.get_by_role("link", name=re.compile("Open run 1K")).count() == 12

    expect(page.get_by_text("One run of this point")).to_be_visible()
    expect(page.locator("[data-key=llc]")).to_contain_text("±", timeout=60_000)
    charts, run = (page.locator(name).bounding_box() for name in (".multiples[role=group]", "[data-key=llc]"))
    assert run["x"] >= charts["x"] + charts["width"], "beside the charts, and not below them"
    link = page.get_by_role("link", name="Open on Local geometry")
    found = decode(link.get_attribute("href").removeprefix("?c="))
    assert found.page == "local-geometry" and found.config["sampler"]["name"] == "RMSPropSGLD"
    with page.context.expect_page() as made:
        link.click()
    other = type(app)(made.value, app.address)
    other.wait_for_points(60)
    made.value.close()
    assert not other.problems
    page.get_by_role("button", name="Close", exact=True).click()
    expect(page.get_by_text("One run of this point")).not_to_be_visible()


def test_a_point_is_chosen_by_keys(bench):
    page = bench.page
    charts = page.get_by_role("group", name="Charts: arrow keys")
    charts.focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    expect(page.locator(".tip", has_text="RMSProp-SGLD")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_role("combobox", name="Curve")).to_have_text("RMSProp-SGLD, full data")
    page.get_by_role("button", name="Close", exact=True).click()


def test_table_and_figures_are_taken_away(bench):
    page = bench.page
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as table:
        bench.button("Accuracy table (CSV)").click()
    assert len(table.value.path().read_text().splitlines()) == 6
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as figure:
        bench.button("The charts as SVG").click()
    text = figure.value.path().read_text()
    assert text.startswith("<svg") and "RMSProp-SGLD" in text and "Relative error" in text


def test_a_link_shows_the_same_again(bench):
    app, page = bench, bench.page
    app.button("Samplers ▾").click()
    app.button("SGLD").click()
    expect(app.button("SGLD")).to_have_attribute("aria-pressed", "false")
    app.button("Share").click()
    field = page.get_by_role("textbox", name="Link")
    expect(field).to_have_value(re.compile(r"\?c="))
    link = decode(field.input_value().split("c=")[1])
    assert link.page == "benchmark" and link.config["hidden"] == ["SGLD"] and link.config["gradient"] == "full"


def test_five_pages_fit_a_phone(app):
    app.page.set_viewport_size({"width": 390, "height": 844})
    opened(app, SMALL)
    page = app.page
    app.until("document.documentElement.scrollWidth <= 390")
    charts = page.locator("[data-chart]").evaluate_all(
        "(all) => all.map((chart) => chart.getBoundingClientRect().right)"
    )
    assert len(charts) == 5 and max(charts) <= 390
    bar = page.get_by_role("navigation", name="Pages").bounding_box()
    here = app.button("Benchmark: choose a page").bounding_box()
    assert bar["x"] <= here["x"] + 1 and here["x"] + here["width"] <= bar["x"] + bar["width"] + 1
    assert page.get_by_role("button", name="Share").is_visible()
    app.turn_to("Stationary bias")
    expect(page.get_by_text("Right sampler").first).to_be_visible()
    expect(app.button("Stationary bias: choose a page")).to_be_visible()


def test_the_report_opens_without_a_network_and_its_legend_switches_curves(page, tmp_path):
    """Of one gradient: the report of a store draws the same seven figures for each, half a second apiece."""
    rows = synthetic_rows(2, ["SGLD", "SGHMC"], ["minibatch"], steps=4)
    store = write_store(tmp_path / "one.sqlite", rows)
    problems: list[str] = []
    asked: list[str] = []
    page.on("console", lambda m: problems.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda r: asked.append(r.url) if not r.url.startswith(("file:", "data:", "blob:")) else None)
    page.set_viewport_size({"width": 1200, "height": 900})
    page.goto(write_report(store, tmp_path / "report.html").as_uri())
    page.wait_for_function(f"() => (({POINTS})('relative_error')?.key?.length ?? 0) > 0", timeout=60_000)
    expect(page.get_by_role("heading", name="Size class 1K")).to_be_visible()
    shown = """() => {
      const view = [...Bokeh.index.query((v) => v.model.name === 'relative_error' && v.model.type === 'Figure')][0]
      const legend = view.model.center.concat(view.model.below).find((m) => m.type === 'Legend')
      const points = view.model.renderers.find((r) => r.name === 'points')
      return {hidden: legend.tags[0], on: points.view.filter.booleans.filter(Boolean).length}
    }"""
    before = page.evaluate(shown)
    page.get_by_text("Relative error by step size, minibatch: same-batch").first.scroll_into_view_if_needed()
    entry = page.evaluate(
        """() => {
      const view = [...Bokeh.index.query((v) => v.model.name === 'relative_error' && v.model.type === 'Figure')][0]
      const found = []
      const walk = (root) => { for (const e of root.querySelectorAll('*')) {
        if (e.shadowRoot) walk(e.shadowRoot)
        if (e.textContent === 'SGLD, minibatch') found.push(e) } }
      walk(view.shadow_el ?? view.el.shadowRoot ?? view.el)
      found.at(-1).scrollIntoView({block: 'center'})
      const box = found.at(-1).getBoundingClientRect()
      return [box.x + box.width / 2, box.y + box.height / 2]
    }"""
    )
    page.mouse.click(*entry)
    page.wait_for_function(f"(n) => ({shown})().on < n", arg=before["on"])
    assert page.evaluate(shown)["hidden"] == ["SGLD|minibatch"]
    page.mouse.click(*entry)
    page.wait_for_function(f"(n) => ({shown})().on === n", arg=before["on"])
    assert not asked and not problems, (asked, problems)
    assert json.dumps(before["hidden"] or []) == "[]"
