"""A class guesses: the answers are hidden, Reveal shows them beside the guess, and the key A does what the button does."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from app.sharing.links import Link, encode

CONFIG = {
    "problem": {"kind": "dln", "widths": [4, 3, 4], "layer_ranks": [3, 3], "seed": 1},
    "sampler": {"name": "UnderdampedLangevin"},
    "steps": 1000,
    "chains": 4,
}


def test_a_guess_is_compared_once_the_answer_is_revealed(app):
    app.page.goto(f"{app.address}?c={encode(Link('local-geometry', CONFIG, ('answers',)))}")
    expect(app.page.locator(".count")).to_contain_text("of 1,000")
    guess, reveal = app.page.get_by_label("Your guess of λ"), app.button("Reveal")
    expect(reveal).to_be_visible()
    expect(app.page.get_by_text("then press Reveal")).to_be_visible()
    expect(app.page.get_by_role("group", name="Presets").get_by_role("button").first).to_have_text("No. 1")
    expect(app.page.get_by_text("expected λ̂")).to_have_count(1)  # a label whose number is not sent
    for place in app.page.get_by_text("expected λ̂").all():
        expect(place).not_to_be_visible()
    guess.fill("6a")
    expect(reveal).to_be_visible()  # an A in the entry is a letter
    guess.fill("6")
    guess.press("Enter")
    expect(app.page.get_by_text("Your guess is 6. Press Reveal")).to_be_visible()
    expect(app.page.locator(".caption")).to_have_text("finished")
    reveal.click()
    expect(app.page.get_by_text("Your guess 6 is 20.0% below λ")).to_be_visible()
    expect(app.page.get_by_text("λ at w0 is 7.5.")).to_be_visible()
    expect(app.page.get_by_text(re.compile("At this n and nβ it should read"))).to_be_visible()
    expect(app.page.locator("[data-key=expected]").first).to_be_visible()
    app.page.locator("h1").click()
    app.page.keyboard.press("a")
    expect(app.page.get_by_text("Your guess 6 is")).to_have_count(0)
    expect(app.page.locator("[data-key=expected]").first).not_to_be_visible()
    expect(app.button("Reveal")).to_be_visible()


def test_on_the_benchmark_a_sampler_is_guessed(app):
    app.page.goto(f"{app.address}?c={encode(Link('benchmark', {}, ('answers',)))}")
    app.page.get_by_label("Which comes nearest?").select_option(label="SGHMC")
    expect(app.page.get_by_text("comes nearest:")).to_have_count(0)
    app.button("Reveal").click()
    expect(
        app.page.get_by_text(re.compile("comes nearest: .*(Your guess, SGHMC, is number|You guessed right)"))
    ).to_be_visible()
    app.button("Hide answers").click()
    expect(app.page.get_by_text("comes nearest:")).to_have_count(0)
    expect(app.page.get_by_label("Which comes nearest?")).to_have_value("SGHMC")
