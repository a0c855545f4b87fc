"""The first screen of every page on a small laptop belongs to its pictures: few controls stand there, and few models bring it."""

from __future__ import annotations

import pytest
from page_checks import CONTROLS, COUNT_MODELS, LEAST_PICTURES, MODELS, MOST, MOST_MODELS, PICTURES
from playwright.sync_api import expect

from app.pages import load_pages

# A row of buttons that somebody adds, in a shadow root as all of them.
MORE = """() => {
  const row = document.createElement('div')
  row.style.cssText = 'position: fixed; inset: 0 auto auto 0'
  document.body.append(row)
  row.attachShadow({mode: 'open'}).innerHTML = '<button>one more</button>'.repeat(16)
}"""
SIZES = [{"width": 1280, "height": 720}, {"width": 1366, "height": 768}]


@pytest.mark.parametrize("key", [page.key for page in load_pages()])
def test_pictures_fill_the_first_screen_with_few_controls_and_few_models(app, key):
    page = app.page
    page.set_viewport_size(SIZES[0])
    page.add_init_script(COUNT_MODELS)
    app.open_page(key)
    app.until(MODELS)
    assert 10 < page.evaluate(MODELS) <= MOST_MODELS
    for size in SIZES:
        page.set_viewport_size(size)
        app.still()
        app.until(f"({PICTURES})() >= {LEAST_PICTURES}")  # a picture may come with the first round of a run
        if size == SIZES[0]:
            controls = page.evaluate(CONTROLS)
            assert 5 < len(controls) <= MOST, controls


def test_a_row_of_buttons_is_counted(app):
    app.open_page("start")
    expect(app.page.locator("h1")).to_be_visible()
    app.until(f"({CONTROLS})().length > 5")
    app.still()
    before = app.page.evaluate(CONTROLS)
    app.page.evaluate(MORE)
    assert app.page.evaluate(CONTROLS) == [*before, *["one more"] * 16]
