"""The page "Decisions" in a browser. Every test also fails on console errors and on requests to other hosts."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from app.pages.decisions.config import BanditSettings, DecisionsConfig
from app.pages.decisions.presets import play
from app.sharing.links import Link, encode

COUNT = """(name) => {
  const found = [...(window.Bokeh?.documents?.[0]?._all_models.values() ?? [])].find((m) => m.name === name && m.get_length)
  return found ? found.get_length() : 0
}"""
QUICK = DecisionsConfig(
    bandit=BanditSettings(
        mushrooms="pleasant",
        rounds=60,
        forced_pulls=105,
        hidden=6,
        steps=2,
        batch_size=32,
        right=play("linear", "thompson"),
    )
)
FIGURE = """name => {
  const view = [...window.Bokeh.index.query((v) => v.model.name === name && v.model.type === 'Figure')][0]
  const box = view.el.getBoundingClientRect()
  return [box.left, box.right, box.top, box.bottom]
}"""


def test_a_play_moves_to_its_end_and_another_game_begins_on_a_dark_phone(app):
    page = app.page
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{app.address}?c={encode(Link('decisions', QUICK.to_dict()))}")
    app.until(f"({COUNT})('regrets') > 0 && ({COUNT})('beliefs') > 0", 120)
    expect(page.locator(".caption")).to_have_text("finished", timeout=120_000)
    curve = app.source("regrets")
    assert curve["round"] == list(range(1, 61))
    expect(page.locator("h1")).to_contain_text("in this one play")
    expect(page.get_by_text("poisonous eaten").first).to_be_visible()
    expect(page.get_by_text("spore print").first).to_be_visible()
    app.switch_scheme()
    app.choose("digits")
    app.until(f"({COUNT})('aurocs') > 0", 120)
    expect(page.locator("h1")).to_contain_text("draws spot the digit never shown", timeout=120_000)
    page.get_by_role("button", name="Open drawer").click()
    entry = page.get_by_role("textbox", name="Steps", exact=True)
    entry.fill("300")
    entry.press("Enter")
    expect(page.locator(".count")).to_have_text(re.compile("step .* of 300"))
    page.set_viewport_size({"width": 390, "height": 844})
    page.keyboard.press("Escape")  # the side bar lies over the page now
    app.until("document.documentElement.scrollWidth <= 390")
    for name in ("scale", "entropies", "auroc", "calibration"):
        app.until(f"({FIGURE})('{name}')[0] >= 0 && ({FIGURE})('{name}')[1] <= 390")
