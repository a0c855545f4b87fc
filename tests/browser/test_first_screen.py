"""The first screen of every page on a small laptop belongs to its pictures, and few models bring it."""

from __future__ import annotations

import pytest
from page_checks import COUNT_MODELS, LEAST_PICTURES, MODELS, MOST_MODELS, PICTURES

from app.pages import load_pages

SIZES = [{"width": 1280, "height": 720}, {"width": 1366, "height": 768}]


@pytest.mark.parametrize("key", [page.key for page in load_pages()])
def test_pictures_fill_the_first_screen_and_few_models_bring_it(app, key):
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
