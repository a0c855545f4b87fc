"""The page "Polygons" in a browser: arrows that move, and prices whose crossing is the engine's."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from llc_core.potentials.polygons import Superposition, even_samples

DOTS = """dots => dots.map(each => [Number(each.getAttribute('cx')), Number(each.getAttribute('cy'))])"""


def test_arrows_move_and_the_price_has_its_crossing_where_the_engine_has_it(app):
    page = app.page
    app.open_link("polygons", {"problem": {"kind": "superposition", "sides": 5, "features": 6}, "steps": 4000})
    dots = page.locator("svg[aria-label^='Features as arrows'] circle:not(.ring)")
    expect(dots).to_have_count(6)
    w0 = [[200 * (1 + x / 1.55), 200 * (1 - y / 1.55)] for x, y in Superposition(5).w0[:12].view(2, 6).T.tolist()]
    expect(page.locator(".caption")).to_have_text("finished", timeout=120_000)
    moved = dots.evaluate_all(DOTS)
    assert max(abs(a - b) for one, other in zip(moved, w0, strict=True) for a, b in zip(one, other, strict=True)) > 1
    slider = page.get_by_label("Samples n")
    slider.scroll_into_view_if_needed()
    slider.fill("2")
    box = page.locator("div[data-best]").first
    expect(box).to_have_attribute("data-best", "Pentagon")
    turn = float(box.get_attribute("data-turn"))
    # The drawing looks for a change at 161 places of log n, and then halves: to 60 halvings of 4 decades.
    assert turn == pytest.approx(even_samples(Superposition(5), Superposition(6)), rel=1e-6)
    slider.fill("4")
    expect(box).to_have_attribute("data-best", "Hexagon")
    expect(page.get_by_text("More samples do not change that.")).to_be_visible()
