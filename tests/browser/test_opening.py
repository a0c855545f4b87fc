"""What a visitor meets on opening a page: the page before its settings, and a sign at once when it is left."""

from __future__ import annotations

from browser_app import QUICK
from page_checks import repaired
from playwright.sync_api import expect

LEFT = """(title) => {
  const all = (root) => [...root.querySelectorAll('*')].flatMap((e) => [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])])
  const button = all(document).find((e) => e.localName === 'button' && e.textContent === title && e.closest('nav'))
  button.click()
  const main = all(document).find((e) => e.classList.contains('main-content'))
  return {
    current: button.getAttribute('aria-current'), busy: main.getAttribute('aria-busy'),
    boxes: main.querySelectorAll('.lab-skeleton i').length,
  }
}"""
WHERE = """() => {
  let at = document.activeElement
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement
  for (let e = at; e; e = e.parentNode instanceof ShadowRoot ? e.parentNode.host : e.parentElement) {
    if (e.localName === 'main') return 'main'
    if (e.matches('.MuiDrawer-root')) return 'side'
  }
  return at?.localName ?? ''
}"""
ICONS = """() => {
  const all = (root) => [...root.querySelectorAll('*')].flatMap((e) => [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])])
  return all(document).filter((e) => e.matches('svg.MuiSvgIcon-root') && e.checkVisibility()).map((e) => e.getBoundingClientRect().width)
}"""


ASKED = """async () => {
  const plain = CSSStyleDeclaration.prototype.getPropertyValue
  let asked = 0, drawn = 0
  CSSStyleDeclaration.prototype.getPropertyValue = function (name) {
    asked += name.startsWith('--bk-')
    return plain.call(this, name)
  }
  for (const view of Bokeh.index.query((v) => v.model.type === 'Figure')) { view.repaint(); drawn++ }
  await new Promise((done) => setTimeout(done, 500))
  CSSStyleDeclaration.prototype.getPropertyValue = plain
  return [drawn, asked]
}"""
SMALL = {"width": 1280, "height": 720}


def test_the_side_bar_keeps_its_looks_and_comes_after_the_page_by_tab(still):
    """What takes its styles away, as moving it in the document would, makes its icons as large as the side bar."""
    page = still.page
    expect(page.get_by_role("textbox", name="Steps", exact=True)).to_be_visible()
    repaired(still)
    page.get_by_role("button", name="Share").first.focus()
    met = []
    for _ in range(80):
        page.keyboard.press("Tab")
        met.append(page.evaluate(WHERE))
        if met[-1] == "side":
            break
    assert "main" in met and met.index("main") < met.index("side"), met
    widths = page.evaluate(ICONS)
    assert len(widths) > 5 and max(widths) <= 40, widths


def test_figures_are_drawn_without_asking_for_styles_that_nobody_sets(still):
    """See quick_visuals.js; where Bokeh has moved what is mended there, hundreds are asked."""
    drawn, asked = still.page.evaluate(ASKED)
    assert drawn and not asked, (drawn, asked)


def test_a_page_is_left_at_once(still):
    """The name of the next page is marked, and grey boxes stand in its place, before the server has heard of it."""
    app = still
    seen = app.page.evaluate(LEFT, "Benchmark")
    assert seen == {"current": "page", "busy": "true", "boxes": 3}
    expect(app.page.get_by_role("heading", name="Which sampler finds λ")).to_be_visible()
    expect(app.page.locator(".lab-skeleton")).to_have_count(0)
    expect(app.page.locator("[aria-busy]")).to_have_count(0)


def test_something_stands_there_before_the_scripts_do(app):
    """On a slow network the scripts take seconds. Without them: the name of the app, and that it starts."""
    page = app.page
    page.route("**/*.js*", lambda route: route.abort())
    page.goto(app.address, wait_until="commit")
    expect(page.get_by_text("Starting.")).to_be_visible()
    page.unroute("**/*.js*")
    page.goto("about:blank")  # until then the page that is left may go on to miss the scripts that were kept away
    app.problems.clear()
    app.open_short()
    expect(page.locator("#opening")).to_have_count(0)


def test_the_next_page_is_made_for_the_window_that_there_is_now(app):
    """One that was narrow tells the server, which leaves the side bar closed; in a wide one it opens all the same."""
    page = app.page
    wide = page.viewport_size
    for turn, (size, told, closed) in enumerate(((SMALL, "1", True), (SMALL, "1", True), (wide, "0", False))):
        page.set_viewport_size(size)
        app.open_link("local-geometry", {**QUICK, "steps": 2000})
        app.until_moving()
        expect(page.get_by_role("textbox", name="Steps", exact=True)).to_be_visible(visible=not closed)
        assert {each["name"]: each["value"] for each in page.context.cookies()}["llc-lab-narrow"] == told
        if turn == 0:
            the_settings_are_one_click_away(page)


def the_settings_are_one_click_away(page):
    page.get_by_role("button", name="Open drawer").click()
    expect(page.get_by_role("textbox", name="Steps", exact=True)).to_be_visible()
    slider = page.get_by_role("slider", name="Steps slider")
    slider.focus()
    page.keyboard.press("ArrowLeft")
    written = page.get_by_role("textbox", name="Steps", exact=True)
    expect(written).not_to_have_value("2,000")
    assert slider.get_attribute("aria-valuetext") == written.input_value(), "a logarithm would be read out otherwise"
