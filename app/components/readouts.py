"""Numbers with a label under each."""

from __future__ import annotations

import param
from panel.custom import JSComponent

from app.components.base import _BASE


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
