"""A page of the libraries as they are: what `app/patches` mends in the browser is still at fault there."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_app import free_port
from page_checks import faults
from page_scripts import CHANGED_TWICE, SETTLED
from playwright.sync_api import Page, expect

from app.patches.quick_visuals import SCRIPT

PLAIN = """
import sys
import panel as pn, panel_material_ui as pmui
from bokeh.plotting import figure

def page():
    plot = figure(name="plot")
    plot.line([0, 1], [0, 1])
    return pmui.Column(pmui.Select(label="Choice", options=["one", "two"]), pmui.Button(label="before"), plot)

pn.serve({"plain": page}, int(sys.argv[1]), "127.0.0.1", show=False)
"""
ASKED = """async () => {
  const whole = self.getComputedStyle, settled = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 500)))
  let asked = 0
  self.getComputedStyle = (...given) => { asked += 1; return whole(...given) }
  const plot = [...Bokeh.documents[0].all_models].find((model) => model.name === 'plot')
  plot.outline_line_width += 1
  await settled()
  self.getComputedStyle = whole
  return asked
}"""


@pytest.fixture(scope="module")
def address(tmp_path_factory) -> Iterator[str]:
    port, log = free_port(), Path(tmp_path_factory.mktemp("plain") / "log")
    with log.open("w") as output:
        server = subprocess.Popen([sys.executable, "-c", PLAIN, str(port)], stdout=subprocess.PIPE, stderr=output)
    assert server.stdout is not None and b"Launching" in server.stdout.readline(), log.read_text()
    yield f"http://127.0.0.1:{port}/plain"
    server.terminate()
    server.wait(60)


@pytest.fixture
def page(context, address) -> Page:
    page = context.new_page()
    page.goto(address)
    page.get_by_role("combobox").wait_for()
    return page


def test_a_choice_opens_by_mouse_only_and_its_options_are_called_otherwise(page):
    box = page.get_by_role("combobox")
    for key in ("Enter", "ArrowDown"):
        box.press(key)
        page.evaluate(SETTLED)
        expect(box).to_have_attribute("aria-expanded", "false")
    box.click()
    expect(box).to_have_attribute("aria-expanded", "true")
    assert any("aria-required-parent" in fault for fault in faults(page))


def test_scripts_are_rewritten(page):
    assert page.evaluate("() => self.importShim !== undefined")


def test_what_has_been_drawn_takes_the_place_of_what_came_after(page):
    page.evaluate(CHANGED_TWICE)
    page.wait_for_function("() => self.drawn.includes('twice')")
    page.evaluate(SETTLED)
    assert page.evaluate("() => self.told") != ["once", "twice"]


def test_a_figure_asks_for_styles_at_each_drawing_unless_it_is_mended(page):
    before = page.evaluate(ASKED)
    page.evaluate(SCRIPT)
    assert before > 100 and page.evaluate(ASKED) < before / 10
