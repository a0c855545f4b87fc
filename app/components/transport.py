"""Small browser components: the transport bar, the preset tiles and the read-out tiles.

Plain elements with labels and focus rings, so that keyboard and screen reader work; they are updated in place, never
rebuilt, so that a tooltip or the focus survives the next update.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import param
from panel.custom import JSComponent

_BASE = """
:host { color: var(--panel-on-background-color); font-family: var(--bokeh-base-font);
  --edge: color-mix(in srgb, var(--panel-on-background-color) 20%, transparent); }
button { font: inherit; color: inherit; cursor: pointer; }
button:focus-visible, [tabindex]:focus-visible { outline: 2px solid var(--panel-primary-color); outline-offset: 2px; }
"""


class Transport(JSComponent):
    """Play or pause, step, reset; a step counter and the progress. Space, S and R do the same as the buttons.

    Where a finished run can be made longer its first button says “Go on”: to play it again is what Reset does.
    """

    status = param.String("starting")
    caption = param.String("")
    playing = param.Boolean(True)
    step = param.Integer(0)
    total = param.Integer(1)
    burn_in = param.Integer(0)
    more = param.Boolean(False, doc="The run is finished and can be made twice as long.")
    stride = param.Integer(1, doc="Steps that one press of the step button does.")

    _stylesheets = [
        _BASE,
        """
.bar { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 10px; }
.bar button { display: inline-flex; align-items: center; justify-content: center; gap: 7px; height: 40px; padding: 0 14px;
  border-radius: 8px; border: 1px solid var(--edge); background: var(--panel-surface-color); font-size: .9375rem; }
.bar button:hover { border-color: var(--panel-primary-color); }
.bar button.main { min-width: 104px; background: var(--panel-primary-color); color: var(--panel-on-primary-color);
  border-color: transparent; font-weight: 700; }
.bar button.main:hover { filter: brightness(1.08); }
.bar svg { width: 16px; height: 16px; fill: currentColor; flex: none; }
.where { flex: 1 1 240px; min-width: 200px; }
.words { display: flex; justify-content: space-between; gap: 12px; font-size: .875rem; line-height: 1.3; margin-bottom: 5px; }
.count { font-variant-numeric: tabular-nums; font-weight: 700; white-space: nowrap; }
.caption { opacity: .75; text-align: right; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.track { position: relative; height: 6px; border-radius: 3px; overflow: hidden;
  background: color-mix(in srgb, currentColor 14%, transparent); }
.done { position: absolute; inset: 0 auto 0 0; background: var(--panel-primary-color); }
.mark { position: absolute; top: 0; bottom: 0; width: 2px; background: currentColor; opacity: .6; }
""",
    ]

    _esm = """
const ICONS = {
  play: '<path d="M3 1.8v12.4c0 .8.9 1.3 1.6.9l9.9-6.2c.6-.4.6-1.4 0-1.8L4.6.9C3.9.5 3 1 3 1.8z"/>',
  pause: '<rect x="2.5" y="1.5" width="4" height="13" rx="1"/><rect x="9.5" y="1.5" width="4" height="13" rx="1"/>',
  step: '<path d="M2 2.200v11.600c0 .7.8 1.100 1.400.7l7.600-5.200V14a1 1 0 0 0 1 1h1a1 1 0 0 0 1-1V2a1 1 0 0 0-1-1h-1a1 1 0 0 0-1 1v4.700L3.400 1.500C2.800 1.100 2 1.500 2 2.200z"/>',
  reset: '<path d="M8 2.500V.6c0-.4-.5-.7-.9-.4L3.400 3c-.3.200-.3.700 0 .9l3.700 2.900c.4.300.9 0 .9-.4V4.500a4.500 4.500 0 1 1-4.400 5.400 1 1 0 1 0-2 .4A6.500 6.500 0 1 0 8 2.500z"/>'
}
const icon = (name) => `<svg viewBox="0 0 16 16" aria-hidden="true">${ICONS[name]}</svg>`

export function render({model, el}) {
  const bar = document.createElement('div')
  bar.className = 'bar'
  bar.setAttribute('role', 'toolbar')
  bar.setAttribute('aria-label', 'Run control')
  const button = (command, keys) => {
    const b = document.createElement('button')
    b.type = 'button'
    b.setAttribute('aria-keyshortcuts', keys)
    b.addEventListener('click', () => model.send_msg({command: typeof command === 'function' ? command() : command}))
    bar.appendChild(b)
    return b
  }
  const play = button(() => model.more ? 'more' : model.playing ? 'pause' : 'play', 'Space')
  play.className = 'main'
  const step = button('step', 'S')
  const reset = button('reset', 'R')
  step.innerHTML = icon('step') + '<span>Step</span>'
  reset.innerHTML = icon('reset') + '<span>Reset</span>'
  reset.setAttribute('aria-label', 'Reset')
  reset.title = 'Start again (R)'
  const where = document.createElement('div')
  where.className = 'where'
  where.innerHTML = '<div class="words"><span class="count"></span><span class="caption"></span></div>' +
    '<div class="track" role="progressbar" aria-label="Progress" aria-valuemin="0" aria-valuemax="100">' +
    '<div class="done"></div><div class="mark" title="end of burn-in"></div></div>'
  bar.appendChild(where)
  const [count, caption, track, done, mark] = ['.count', '.caption', '.track', '.done', '.mark'].map(s => where.querySelector(s))

  const buttons = () => {
    const name = model.more ? 'Go on' : model.playing ? 'Pause' : 'Play'
    const further = model.more ? `: ${model.total.toLocaleString('en')} more steps` : ''
    play.innerHTML = icon(model.playing && !model.more ? 'pause' : 'play') + `<span>${name}</span>`
    play.setAttribute('aria-label', name + further)
    play.title = `${name}${further} (space bar)`
    const by = model.stride.toLocaleString('en') + (model.stride === 1 ? ' step' : ' steps')
    step.title = `Advance by ${by} (S)`
    step.setAttribute('aria-label', `Step: advance by ${by}`)
  }
  const progress = () => {
    const share = 100 * model.step / Math.max(1, model.total)
    count.textContent = `step ${model.step.toLocaleString('en')} of ${model.total.toLocaleString('en')}`
    done.style.width = share + '%'
    mark.style.left = `calc(${100 * model.burn_in / Math.max(1, model.total)}% - 1px)`
    track.setAttribute('aria-valuenow', Math.round(share))
  }
  const words = () => { caption.textContent = caption.title = model.caption }
  buttons(); progress(); words()
  model.on(['playing', 'stride', 'more', 'total'], buttons)
  model.on(['step', 'total', 'burn_in'], progress)
  model.on('caption', words)

  const keys = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const target = event.composedPath()[0]
    if (target.closest?.('input, textarea, select, button, a, [contenteditable], [role=slider], [role=combobox], [role=option], [role=listbox]')) return
    const chosen = {' ': play, 's': step, 'r': reset}[event.key.toLowerCase()]
    if (chosen) { event.preventDefault(); chosen.click() }
  }
  document.addEventListener('keydown', keys)
  model.on('remove', () => document.removeEventListener('keydown', keys))
  return bar
}
"""

    def __init__(self, **params: Any):
        super().__init__(**params)
        self.listener: Callable[[str], None] = lambda command: None

    def begin(self, total: int, burn_in: int, playing: bool = True, caption: str = "starting…") -> None:
        """A new run of so many steps."""
        self.param.update(step=0, caption=caption)
        self.lengthen(total, burn_in, playing)

    def lengthen(self, total: int, burn_in: int, playing: bool = True) -> None:
        """The run has so many steps now."""
        self.param.update(total=total, burn_in=burn_in, more=False, stride=max(1, total // 100), playing=playing)

    def _handle_msg(self, msg: Any) -> None:
        command = msg.get("command") if isinstance(msg, dict) else None
        if command in ("play", "pause", "step", "reset", "more"):
            self.listener(command)


class Navigation(JSComponent):
    """The pages, as buttons in the header; the current one is marked. Where the header is narrow they are a menu."""

    titles = param.List([])
    current = param.String("")

    _stylesheets = [
        """
:host { font-family: var(--bokeh-base-font); }
nav { position: relative; }
nav > div { display: flex; gap: 4px; }
button { font: inherit; font-size: .9375rem; color: #fff; height: 34px; padding: 0 12px; border: 0; border-radius: 8px; cursor: pointer;
  background: transparent; opacity: .85; white-space: nowrap; }
button:hover { background: #ffffff22; opacity: 1; }
button[aria-current=page] { background: #ffffff2e; opacity: 1; font-weight: 700; }
button:focus-visible { outline: 2px solid #fff; outline-offset: 1px; }
.open { display: none; }
@media (max-width: 899px) {
  .open { display: inline-flex; align-items: center; gap: 8px; height: 40px; opacity: 1; font-weight: 700; background: #ffffff2e; }
  .open svg { width: 12px; height: 12px; fill: none; stroke: currentColor; stroke-width: 2; flex: none; }
  nav > div { position: absolute; z-index: 1400; top: calc(100% + 6px); left: 0; flex-direction: column; padding: 6px; min-width: 200px;
    border-radius: 10px; background: #0B4A73; border: 1px solid #ffffff55; box-shadow: 0 8px 30px #0007; }
  nav:not(.opened) > div { display: none; }
  nav > div button { height: 44px; text-align: left; }
}
"""
    ]

    _esm = """
export function render({model}) {
  const bar = document.createElement('nav')
  bar.setAttribute('aria-label', 'Pages')
  const open = document.createElement('button'), list = document.createElement('div')
  open.type = 'button'
  open.className = 'open'
  open.innerHTML = '<span></span><svg viewBox="0 0 12 12" aria-hidden="true"><path d="M2 4l4 4 4-4"/></svg>'
  bar.append(open, list)
  const toggle = (shown) => {
    bar.classList.toggle('opened', shown)
    open.setAttribute('aria-expanded', String(shown))
  }
  const opened = () => bar.classList.contains('opened')
  const buttons = model.titles.map((title) => {
    const b = document.createElement('button')
    b.type = 'button'
    b.textContent = title
    b.addEventListener('click', () => {
      if (opened()) { toggle(false); open.focus() }
      model.send_msg({open: title})
    })
    list.appendChild(b)
    return b
  })
  const mark = () => {
    open.firstChild.textContent = model.current
    open.setAttribute('aria-label', `${model.current}: choose a page`)
    buttons.forEach((b) => {
      if (b.textContent === model.current) b.setAttribute('aria-current', 'page')
      else b.removeAttribute('aria-current')
    })
  }
  toggle(false)
  mark()
  model.on('current', mark)
  open.addEventListener('click', () => {
    toggle(!opened())
    if (opened()) (buttons.find((b) => b.hasAttribute('aria-current')) ?? buttons[0]).focus()
  })
  bar.addEventListener('keydown', (event) => {
    if (!opened()) return
    const at = buttons.indexOf(bar.getRootNode().activeElement), step = {ArrowDown: 1, ArrowUp: -1}[event.key]
    if (event.key === 'Escape') { toggle(false); open.focus() }
    else if (step && at >= 0) { event.preventDefault(); buttons[(at + step + buttons.length) % buttons.length].focus() }
  })
  const outside = (event) => { if (!event.composedPath().includes(bar)) toggle(false) }
  document.addEventListener('pointerdown', outside)
  model.on('remove', () => document.removeEventListener('pointerdown', outside))
  return bar
}
"""

    def __init__(self, **params: Any):
        super().__init__(**params)
        self.listener: Callable[[str], None] = lambda title: None

    def _handle_msg(self, msg: Any) -> None:
        title = msg.get("open") if isinstance(msg, dict) else None
        if title in self.titles and title != self.current:
            self.current = title
            self.listener(title)


class Tiles(JSComponent):
    """Picture tiles to choose one of. items: name, title, tip and an SVG picture each."""

    items = param.List([])
    selected = param.String("")

    _stylesheets = [
        _BASE,
        """
.tiles { display: grid; grid-auto-flow: column; grid-auto-columns: minmax(94px, 1fr); gap: 8px; overflow-x: auto;
  padding: 3px; margin: -3px; scrollbar-width: thin; }
.tiles button { display: flex; flex-direction: column; gap: 4px; padding: 7px 6px 6px; text-align: center; min-width: 0;
  border: 1px solid var(--edge); border-radius: 10px; background: var(--panel-surface-color);
  transition: border-color .15s, transform .15s; }
.tiles button:hover { border-color: var(--panel-primary-color); transform: translateY(-1px); }
.tiles button[aria-pressed=true] { border-color: var(--panel-primary-color); box-shadow: inset 0 0 0 1px var(--panel-primary-color);
  background: color-mix(in srgb, var(--panel-primary-color) 9%, var(--panel-surface-color)); }
.tiles .picture { display: block; width: 100%; }
.tiles .picture svg { max-height: 46px; }
.tiles .title { font-size: .775rem; line-height: 1.2; font-weight: 700; text-wrap: balance; overflow-wrap: anywhere; }
@media (prefers-reduced-motion: reduce) { .tiles button { transition: none; } }
""",
    ]

    _esm = """
export function render({model}) {
  const box = document.createElement('div')
  box.className = 'tiles'
  box.setAttribute('role', 'group')
  box.setAttribute('aria-label', 'Presets')
  const build = () => {
    box.replaceChildren(...model.items.map((item) => {
      const b = document.createElement('button')
      b.type = 'button'
      b.dataset.name = item.name
      b.title = item.tip
      b.innerHTML = `<span class="picture" aria-hidden="true">${item.picture}</span>`
      const title = document.createElement('span')
      title.className = 'title'
      title.textContent = item.title
      b.appendChild(title)
      b.addEventListener('click', () => model.send_msg({select: item.name}))
      return b
    }))
    mark()
  }
  const mark = () => box.querySelectorAll('button').forEach(
    (b) => b.setAttribute('aria-pressed', String(b.dataset.name === model.selected)))
  build()
  model.on('items', build)
  model.on('selected', mark)
  return box
}
"""

    def __init__(self, **params: Any):
        super().__init__(**params)
        self.listener: Callable[[str], None] = lambda name: None

    def _handle_msg(self, msg: Any) -> None:
        name = msg.get("select") if isinstance(msg, dict) else None
        if any(item["name"] == name for item in self.items):
            self.listener(name)


class Toggles(JSComponent):
    """A legend whose entries switch what they name. items: key, label and an SVG swatch each.  shown: keys that are on."""

    items = param.List([])
    shown = param.List([])
    label = param.String("Show")
    figures = param.String("", doc="Names of the figures it belongs to, with spaces between.")

    _stylesheets = [
        _BASE,
        """
.toggles { display: flex; flex-wrap: wrap; gap: 4px 6px; border: 0; margin: 0; padding: 0; font-size: .8125rem; }
.toggles button { display: inline-flex; align-items: center; gap: 7px; height: 30px; padding: 0 10px; border-radius: 15px;
  border: 1px solid var(--edge); background: transparent; white-space: nowrap; }
.toggles button:hover { border-color: var(--panel-primary-color); }
.toggles button[aria-pressed=false] { opacity: .75; border-style: dashed; }
.toggles button[aria-pressed=true] { background: color-mix(in srgb, currentColor 6%, transparent); }
""",
    ]

    _esm = """
export function render({model}) {
  const box = document.createElement('div')
  box.className = 'toggles'
  box.setAttribute('role', 'group')
  box.setAttribute('aria-label', model.label)
  box.dataset.legend = model.figures
  let buttons = []
  const build = () => {
    buttons = model.items.map((item) => {
      const b = document.createElement('button')
      b.type = 'button'
      b.dataset.name = item.key
      if (item.tip) b.title = item.tip
      b.innerHTML = item.swatch
      b.appendChild(document.createTextNode(item.label))
      b.addEventListener('click', () => model.send_msg({toggle: item.key}))
      return b
    })
    box.replaceChildren(...buttons)
    mark()
  }
  const mark = () => buttons.forEach((b) => b.setAttribute('aria-pressed', String(model.shown.includes(b.dataset.name))))
  build()
  model.on('items', build)
  model.on('shown', mark)
  return box
}
"""

    def __init__(self, **params: Any):
        super().__init__(**params)
        self.listener: Callable[[], None] = lambda: None

    def _handle_msg(self, msg: Any) -> None:
        key = msg.get("toggle") if isinstance(msg, dict) else None
        if any(item["key"] == key for item in self.items):
            self.shown = [k for k in self.shown if k != key] if key in self.shown else [*self.shown, key]
            self.listener()


class Numbers(JSComponent):
    """Labelled numbers with explanations on hover or focus.

    items: key, label, tip and optionally wide, main (bool) each.  values: key → text.
    """

    items = param.List([])
    values = param.Dict({})
    columns = param.String("auto-fit")
    least = param.String("92px", doc="Least width of a column.")
    withheld = param.List([], doc="Keys of cells that are not shown.")

    _stylesheets = [
        _BASE,
        """
.numbers { display: grid; grid-auto-flow: row dense; gap: 8px; margin: 0; }
.numbers > div { position: relative; padding: 7px 8px 8px; border-radius: 8px; min-width: 0; cursor: help;
  background: color-mix(in srgb, currentColor 5%, transparent); }
.numbers > div[hidden] { display: none; }
.numbers > div.wide { grid-column: span 2; }
.numbers > div.main { background: color-mix(in srgb, var(--panel-primary-color) 13%, transparent); }
dt { font-size: .75rem; line-height: 1.3; opacity: .78; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
dd { margin: 2px 0 0; font-size: 1.0625rem; line-height: 1.25; font-weight: 700; font-variant-numeric: tabular-nums; white-space: nowrap;
  overflow: hidden; text-overflow: ellipsis; }
.main dd { font-size: 1.375rem; }
.tip { position: absolute; z-index: 20; top: calc(100% + 4px); left: 0; width: max-content; max-width: min(300px, 80vw); padding: 8px 10px;
  border-radius: 6px; background: #20262d; color: #fff; font-size: .8125rem; line-height: 1.4; box-shadow: 0 4px 16px #0006;
  white-space: normal; visibility: hidden; opacity: 0; transition: opacity .12s; pointer-events: none; }
.numbers > div:hover .tip, .numbers > div:focus-visible .tip { visibility: visible; opacity: 1; }
""",
    ]

    _esm = """
export function render({model}) {
  const list = document.createElement('dl')
  list.className = 'numbers'
  list.style.gridTemplateColumns = `repeat(${model.columns}, minmax(${model.least}, 1fr))`
  const cells = {}
  for (const item of model.items) {
    const box = document.createElement('div')
    box.tabIndex = 0
    box.className = (item.wide ? 'wide ' : '') + (item.main ? 'main' : '')
    box.innerHTML = '<dt></dt><dd>–</dd><span class="tip" role="tooltip"></span>'
    box.querySelector('dt').textContent = item.label
    const tip = box.querySelector('.tip')
    tip.textContent = item.tip
    const keepInside = () => {
      const from = box.getBoundingClientRect().left
      const shift = Math.min(0, window.innerWidth - 8 - tip.offsetWidth - from)
      tip.style.left = `${Math.max(shift, 8 - from)}px`
    }
    box.addEventListener('mouseenter', keepInside)
    box.addEventListener('focus', keepInside)
    tip.id = 'tip-' + item.key
    box.setAttribute('aria-describedby', tip.id)
    cells[item.key] = box.querySelector('dd')
    cells[item.key].dataset.key = item.key
    list.appendChild(box)
  }
  const fill = () => {
    for (const [key, text] of Object.entries(model.values)) {
      if (cells[key] && cells[key].textContent !== text) cells[key].textContent = text
    }
  }
  const withhold = () => {
    for (const [key, cell] of Object.entries(cells)) cell.parentElement.hidden = model.withheld.includes(key)
  }
  fill()
  withhold()
  model.on('values', fill)
  model.on('withheld', withhold)
  return list
}
"""


class ClosedOnPhones(JSComponent):
    """Closes the side bar of a narrow window before the first paint; only the browser knows its width."""

    _esm = """
export function render({view}) {
  if (window.innerWidth < 600) {
    const page = view.model.document?.roots().find((root) => root.class_name === 'Page')
    if (page) page.data.sidebar_open = false
  }
  return document.createElement('span')
}
"""
