"""Buttons that are on or off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import param
from panel.custom import JSComponent

from app.components.base import _BASE


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
