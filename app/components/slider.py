"""One number in the browser: a slider, a typed entry, and where wanted a switch "automatic".

One component per number instead of four keeps the page quick to load.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import param
from panel.custom import JSComponent


class SliderEntry(JSComponent):
    """Shows what Python sets; reports {"position"} on release, {"text"} on entry, {"automatic"} on the switch."""

    label = param.String("")
    help = param.String("")
    start = param.Number(0.0)
    end = param.Number(1.0)
    grain = param.Number(0.01, doc="Step of the slider.")
    position = param.Number(0.0, doc="Of the slider; a decimal logarithm where `logarithmic`.")
    logarithmic = param.Boolean(False)
    integer = param.Boolean(False)
    text = param.String("")
    switchable = param.Boolean(False, doc="Whether there is a switch for automatic.")
    automatic = param.Boolean(False)
    message = param.String("")
    compact = param.Boolean(False, doc="The label above both, for narrow places.")

    _stylesheets = [
        """
:host { color: var(--panel-on-background-color); font-family: var(--bokeh-base-font);
  --edge: color-mix(in srgb, var(--panel-on-background-color) 28%, transparent); }
.field { display: grid; grid-template-columns: minmax(0, 1fr) 96px; gap: 1px 10px; align-items: center; }
.top { display: flex; align-items: center; gap: 6px; font-size: .8125rem; min-width: 0; min-height: 20px; }
.top .name { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.help { position: relative; flex: none; width: 15px; height: 15px; border-radius: 50%; border: 1px solid currentColor; opacity: .6;
  font-size: 10px; line-height: 14px; text-align: center; cursor: help; }
.help span { position: absolute; z-index: 30; left: -60px; top: 20px; width: 230px; padding: 8px 10px; border-radius: 6px; background: #20262d;
  color: #fff; font-size: .8125rem; line-height: 1.4; text-align: left; visibility: hidden; pointer-events: none; box-shadow: 0 4px 16px #0006; }
.help:hover, .help:focus-visible { opacity: 1; }
.help:hover span, .help:focus-visible span { visibility: visible; }
input[type=range] { grid-column: 1; width: 100%; margin: 0; height: 24px; accent-color: var(--panel-primary-color); cursor: pointer; }
input[type=range]:disabled { cursor: default; opacity: .45; }
input[type=text] { grid-column: 2; grid-row: 1 / span 2; width: 100%; box-sizing: border-box; height: 36px; padding: 0 9px; font: inherit;
  font-size: .9375rem; font-variant-numeric: tabular-nums; color: inherit; background: transparent; border: 1px solid var(--edge);
  border-radius: 6px; }
input[type=text]:hover:not(:disabled) { border-color: currentColor; }
input[type=text]:disabled { opacity: .7; border-style: dashed; }
input[type=text][aria-invalid=true] { border-color: var(--danger-bg-color); }
input:focus-visible, .help:focus-visible { outline: 2px solid var(--panel-primary-color); outline-offset: 1px; }
.auto { display: inline-flex; align-items: center; gap: 4px; margin-left: auto; cursor: pointer; }
.auto input { accent-color: var(--panel-primary-color); margin: 0; width: 15px; height: 15px; }
.compact.field { grid-template-columns: minmax(0, 1fr) 82px; }
.compact .top { grid-column: 1 / -1; }
.compact input[type=text] { grid-row: 2; height: 32px; }
.message { grid-column: 1 / -1; color: var(--danger-bg-color); font-size: .8125rem; line-height: 1.35; }
.message:empty { display: none; }
"""
    ]

    _esm = """
let serial = 0
export function render({model}) {
  const id = 'number-' + (serial++)
  const box = document.createElement('div')
  box.className = model.compact ? 'field compact' : 'field'
  box.innerHTML = `<div class="top"><label class="name" for="${id}"></label>` +
    `<span class="help" tabindex="0" role="note">?<span role="tooltip"></span></span>` +
    `<label class="auto"><input type="checkbox">automatic</label></div>` +
    `<input type="text" id="${id}" autocomplete="off" spellcheck="false" inputmode="text">` +
    `<input type="range"><div class="message" role="alert"></div>`
  const find = (selector) => box.querySelector(selector)
  const name = find('.name'), help = find('.help'), auto = find('.auto'), check = find('.auto input')
  const text = find('input[type=text]'), slider = find('input[type=range]'), message = find('.message')

  const written = (position) => {
    const value = model.logarithmic ? 10 ** position : position
    if (model.integer) return Math.round(model.logarithmic ? Number(value.toPrecision(2)) : value).toLocaleString('en')
    return Number(value.toPrecision(3)) >= 1e6 || Number(value.toPrecision(3)) < 1e-3 && value > 0
      ? value.toExponential(2).replace(/\\.?0+e/, 'e').replace('e+', 'e') : String(Number(value.toPrecision(3)))
  }
  const words = () => {
    name.textContent = model.label
    name.title = model.label
    slider.setAttribute('aria-label', model.label + ' slider')
    help.style.display = model.help ? '' : 'none'
    help.setAttribute('aria-label', model.help)
    help.lastChild.textContent = model.help
    auto.style.display = model.switchable ? '' : 'none'
    check.setAttribute('aria-label', model.label + ' automatic')
  }
  const values = () => {
    slider.min = model.start
    slider.max = model.end
    slider.step = model.grain
    // An answer to what was set before must not take away what is being dragged, stepped or typed now.
    if (!moving) slider.value = model.position
    if (!typing && !moving) text.value = model.text
    check.checked = model.automatic
    slider.disabled = text.disabled = model.automatic
    slider.setAttribute('aria-valuetext', model.text)
  }
  const complain = () => {
    message.textContent = model.message
    text.setAttribute('aria-invalid', String(Boolean(model.message)))
  }
  let typing = false, moving = 0
  const hold = (milliseconds) => {
    clearTimeout(moving)
    moving = setTimeout(() => { moving = 0; values() }, milliseconds)
  }
  words(); values(); complain()
  model.on(['label', 'help', 'switchable'], words)
  model.on(['start', 'end', 'grain', 'position', 'text', 'automatic'], values)
  model.on('message', complain)
  slider.addEventListener('input', () => { text.value = written(Number(slider.value)) })
  slider.addEventListener('pointerdown', () => hold(60000))
  for (const end of ['pointerup', 'pointercancel', 'change']) slider.addEventListener(end, () => hold(400))
  model.on('remove', () => clearTimeout(moving))
  slider.addEventListener('change', () => model.send_msg({position: Number(slider.value)}))
  text.addEventListener('input', () => { typing = true })
  text.addEventListener('change', () => { typing = false; model.send_msg({text: text.value}) })
  text.addEventListener('keydown', (event) => { if (event.key === 'Escape') { typing = false; text.value = model.text } })
  check.addEventListener('change', () => model.send_msg({automatic: check.checked}))
  return box
}
"""

    def __init__(self, **params: Any):
        super().__init__(**params)
        self.listener: Callable[[str, Any], None] = lambda kind, value: None

    def _handle_msg(self, msg: Any) -> None:
        kinds = {"position": (int, float), "text": str, "automatic": bool}
        for kind, expected in kinds.items():
            if isinstance(msg, dict) and isinstance(msg.get(kind), expected):
                self.listener(kind, msg[kind])
