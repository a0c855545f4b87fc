"""A walk through each page, as a visitor takes it: opened by its address, changed, paused, stepped, run to its end, shared, saved.

Every wait is for something that the walk's own last action brings about: a length that was not set before, the step after the
one where the run was held, the end of the run with the new length.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import expect

from app.sharing.links import decode

NUMBER = re.compile(r"\d")
CURRENT = "nav [aria-current=page]"


@dataclass(frozen=True)
class Walk:
    """One page and what is done there.

    key, title: of the page.  entry: the text box that says how long a run is, and `name` its name in the configuration.
    long: a length that no machine comes to the end of before "Pause" is pressed, and a hundredth of which, what "Step" does, is soon
    done.  short: one that is over at once.  results: selectors of what must be a number in the end.  times: how often a run is as
    long as the entry says.
    """

    key: str
    title: str
    entry: str
    name: tuple[str, ...]
    long: int
    short: int
    results: tuple[str, ...]
    times: int = 1


WALKS = (
    Walk("landscapes", "Landscapes", "Steps", ("steps",), 2_000_000, 2_000, ("[data-key=llc]",)),
    Walk("local-geometry", "Local geometry", "Steps", ("steps",), 400_000, 1_000, ("[data-key=llc]",)),
    Walk(
        "stationary-bias", "Stationary bias", "Steps", ("steps",), 400_000, 2_000,
        ("[data-key=left_target]", "[data-key=right_target]"),
    ),
    Walk(
        "many-modes", "Many modes", "Gradients of each trial", ("gradients",), 1_000_000, 20_000,
        ("[data-key=left_kl]", "[data-key=right_kl]"),
    ),
    Walk("functions", "Weights and functions", "Iterations", ("steps",), 5_000, 60, ("[data-key=distance]",)),
    Walk("decisions", "Decisions", "Rounds", ("bandit", "rounds"), 900, 20, ("tr:has(th:text('Left')) td",)),
    Walk("your-network", "Your network", "Steps", ("steps",), 40_000, 400, ("[data-key=llc]",)),
    Walk("polygons", "Polygons", "Steps", ("steps",), 100_000, 1_000, ("[data-key=llc]",)),
    Walk("stages", "Stages", "Steps at each rest", ("steps",), 10_000, 100, ("[data-key=llc]",), times=5),
)  # fmt: skip
BENCHMARK = ("benchmark", "Benchmark")
"""The page on which nothing runs by itself."""
START = ("start", "Start")
"""The page whose chains run in the browser."""


def opened(app: Any, key: str, title: str) -> None:
    """The page, by its address: of the page that the browser showed before nothing is left then."""
    app.open_page(key)
    expect(app.page.locator(CURRENT)).to_have_text(title)
    expect(app.page.locator("h1")).to_be_visible()


def through(app: Any, each: Walk) -> None:
    opened(app, each.key, each.title)
    count, caption = app.page.locator(".count"), app.page.locator(".caption")
    expect(count).to_have_text(re.compile(r"^\w+ [1-9]"))

    enter(app, each.entry, each.long)
    expect(count).to_have_text(re.compile(rf"^\w+ [1-9].* of {each.times * each.long:,}$"))
    app.button("Pause").click()
    expect(caption).to_contain_text("paused")
    expect(app.button("Play")).to_be_visible()
    held, step = app.step, app.page.get_by_role("button", name=re.compile("^Step: advance by"))
    stride = int(re.sub(r"\D", "", step.get_attribute("aria-label")))
    step.click()
    expect(count).to_have_text(re.compile(rf"^\w+ {held + stride:,} of "))
    expect(caption).to_contain_text("paused")

    enter(app, each.entry, each.short)
    expect(count).to_have_text(re.compile(rf"^\w+ {each.times * each.short:,} of {each.times * each.short:,}$"))
    expect(caption).to_have_text("finished")
    for selector in each.results:
        expect(app.page.locator(selector).first).to_have_text(NUMBER)
    assert found(shared(app, each.key), each.name) == found(saved(app), each.name) == each.short


def through_benchmark(app: Any) -> None:
    """Runs of another gradient are asked for, one of a point goes on beside the charts, and what is shown is taken away."""
    page = app.page
    opened(app, *BENCHMARK)
    expect(page.locator("circle[data-key]").first).to_be_visible()
    chosen = page.locator("circle[data-key$='|control_variate']")
    expect(chosen).to_have_count(0)
    page.get_by_role("combobox", name="Gradient").click()
    page.get_by_role("listbox").get_by_text("control variate", exact=True).click()
    expect(page.locator("circle[data-key]:not([data-key$='|control_variate'])")).to_have_count(0)
    if page.get_by_role("listbox").count():
        # On a busy machine the list may stay open, and takes the next click for its own.
        page.keyboard.press("Escape")
    expect(page.get_by_role("listbox")).to_have_count(0)
    app.still()  # charts that are filtered are drawn anew, and a click on an old point is lost
    chosen.nth(4).click(force=True)  # a point lies below the line that is drawn through all of them
    expect(page.get_by_text("One run of this point")).to_be_visible()
    expect(page.locator("[data-key=llc]")).to_have_text(NUMBER)
    page.get_by_role("button", name="Close", exact=True).click()
    expect(page.get_by_text("One run of this point")).not_to_be_visible()
    assert shared(app, BENCHMARK[0])["gradient"] == saved(app)["gradient"] == "control_variate"


def through_start(app: Any) -> None:
    """The valley is bent until λ is a half, the chains come to rest there, and the link holds how far it is bent."""
    page = app.page
    opened(app, *START)
    valley, bend = page.locator(".board"), page.get_by_role("slider", name=re.compile("^Bend the valley"))
    expect(valley).to_have_attribute("data-lambda", "1")
    app.button("Play").click()  # a browser that asks for less motion is not moved before
    bend.fill("2")
    expect(valley).to_have_attribute("data-lambda", "0.5")
    expect(page.locator(".hat")).to_have_text(re.compile(r"^0\.[45]\d\d ± 0\.0"))
    expect(page.locator(".lesson")).to_contain_text("Your own valley")
    app.button("Pause").click()
    held = page.locator(".hat").text_content()
    expect(app.button("Play")).to_be_visible()
    assert shared(app, START[0])["bend"] == 2
    assert page.locator(".hat").text_content() == held
    page.get_by_role("button", name=re.compile("^See it in a network")).click()
    expect(page.locator(CURRENT)).to_have_text("Local geometry")


def enter(app: Any, name: str, value: int) -> None:
    entry = app.page.get_by_role("textbox", name=name, exact=True)
    entry.fill(str(value))
    entry.press("Enter")


def found(config: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        config = config[name]
    return config


def shared(app: Any, key: str) -> Any:
    """The configuration of the link that the page gives away: its field is empty until the page has been asked for one."""
    app.button("Share").click()
    field = app.page.get_by_role("textbox", name="Link")
    expect(field).to_have_value(re.compile(r"\?c=[\w-]{20,}"))
    link = decode(field.input_value().split("c=")[1])
    assert link.page == key
    app.page.keyboard.press("Escape")
    expect(app.page.get_by_role("dialog")).not_to_be_visible()
    return link.config


def saved(app: Any) -> Any:
    """The configuration of the file that the page gives away."""
    app.button("Export ▾").click()
    with app.page.expect_download() as file:
        app.button("Configuration (JSON)").click()
    return json.loads(file.value.path().read_text())
