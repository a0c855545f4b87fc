"""The page "Stationary bias" in a browser. Every test also fails on console errors and on requests to other hosts."""

from __future__ import annotations

import contextlib
import re
import time

import pytest
from page_scripts import SOURCE
from playwright.sync_api import TimeoutError, expect

from app.pages.stationary_bias.config import BiasConfig
from app.pages.stationary_bias.job import BiasJob
from app.pages.stationary_bias.panels.exact.job import tasks
from app.pages.stationary_bias.scene import get_scene
from app.pages.stationary_bias.texts import distance

COUNTED = """(() => {
  const models = window.Bokeh?.documents?.[0]?._all_models.values() ?? []
  const source = [...models].find((m) => m.name === 'histogram_left')
  const columns = source?.data instanceof Map ? Object.fromEntries(source.data) : source?.data
  return columns ? Array.from(columns.top).filter((v) => v > 0).length : 0
})()"""
PLACE = """([name, x, y]) => {
  let found
  const walk = (view) => { if (view.model?.name === name) found = view; for (const v of view.child_views ?? []) walk(v) }
  const roots = Bokeh.index.roots ? [...Bokeh.index] : Object.values(Bokeh.index)
  roots.forEach(walk)
  const box = found.el.getBoundingClientRect()
  return [box.left + found.frame.x_scale.compute(x), box.top + found.frame.y_scale.compute(y)]
}"""

BRIEF = {"left": {"name": "SGLD", "step_size": 1e-3}, "chains": 500, "steps": 2000}
STACKED = """() => {
  const deep = (root) => [...root.querySelectorAll('*')].flatMap((e) => [e, ...(e.shadowRoot ? deep(e.shadowRoot) : [])])
  const boxes = deep(document).filter((e) => e.classList.contains('bk-Figure')).map((e) => e.getBoundingClientRect())
  boxes.sort((a, b) => a.top - b.top)
  return boxes.length === 7 && boxes.slice(1).every((box, i) => boxes[i].bottom <= box.top + 1)
}"""


@pytest.fixture
def bias(kept):
    """The page, opened by its address, or left in order by another test; its first preset's run has begun to count."""

    def first(app):
        app.open_page("stationary-bias")
        wait_for_counts(app)

    def again(app):
        with contextlib.suppress(TimeoutError):  # it may come to its end meanwhile
            app.button("Pause").click(timeout=2000)
        app.first_preset()
        expect(app.button("Pause")).to_be_visible()  # its run is there, and none before it plays
        expect(app.page.locator("[data-key=left_bias]")).to_have_text(distance(get_scene(BiasConfig()).left.distance))
        expect(app.page.locator(".count")).to_contain_text(f"of {BiasConfig().steps:,}")
        wait_for_counts(app)

    return kept.get(first, again)


def wait_for_counts(app, seconds: float = 30) -> None:
    app.page.wait_for_function(f"() => {COUNTED} > 20", timeout=1000 * seconds)


def holes(app) -> tuple[float, float]:
    """Density near 0 as a share of the highest, left and right."""
    shares = []
    for side in ("left", "right"):
        top = app.source(f"histogram_{side}")["top"]
        shares.append(sum(top[39:41]) / 2 / max(top))
    return shares[0], shares[1]


def enter(app, name: str, value: str, which: int = 0) -> None:
    entry = app.page.get_by_role("textbox", name=name, exact=True).nth(which)
    entry.fill(value)
    entry.press("Enter")


def test_the_hole_and_its_absence(bias):
    """How soon: `python -m lab.benchmarks.served.latencies`."""
    limit = time.monotonic() + 60
    while not ((seen := holes(bias))[0] < 0.6 < 0.9 < seen[1]):
        assert time.monotonic() < limit, seen
        bias.page.wait_for_timeout(50)


def test_numbers_on_the_screen_are_the_engine_s(bias):
    """The same comparison, run here: equal texts, equal histograms, equal curves."""
    enter(bias, "Steps", "4000")
    expect(bias.page.locator(".count")).to_contain_text("4,000 of 4,000")
    expect(bias.page.locator(".caption")).to_have_text("finished")
    config = BiasConfig(steps=4000)
    job = BiasJob(config)
    job.advance(4000)
    estimate = job.judge()
    for side in ("left", "right"):
        found = estimate.side(side)
        number = bias.page.locator(f"[data-key={side}_target]")
        expect(number).to_have_text(distance(found.to_target))
        assert bias.number(f"{side}_prediction") == distance(found.to_prediction)
        assert bias.number(f"{side}_w1") == distance(found.wasserstein)
        assert bias.number(f"{side}_kl") == distance(found.kl)
        assert bias.number(f"{side}_diverged") == "0"
        density = job.scene.bins.density(job._runs[side].counts)
        shown = bias.source(f"histogram_{side}")["top"]
        assert max(abs(a - b) for a, b in zip(shown, density, strict=True)) < 1e-12
        laws = bias.source(f"laws_{side}")
        assert max(abs(a - b) for a, b in zip(laws["predicted"], job.scene.side(side).density, strict=True)) < 1e-12
        exact = tasks(config, "left")[side == "right"]()
        expect(bias.page.locator(f"[data-key={side}_exact]")).to_have_text(distance(exact.to_target))
    curve = bias.source("distances")
    assert curve["step"][-1] <= 4000 and len(curve["step"]) > 3
    bias.page.wait_for_function(
        "() => [...Bokeh.documents[0]._all_models.values()].find((m) => m.name === 'bias_mark').get_length() > 0"
    )
    mark = bias.source("bias_mark")
    assert mark["step"] == [1e-3] and distance(mark["value"][0]) == bias.number("left_exact")


def rest(app) -> int:
    """Let the run pause: its steps would take the time of what is looked at meanwhile. Returns how far it is."""
    app.button("Pause").click()
    expect(app.page.locator(".caption")).to_contain_text("paused")
    return app.step


def test_a_change_starts_again_and_a_fault_does_not(bias):
    before = rest(bias)
    bias.page.get_by_role("button", name="More of the left sampler").click()
    enter(bias, "Alpha α", "7")
    expect(bias.page.get_by_role("alert").filter(has_text="PSGLD.alpha is 7")).to_be_visible()
    assert bias.step == before, "the run that was on stays"
    expect(bias.page.locator(".caption")).to_contain_text("paused")
    with bias.begins():
        enter(bias, "Alpha α", "0.5")
    expect(bias.page.get_by_role("alert").filter(has_text="PSGLD.alpha")).to_have_count(0)
    expect(bias.page.get_by_text("Your own settings.")).to_be_visible()
    wait_for_counts(bias)
    config = BiasConfig(left={**BiasConfig().left, "alpha": 0.5})
    expect(bias.page.locator("[data-key=left_bias]")).to_have_text(distance(get_scene(config).left.distance))


def test_pause_step_play_reset(bias):
    bias.button("Pause").click()
    expect(bias.page.locator(".caption")).to_contain_text("paused")
    held = bias.step
    bias.page.get_by_role("button", name="Step: advance by 600 steps").click()
    expect(bias.page.locator(".count")).to_contain_text(f"step {held + 600:,} of")
    bias.page.get_by_text("Published PSGLD never settles").click()
    bias.page.keyboard.press("Space")
    expect(bias.page.locator(".caption")).not_to_contain_text("paused")
    with bias.begins():
        bias.button("Reset").click()
    wait_for_counts(bias)


def test_presets_and_their_sentences(bias):
    tiles = bias.page.get_by_role("group", name="Presets").get_by_role("button")
    assert tiles.count() >= 12
    for title, bias_text, sampler in (("Shampoo", "0.3024", "Shampoo SGLD"), ("Double well", "0.2389", "PSGLD")):
        tile = tiles.filter(has_text=re.compile(f"^{title}$"))
        with bias.begins():
            tile.click()
        expect(tile).to_have_attribute("aria-pressed", "true")
        expect(bias.page.locator("[data-key=left_bias]")).to_have_text(bias_text)
        expect(bias.page.get_by_role("combobox", name="Left sampler")).to_have_text(sampler)
        wait_for_counts(bias)
        expect(bias.page.get_by_text("Wrong distribution").first).to_be_visible()


def test_a_formula_as_target_and_a_fault_in_it(bias):
    with bias.begins():
        choose(bias, "Write your own")
    expect(bias.page.get_by_role("textbox", name="Formula in x")).to_be_visible()
    bias.button("Pause").click()  # while the run of the formula may still be on its way: it rests as it comes
    expect(bias.page.get_by_text("Your own settings.")).to_be_visible()
    expect(bias.page.locator(".caption")).to_contain_text("paused")
    expect(bias.button("Play")).to_be_visible()
    before = bias.step
    enter(bias, "Formula in x", "exp(-x^2")
    expect(bias.page.get_by_role("alert").filter(has_text="closing parenthesis")).to_be_visible()
    assert bias.step == before, "the run that was on stays"
    expect(bias.page.locator(".caption")).to_contain_text("paused")
    enter(bias, "Formula in x", "exp(-x^2/2)")
    expect(bias.page.get_by_role("alert").filter(has_text="parenthesis")).to_have_count(0)
    expect(bias.page.locator("[data-key=left_bias]")).to_have_text("0.2461")
    expect(bias.button("Pause")).to_be_visible()
    wait_for_counts(bias)


def test_points_are_dragged_and_typed(bias):
    # Each change of the points begins a run, of which nothing is asked: a short one, whose sampler has few exact distributions.
    bias.bring(BRIEF)
    expect(bias.page.locator(".count")).to_contain_text("of 2,000")
    choose(bias, "Draw your own")
    points = bias.page.get_by_role("textbox", name="Points: x, density")
    expect(points).to_be_visible()
    bias.page.wait_for_function(
        "() => [...Bokeh.documents[0]._all_models.values()].some((m) => m.name === 'target_points')"
    )
    before = bias.source("target_points")
    moved = f"(old) => ({SOURCE})('target_points').y[2] > old + 0.1"
    for _ in range(3):  # a figure that is moved by words above it between two looks is missed, as by anybody
        x, y = bias.place(PLACE, ["target_editor", before["x"][2], before["y"][2]])
        bias.drag(*((x, y - up) for up in range(0, 101, 10)))
        with contextlib.suppress(TimeoutError):
            bias.page.wait_for_function(moved, arg=before["y"][2], timeout=8000)
            break
    after = bias.source("target_points")
    assert after["y"][:2] == before["y"][:2] and after["y"][2] > before["y"][2] + 0.1
    expect(points).to_have_value(re.compile(re.escape(f"{after['y'][2]:.3g}")))
    points.fill("-2, 0.1\n0, 1\n2, 0.1")
    points.press("Tab")
    bias.page.wait_for_function(
        "() => [...Bokeh.documents[0]._all_models.values()].find((m) => m.name === 'target_points').get_length() === 3"
    )
    points.fill("-2, 0.1\n0, one")
    points.press("Tab")
    expect(bias.page.get_by_role("alert").filter(has_text="“0, one” is not a point")).to_be_visible()


def choose(app, title: str) -> None:
    app.page.get_by_role("combobox", name="Target").click()
    app.page.get_by_text(title, exact=True).click()


def test_what_is_drawn_can_be_switched(bias):
    rest(bias)
    bias.button("Lines ▾").click()
    menu, legend = bias.page.get_by_role("group", name="Lines"), bias.page.locator("[data-legend~=law_left] li")
    expect(legend).to_have_text(["histogram", "target p", "prediction, ε → 0"])
    button = menu.get_by_role("button", name="exact at this ε")
    expect(button).to_have_attribute("aria-pressed", "false")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(legend.last).to_have_text("exact at this ε")
    bias.page.wait_for_function(
        "() => [...Bokeh.documents[0]._all_models.values()].find((m) => m.name === 'exact_left').get_length() > 50"
    )
    button.click()
    expect(button).to_have_attribute("aria-pressed", "false")
    bias.page.keyboard.press("Escape")
    expect(menu).to_be_hidden()
    expect(bias.button("Lines ▾")).to_be_focused()


def test_a_phone_shows_everything_below_each_other_in_the_dark_too(app):
    app.page.set_viewport_size({"width": 390, "height": 844})
    app.open_link("stationary-bias", {"steps": 3000, "chains": 1000})
    wait_for_counts(app)
    app.switch_scheme()
    figures = app.page.locator(".bk-Figure")
    expect(figures).to_have_count(7)
    app.page.wait_for_function(STACKED, timeout=60_000)
    boxes = [figures.nth(i).bounding_box() for i in range(7)]
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 390 for box in boxes)
    assert app.page.evaluate("document.documentElement.scrollWidth") <= 390
    app.page.get_by_role("button", name="Open drawer").click()
    expect(app.page.get_by_role("textbox", name="Steps", exact=True)).to_be_visible()


@pytest.mark.parametrize("width", [390, 800, 1024, 1280])
def test_the_run_and_what_is_drawn_never_lie_on_each_other(bias, width):
    """They share a row where there is room: on a phone the first buttons once lay on the run's."""
    page = bias.page
    before = page.viewport_size
    page.set_viewport_size({"width": width, "height": 844})
    try:
        run, drawn = page.locator(".bar").first, page.locator(".toggles").first
        expect(drawn).to_be_visible()
        page.wait_for_function("(width) => innerWidth === width", arg=width)
        a, b = run.bounding_box(), drawn.bounding_box()
        apart = a["x"] + a["width"] <= b["x"] or a["y"] + a["height"] <= b["y"] + 1
        assert apart and b["x"] + b["width"] <= width, (a, b)
        assert a["width"] > 250, "progress can be read"
    finally:
        page.set_viewport_size(before)
