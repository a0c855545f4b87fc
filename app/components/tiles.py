"""The row of presets as pictures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import param
from panel.custom import JSComponent

from app.components.base import _BASE


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
