"""What is asked of every page: few controls, pictures and one heading when it opens, and no serious fault by axe-core."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

SERIOUS = ("serious", "critical")
FIRST = "Local geometry"
READY = {
    "Start": "Bend the valley",
    "Stationary bias": "Right sampler",
    "Many modes": "as many independent draws",
    "Stages": "learned values",
    "Polygons": "the first chain, and w0",
    "Landscapes": "Loss over the two weights",
    "Weights and functions": "distance to exact",
    "Decisions": "poisonous eaten",
    "Your network": "Diagnostics",
    "Benchmark": "Accuracy at the best step size",
}
"""The other pages, and words of each that show that it is there."""
SIZES, WEIGHTS = (14, 16, 20, 40), (400, 700)
"""Of letters, in pixels; the page of the look in docs says what each is for."""
MOST = 16
"""Controls of a page on a small laptop's first screen, the header's with them."""

# What a person sees in the window that can be pressed, chosen, typed or dragged. Each button of a group counts, and a number
# has a slider, an entry and perhaps a switch. A drawing of a network, whose layers are dragged, is one. What only the pointer
# brings out is not there yet, and neither is what a menu has that is closed.
CONTROLS = """() => {
  const host = (e) => e.parentNode instanceof ShadowRoot ? e.parentNode.host : e.parentElement
  const within = (e, selector) => { for (; e; e = host(e)) if (e.matches(selector)) return e; return null }
  const all = (root) => [...root.querySelectorAll('*')].flatMap((e) => [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])])
  const kinds = 'button, input, select, textarea, a[href], summary, [role=button], [role=combobox], [role=slider], .bk-ToolButton'
  const found = new Set()
  for (const e of all(document)) {
    if (!e.matches(kinds) || e.getAttribute('aria-hidden') === 'true') continue
    const box = e.getBoundingClientRect()
    const inside = box.width > 1 && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth
    // The library draws its boxes and switches over an entry without colour.
    if (!inside || !e.checkVisibility({checkVisibilityCSS: true, checkOpacity: e.localName !== 'input'})) continue
    if (!within(e, '.skip-link')) found.add(within(e, '.net') ?? e)
  }
  return [...found].map((e) => e.getAttribute('aria-label') || e.textContent.trim().slice(0, 40) || e.className)
}"""
HEADINGS = """() => {
  const all = (root) => [...root.querySelectorAll('*')].flatMap((e) => [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])])
  return all(document).filter((e) => e.localName === 'h1' && e.checkVisibility()).map((e) => e.textContent)
}"""

# Sizes and weights of all letters that are seen, with the words that have them. Formulas and pictures have their own, and so
# have marks that are no words.
LETTERS = """() => {
  const found = {}
  const walk = (root) => {
    for (const e of root.querySelectorAll('*')) {
      if (e.shadowRoot) walk(e.shadowRoot)
      const words = [...e.childNodes].filter((n) => n.nodeType === 3).map((n) => n.textContent.trim()).join(' ').trim()
      if (!words || !e.checkVisibility({checkVisibilityCSS: true}) || e.closest('.katex, svg, legend, style, script, .help')) continue
      const style = getComputedStyle(e)
      found[`${style.fontSize} ${style.fontWeight}`] = words.slice(0, 40)
    }
  }
  walk(document)
  return found
}"""
ROOT_LETTERS = "() => parseFloat(getComputedStyle(document.documentElement).fontSize) / 16"

LEAST_PICTURES, MOST_MODELS = 0.35, 255
"""Share of a small laptop's window that pictures fill, and Bokeh's models of a page and the window around it when it is first drawn."""

# Canvases and drawings, each place once: a figure has several of them. Icons and swatches are no pictures.
_DRAWN = """
  const all = (root) => [...root.querySelectorAll('*')].flatMap((e) => [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])])
  const drawn = () => all(document).filter((e) => e.matches('canvas, svg') && e.checkVisibility({checkVisibilityCSS: true}))
    .map((e) => e.getBoundingClientRect()).filter((box) => box.width >= 150 && box.height > 40)"""
# The share of the window that pictures fill.
PICTURES = f"""() => {{{_DRAWN}
  const boxes = new Map(drawn().map((b) => [[b.x, b.y, b.width, b.height].map(Math.round).join(), b]))
  const seen = (from, to, end) => Math.max(0, Math.min(to, end) - Math.max(from, 0))
  return [...boxes.values()].reduce((sum, b) => sum + seen(b.left, b.right, innerWidth) * seen(b.top, b.bottom, innerHeight), 0)
    / innerWidth / innerHeight
}}"""
# Given to a page before it opens: what comes into it after its first picture is no part of what a visitor waits for.
COUNT_MODELS = f"""(() => {{{_DRAWN}
  const look = () => {{
    const count = window.Bokeh?.documents?.[0]?._all_models?.size
    if (count && drawn().length) window.modelsAtFirst = count
    else requestAnimationFrame(look)
  }}
  requestAnimationFrame(look)
}})()"""
MODELS = "window.modelsAtFirst"

# By how much a page can be moved sideways.
SIDEWAYS = """() => {
  const find = (root) => root.querySelector('.main-content') ?? [...root.querySelectorAll('*')].filter((e) => e.shadowRoot)
    .map((e) => find(e.shadowRoot)).find(Boolean)
  const main = find(document)
  return Math.max(main.scrollWidth - main.clientWidth, document.documentElement.scrollWidth - innerWidth)
}"""


def turned(app: Any, title: str) -> None:
    """The page of this title, and nothing of the one before."""
    tiles = app.page.locator("[aria-label=Presets]")  # folded in a low window, where no role is seen
    before = tiles.text_content()
    app.turn_to(title)
    app.page.get_by_text(READY[title]).first.wait_for(timeout=60_000)
    expect(tiles).not_to_have_text(before)


def check_letters(page: Any, title: str) -> None:
    """AssertionError where letters have another size or weight than docs/develop/look.md says."""
    found, whole = page.evaluate(LETTERS), page.evaluate(ROOT_LETTERS)
    wanted = {f"{size * whole:g}px {weight}" for size in SIZES for weight in WEIGHTS}
    assert {kind: words for kind, words in found.items() if kind not in wanted} == {}, title


def check_opening(page: Any, title: str) -> None:
    """AssertionError where a page shows several headings at once, or is wider than the window."""
    expect(page.locator("h1")).to_be_visible()
    assert len(page.evaluate(HEADINGS)) == 1, (title, page.evaluate(HEADINGS))
    assert page.evaluate(SIDEWAYS) <= 0, title


# What has passed is not described, and no element gets an address: to write them down takes a third of the time.
AXE = {"resultTypes": ["violations"], "selectors": False}


def faults(page: Any) -> list[str]:
    found = Axe().run(page, options=AXE).response["violations"]
    return [
        f"{v['id']} ({v['impact']}): {node['html'][:160]}"
        for v in found
        if v["impact"] in SERIOUS
        for node in v["nodes"]
    ]


# What `app/patches/repairs.js` gives a label to when it looks at the page again, a few seconds after the last time.
PROBE = """() => {
  const probe = document.createElement('i')
  probe.setAttribute('role', 'progressbar')
  probe.id = 'probe'
  document.body.append(probe)
}"""
# A visitor's click, after which the repairs look a moment later.
CLICK = "() => document.dispatchEvent(new MouseEvent('click'))"
REPAIRED = "document.querySelector('#probe')?.getAttribute('aria-label')"
# How much there is of a page: what comes into it later than the rest makes it more.
AMOUNT = """() => {
  const all = (root) => [...root.querySelectorAll('*')].reduce((n, e) => n + 1 + (e.shadowRoot ? all(e.shadowRoot) : 0), 0)
  return all(document)
}"""


def repaired(app: Any) -> None:
    """Wait until all of a page has been looked at for repairs: nothing has come into it since the look before."""
    before, now = None, app.page.evaluate(AMOUNT)
    while before != now:
        app.page.evaluate(PROBE)
        if before is not None:  # the first look is that of the clock: what comes by itself has three seconds to come
            app.page.evaluate(CLICK)
        app.until(REPAIRED)
        app.page.evaluate("() => document.querySelector('#probe').remove()")
        before, now = now, app.page.evaluate(AMOUNT)


def lasting_faults(app: Any) -> list[str]:
    """The serious faults that are there after repairs too: what came only now is repaired at the next look."""
    found = faults(app.page)
    if found:
        repaired(app)
        found = faults(app.page)
    return found
