"""Links in a browser: made, opened again, left-out parts, and wrong ones."""

from __future__ import annotations

import re

import pytest
from browser_app import QUICK
from playwright.sync_api import expect

from app.sharing.links import Link, encode

BIAS = {
    "target": {"kind": "landscape", "name": "skewed"},
    "left": {"name": "SGLD", "step_size": 0.01},
    "right": {"name": "PSGLD", "step_size": 0.002, "alpha": 0.5, "stability": 0.2},
    "chains": 500,
    "steps": 3000,
    "seed": 41,
}


def open_link(app, text: str) -> None:
    app.page.goto(f"{app.address}?c={text}")


def test_a_copied_link_opens_the_same_run(app):
    app.open_short()
    app.page.get_by_role("combobox", name="Gradient").click()
    app.page.get_by_text("minibatch (plain)", exact=True).click()
    app.page.get_by_role("textbox", name="Steps", exact=True).fill("1500")
    app.page.keyboard.press("Enter")
    expect(app.page.locator(".count")).to_contain_text("of 1,500")
    app.button("Share").click()
    field = app.page.get_by_label("Link", exact=True)
    expect(field).to_have_value(re.compile(r"\?c=[\w-]{50,}"))
    app.page.keyboard.press("Enter")  # the focus is on "Copy link"
    expect(app.page.get_by_role("dialog")).to_contain_text(re.compile("Copied|take the link"))
    address = field.input_value()
    assert app.page.url == address
    shown = app.number("dim"), app.number("n_beta")
    expect(app.page.get_by_text("minibatch (plain)")).to_be_visible()
    app.page.keyboard.press("Escape")
    expect(app.page.get_by_role("dialog")).not_to_be_visible()

    visitor = type(app)(app.page.context.new_page(), app.address)
    visitor.page.goto(address)
    visitor.wait_for_points()
    visitor.page.get_by_role("button", name="Open drawer").click()  # a new window is narrow, and folds the settings
    expect(visitor.page.locator("[data-key=dim]")).to_have_text(shown[0])
    expect(visitor.page.locator("[data-key=n_beta]")).to_have_text(shown[1])
    expect(visitor.page.get_by_text("minibatch (plain)")).to_be_visible()
    expect(visitor.page.locator(".count")).to_contain_text("of 1,500")
    assert not visitor.problems
    visitor.page.close()


def test_a_link_opens_another_page_with_parts_left_out(app):
    open_link(app, encode(Link("stationary-bias", BIAS, ("controls", "presets", "pages"))))
    expect(app.page.get_by_role("heading", name=re.compile("^Right: "))).to_be_visible()
    expect(app.page.get_by_role("combobox", name="Right sampler")).not_to_be_visible()  # choices are settings
    expect(app.page.get_by_role("group", name="Presets")).not_to_be_visible()
    expect(app.button("Share")).to_have_count(0)
    expect(app.button("Local geometry")).to_have_count(0)
    expect(app.page.get_by_text("Advanced")).to_have_count(0)
    expect(app.page.locator(".count")).to_contain_text("of 3,000")


def test_a_link_can_leave_the_answers_to_the_class(app):
    open_link(app, encode(Link("local-geometry", QUICK, ("answers", "texts"))))
    app.wait_for_points(60)
    expect(app.page.locator("[data-key=llc]").first).to_have_text(re.compile("±"))
    for key in ("truth", "expected", "error"):
        expect(app.page.locator(f"[data-key={key}]").first).not_to_be_visible()
    expect(app.page.get_by_role("heading", name="Exact answer", exact=True)).to_have_count(0)
    for name in ("Sweep a setting", "Why this number?"):
        expect(app.button(name)).to_have_count(0)
    expect(app.page.locator("li").filter(has_text=re.compile("^(global|local|exact) λ$"))).to_have_count(0)
    expect(app.page.locator("li").filter(has_text="moving average")).to_be_visible()


@pytest.mark.parametrize(
    "text, words",
    [
        (encode(Link("stationary-bias", BIAS))[:-7], "damaged"),
        (encode(Link("stationary-bias", {**BIAS, "chains": 10**9})), "chains is 1000000000"),
        (encode(Link("local-geometry", {"problem": {"kind": "<script>alert(1)</script>"}})), "<script>"),
    ],
    ids=["cut", "too many chains", "script"],
)
def test_a_wrong_link_says_so_and_the_page_works(app, text, words):
    open_link(app, text)
    expect(app.page.get_by_role("alert").filter(has_text=words)).to_be_visible()
    app.page.wait_for_function("() => document.title.includes('LLC Lab')")
    app.button("Local geometry").click()
    app.wait_for_points()
