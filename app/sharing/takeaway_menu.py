"""The menu "Take away" in the browser. It knows nothing of the engine: components are known before a page is sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import param
from panel.custom import JSComponent

from app.components.base import _BASE


class TakeawayMenu(JSComponent):
    """Copies at once; figures are drawn by the browser; asks Python for files, and hands it what is opened.

    on_want: called with the key of a file.  on_upload: called with the text of a file.
    """

    code = param.String("", doc="Python that repeats the run; here beforehand, since browsers copy only at once.")
    configuration = param.String("")
    files = param.List(doc='{"key": …, "label": …} of every file; the page gives them.')
    figures = param.List(
        doc='{"name": …, "label": …}: figures by their name, drawings by the first words of their description.'
    )
    message = param.Dict({}, doc='{"text": …, "bad": …}: a sentence beside the button.')

    _stylesheets = [
        _BASE,
        """
.away { position: relative; display: flex; align-items: center; gap: 12px; font-size: .8125rem; }
.away > button { height: 37px; padding: 0 12px; border-radius: 4px; border: 1px solid color-mix(in srgb, var(--panel-primary-color) 50%, transparent);
  background: transparent; color: var(--panel-primary-color); font-weight: 500; }
.away > button:hover { border-color: var(--panel-primary-color); background: color-mix(in srgb, var(--panel-primary-color) 6%, transparent); }
.menu { position: absolute; z-index: 40; top: calc(100% + 6px); left: 0; width: min(560px, calc(100vw - 48px)); box-sizing: border-box;
  display: grid; grid-template-columns: repeat(auto-fit, minmax(210px, 1fr)); gap: 10px 18px; padding: 12px 14px; border-radius: 10px;
  background: var(--panel-surface-color); border: 1px solid var(--edge); box-shadow: 0 8px 30px #0005; }
.menu[hidden] { display: none; }
.menu h3 { margin: 0 0 4px; font-size: .8125rem; opacity: .75; }
.menu .row { display: flex; gap: 6px; align-items: center; }
.menu .row span { flex: 1; }
.menu button { height: 32px; padding: 0 9px; border: 0; border-radius: 6px; background: transparent; text-align: left; }
.menu .list button { display: block; width: 100%; }
.menu .row button { border: 1px solid var(--edge); height: 26px; }
.menu button:hover { background: color-mix(in srgb, currentColor 9%, transparent); }
.message { line-height: 1.35; }
.message.bad { color: var(--danger-bg-color); }
""",
    ]

    _esm = """
const MIME = {csv: 'text/csv', json: 'application/json', py: 'text/x-python', nc: 'application/x-netcdf', svg: 'image/svg+xml', png: 'image/png'}

export function render({model}) {
  const box = document.createElement('div')
  box.className = 'away'
  box.innerHTML = '<button type="button" class="open" aria-haspopup="true" aria-expanded="false">Take away ▾</button>' +
    '<span class="message" role="status"></span><div class="menu" role="group" aria-label="Take away" hidden></div>' +
    '<input type="file" accept=".json,application/json" hidden aria-label="Configuration file">'
  const find = (selector) => box.querySelector(selector)
  const open = find('.open'), menu = find('.menu'), message = find('.message'), input = find('input')

  const say = (text, bad = false) => { message.textContent = text; message.className = bad ? 'message bad' : 'message' }
  const toggle = (shown) => {
    menu.hidden = !shown
    open.setAttribute('aria-expanded', String(shown))
    menu.style.left = '0'
    const over = menu.getBoundingClientRect().right - (document.documentElement.clientWidth - 12)
    if (shown && over > 0) menu.style.left = -over + 'px'
  }
  const save = (blob, name) => {
    const link = document.createElement('a')
    link.href = URL.createObjectURL(blob)
    link.download = name
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 10000)
    say(`Saved ${name}.`)
  }

  const copy = async (text, what) => {
    let done = false
    try { await navigator.clipboard.writeText(text); done = true } catch (error) {
      // Pages that are not on a secure address have no clipboard: the old way.
      const area = document.createElement('textarea')
      area.value = text
      document.body.appendChild(area)
      area.select()
      done = document.execCommand('copy')
      area.remove()
    }
    say(done ? `Copied: ${what}.` : 'The browser did not allow copying; save the file instead.', !done)
  }

  const deep = (root, selector) => {
    const found = root.querySelector(selector)
    if (found) return found
    for (const element of root.querySelectorAll('*')) {
      const inside = element.shadowRoot && deep(element.shadowRoot, selector)
      if (inside) return inside
    }
    return null
  }
  const colour = (name) => getComputedStyle(box).getPropertyValue(name).trim()
  const backed = (svg) => svg.replace(/^(<svg[^>]*>)/, `$1<rect width="100%" height="100%" fill="${colour('--panel-surface-color') || '#fff'}"/>`)
  const drawing = (name) => {
    const shown = deep(document, `svg[role=img][aria-label^="${name}"]`)
    if (!shown) return null
    const copy = shown.cloneNode(true), area = shown.viewBox.baseVal
    copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg')
    copy.setAttribute('width', area.width)
    copy.setAttribute('height', area.height)
    copy.setAttribute('style', `color:${colour('--panel-on-background-color')};font-family:sans-serif`)
    return backed(new XMLSerializer().serializeToString(copy))
  }
  const plot = (name) => {
    const index = window.Bokeh?.index
    return index ? [...index.query((view) => view.model.name === name && view.model.type === 'Figure')][0] : null
  }
  // Title and legend of a figure are beside it on the page; in a file they are written above it.
  const head = (name, width) => {
    const shown = deep(document, `[data-legend~="${name}"]`)
    if (!shown) return {height: 0, text: ''}
    const ink = colour('--panel-on-background-color') || '#000', parts = []
    const write = (x, y, size, weight, words) => {
      const line = document.createElementNS('http://www.w3.org/2000/svg', 'text')
      for (const [key, value] of Object.entries({x, y, fill: ink, 'font-family': 'sans-serif', 'font-size': size, 'font-weight': weight})) {
        line.setAttribute(key, value)
      }
      line.textContent = words
      parts.push(new XMLSerializer().serializeToString(line))
    }
    let y = 8
    if (shown.dataset.title) { write(12, y + 15, 15, 700, shown.dataset.title); y += 26 }
    const pen = document.createElement('canvas').getContext('2d')
    pen.font = '13px sans-serif'
    let x = 12
    for (const entry of shown.querySelectorAll('li, button[aria-pressed=true]')) {
      const swatch = entry.querySelector('svg').cloneNode(true), words = entry.textContent.trim()
      const wide = 38 + pen.measureText(words).width + 16
      if (x > 12 && x + wide > width) { x = 12; y += 21 }
      swatch.setAttribute('x', x)
      swatch.setAttribute('y', y + 2)
      swatch.setAttribute('color', ink)
      parts.push(new XMLSerializer().serializeToString(swatch))
      write(x + 33, y + 14, 13, 400, words)
      x += wide
    }
    return {height: y + 26, text: parts.join('')}
  }
  const sheet = (width, height, content) =>
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${content}</svg>`
  const image = async (svg) => {
    const made = new Image()
    made.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(svg)
    await made.decode()
    return made
  }
  const figure = async (name, kind) => {
    const view = plot(name), svg = view ? null : drawing(name), file = name.toLowerCase().replace(/ /g, '_') + '.' + kind
    const width = view?.bbox.width, height = view?.bbox.height
    if (!(view ? width : svg)) return say('This figure is not on the screen yet; try again when it is.', true)
    const above = view ? head(name, width) : null
    if (kind === 'svg') {
      const inside = svg ?? view.export('svg').ctx.get_serialized_svg(true).replace('<svg', `<svg y="${above.height}"`)
      const text = svg ?? backed(sheet(width, height + above.height, above.text + inside))
      return save(new Blob([text], {type: MIME.svg}), file)
    }
    const source = view ? view.export('png').canvas : await image(svg)
    const scale = view ? source.width / width : 2, lead = view ? scale * above.height : 0
    const canvas = document.createElement('canvas')
    canvas.width = view ? source.width : scale * source.width
    canvas.height = lead + (view ? source.height : scale * source.height)
    const pen = canvas.getContext('2d')
    pen.fillStyle = colour('--panel-surface-color') || '#fff'
    pen.fillRect(0, 0, canvas.width, canvas.height)
    if (lead) pen.drawImage(await image(sheet(width, above.height, above.text)), 0, 0, canvas.width, lead)
    pen.drawImage(source, 0, lead, canvas.width, canvas.height - lead)
    canvas.toBlob((blob) => save(blob, file), MIME.png)
  }

  const group = (title, className) => {
    const part = document.createElement('div')
    part.className = className
    part.innerHTML = '<h3></h3>'
    part.firstChild.textContent = title
    menu.appendChild(part)
    return part
  }
  const button = (parent, text, label, act) => {
    const b = document.createElement('button')
    b.type = 'button'
    b.textContent = text
    if (label) b.setAttribute('aria-label', label)
    b.addEventListener('click', act)
    parent.appendChild(b)
  }
  const closing = (act) => () => { toggle(false); open.focus(); act() }
  const copies = group('Copy', 'list')
  button(copies, 'Copy as Python', '', closing(() => copy(model.code, 'Python that runs as pasted')))
  button(copies, 'Copy the configuration', '', closing(() => copy(model.configuration, 'the configuration')))
  const bring = group('Bring back', 'list')
  button(bring, 'Open a configuration file…', '', closing(() => input.click()))
  const files = group('Files', 'list')
  for (const item of model.files) {
    button(files, item.label, '', closing(() => { say('Preparing…'); model.send_msg({want: item.key}) }))
  }
  const figures = group('Figures', 'figures')
  for (const item of model.figures) {
    const row = document.createElement('div')
    row.className = 'row'
    row.appendChild(document.createElement('span')).textContent = item.label
    for (const kind of ['png', 'svg']) {
      button(row, kind.toUpperCase(), `${item.label} as ${kind.toUpperCase()}`, closing(() => figure(item.name, kind)))
    }
    figures.appendChild(row)
  }

  open.addEventListener('click', () => toggle(menu.hidden))
  box.addEventListener('keydown', (event) => { if (event.key === 'Escape' && !menu.hidden) { toggle(false); open.focus() } })
  const outside = (event) => { if (!event.composedPath().includes(box)) toggle(false) }
  document.addEventListener('pointerdown', outside)
  model.on('remove', () => document.removeEventListener('pointerdown', outside))
  input.addEventListener('change', async () => {
    const file = input.files[0]
    if (!file) return
    if (file.size > 400000) say('This file is too large to be a run configuration.', true)
    else model.send_msg({upload: await file.text()})
    input.value = ''
  })
  model.on('msg:custom', (event) => {
    const {name, text, base64} = event.data ?? event
    const bytes = base64 === undefined ? text : Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))
    save(new Blob([bytes], {type: MIME[name.split('.').pop()]}), name)
  })
  model.on('message', () => say(model.message.text ?? '', Boolean(model.message.bad)))
  return box
}
"""

    def __init__(self, **params: Any):
        super().__init__(**params)
        self.on_want: Callable[[str], None] = lambda key: None
        self.on_upload: Callable[[str], None] = lambda text: None

    def say(self, text: str, bad: bool = False) -> None:
        """A sentence beside the button."""
        self.message = {"text": text, "bad": bad}
        self.param.trigger("message")

    def save(self, name: str, content: dict[str, str]) -> None:
        """Let the browser save a file. content: {"text": …} or {"base64": …}."""
        self._send_msg({"name": name, **content})

    def _handle_msg(self, msg: Any) -> None:
        if not isinstance(msg, dict):
            return
        if any(item["key"] == msg.get("want") for item in self.files):
            self.on_want(msg["want"])
        elif isinstance(msg.get("upload"), str):
            self.on_upload(msg["upload"])
