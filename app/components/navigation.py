"""The list of pages in the header."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import param
from panel.custom import JSComponent


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
