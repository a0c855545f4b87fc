"""axe-core finds no serious fault on any page, light or dark, wide or on a phone."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

SERIOUS = ("serious", "critical")
READY = {"Stationary bias": "Right sampler", "Landscapes": "The plane of parameters", "Your network": "Signs of health"}


def faults(page) -> list[str]:
    found = Axe().run(page).response["violations"]
    return [
        f"{v['id']} ({v['impact']}): {node['html'][:160]}"
        for v in found
        if v["impact"] in SERIOUS
        for node in v["nodes"]
    ]


@pytest.mark.parametrize("title", ["Local geometry", "Stationary bias", "Landscapes", "Your network"])
@pytest.mark.parametrize("scheme, width", [("light", 1440), ("dark", 390)])
def test_no_serious_fault(app, title, scheme, width):
    app.page.set_viewport_size({"width": width, "height": 900})
    app.open()
    if title != "Local geometry":
        app.button(title).click()
        app.page.get_by_text(READY[title]).first.wait_for(timeout=60_000)
    if scheme == "dark":
        app.page.get_by_role("button", name="theme").first.click()
    app.settle(6000)
    assert faults(app.page) == []


def test_the_check_can_find_one(app):
    app.open()
    app.page.evaluate("document.body.appendChild(document.createElement('button'))")
    assert any("button-name" in fault for fault in faults(app.page))
