"""Advice is one click: the button beside the verdict sets the control that the advice names."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from app.sharing.links import Link, encode

NOISY = {
    "problem": {"kind": "dln", "widths": [4, 3, 4], "layer_ranks": [3, 3], "seed": 1},
    "sampler": {"name": "SGLD", "step_size": 2e-8},
    "gradient": "minibatch",
    "steps": 2000,
    "chains": 4,
}
"""Minibatch noise alone doubles λ̂. With all data this step, a tenth of the stability limit, settles in so few steps."""


def test_apply_sets_what_the_advice_names(app):
    page = app.page
    page.goto(f"{app.address}?c={encode(Link('local-geometry', NOISY))}")
    expect(page.locator(".caption")).to_have_text("finished")
    gradient = page.get_by_role("combobox", name="Gradient")
    expect(gradient).to_contain_text("minibatch")
    button = page.get_by_role("button", name=re.compile("^Apply: "))
    button.focus()
    with app.begins():
        page.keyboard.press("Enter")
    expect(gradient).to_contain_text("full data")
    expect(page.locator(".caption")).to_have_text("finished")
    expect(page.get_by_text("Trust it.")).to_be_visible()
    expect(button).to_have_count(0)
