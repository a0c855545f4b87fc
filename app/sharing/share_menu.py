"""The button "Share" in the header: a link to what is on the screen, with what a teacher wants to leave out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import param
from panel.custom import JSComponent

from app.sharing.links import HIDEABLE, PARAMETER


class ShareMenu(JSComponent):
    """Asks for the link when it is opened and whenever something is ticked; copies it, and puts it into the address.

    make: called with the keys of HIDEABLE to leave out; returns the value of `?c=`. ValueError becomes a sentence.
    """

    hideable = param.Dict(HIDEABLE)
    parameter = param.String(PARAMETER)
    link = param.Dict({}, doc='{"text": …} or {"fault": …}')

    _stylesheets = [
        """
:host { font-family: var(--bokeh-base-font); }
.share { position: relative; }
.share > button { font: inherit; font-size: .9375rem; color: #fff; height: 34px; padding: 0 12px; border: 1px solid #ffffff66;
  border-radius: 8px; background: transparent; cursor: pointer; }
.share > button:hover { background: #ffffff22; }
@media (max-width: 599px) { .share > button { height: 40px; } }
.share > button:focus-visible { outline: 2px solid #fff; outline-offset: 1px; }
.sheet { position: fixed; z-index: 1400; right: 12px; top: 60px; width: min(380px, calc(100vw - 24px)); box-sizing: border-box;
  padding: 14px 16px; border-radius: 10px; background: var(--panel-surface-color, #fff); color: var(--panel-on-background-color, #111);
  border: 1px solid #8886; box-shadow: 0 8px 30px #0005; font-size: .875rem; line-height: 1.4; }
.sheet[hidden] { display: none; }
.sheet h2 { margin: 0 0 8px; font-size: 1rem; }
.sheet label { display: flex; gap: 8px; align-items: center; min-height: 30px; }
.sheet input[type=text] { width: 100%; box-sizing: border-box; font: inherit; padding: 7px 8px; margin: 8px 0; border: 1px solid #8888;
  border-radius: 6px; background: transparent; color: inherit; }
.sheet .copy { font: inherit; font-weight: 700; height: 34px; padding: 0 14px; border: 0; border-radius: 6px; cursor: pointer;
  background: var(--panel-primary-color, #0b5a8a); color: #fff; }
.sheet .copy:focus-visible, .sheet input:focus-visible { outline: 2px solid var(--panel-primary-color, #0b5a8a); outline-offset: 1px; }
.sheet p { margin: 8px 0 0; }
"""
    ]

    _esm = """
export function render({model}) {
  const box = document.createElement('div')
  box.className = 'share'
  box.innerHTML = '<button type="button" aria-haspopup="dialog" aria-expanded="false">Share</button>' +
    '<div class="sheet" role="dialog" aria-label="Share this page" hidden><h2>A link to what is set now</h2>' +
    '<fieldset style="border:0;padding:0;margin:0"><legend>For a class, leave out:</legend></fieldset>' +
    '<input type="text" readonly aria-label="Link"><button type="button" class="copy">Copy link</button>' +
    '<p role="status"></p></div>'
  const open = box.querySelector('button'), sheet = box.querySelector('.sheet'), field = box.querySelector('input[type=text]')
  const copy = box.querySelector('.copy'), say = box.querySelector('p'), group = box.querySelector('fieldset')
  for (const [key, label] of Object.entries(model.hideable)) {
    const line = document.createElement('label'), tick = document.createElement('input')
    tick.type = 'checkbox'
    tick.value = key
    tick.addEventListener('change', () => ask())
    line.append(tick, label)
    group.appendChild(line)
  }
  const ask = () => {
    say.textContent = ''
    model.send_msg({hide: [...group.querySelectorAll('input:checked')].map((tick) => tick.value)})
  }
  const toggle = (shown) => {
    sheet.hidden = !shown
    open.setAttribute('aria-expanded', String(shown))
    if (shown) { ask(); copy.focus() }
  }
  model.on('link', () => {
    const {text, fault} = model.link
    say.textContent = fault ?? ''
    const address = new URL(window.location.href)
    if (text) address.searchParams.set(model.parameter, text)
    field.value = text ? address.href : ''
    copy.disabled = !text
  })
  copy.addEventListener('click', async () => {
    let done = false
    try { await navigator.clipboard.writeText(field.value); done = true } catch (error) {
      field.select()
      done = document.execCommand('copy')
    }
    window.history.replaceState(null, '', field.value)
    say.textContent = done ? 'Copied. Who opens it sees these settings, seed included.' : 'Copying was not allowed; take the link from the field.'
  })
  open.addEventListener('click', () => toggle(sheet.hidden))
  box.addEventListener('keydown', (event) => { if (event.key === 'Escape' && !sheet.hidden) { toggle(false); open.focus() } })
  const outside = (event) => { if (!event.composedPath().includes(box)) toggle(false) }
  document.addEventListener('pointerdown', outside)
  model.on('remove', () => document.removeEventListener('pointerdown', outside))
  return box
}
"""

    def __init__(self, **params: Any):
        super().__init__(**params)
        self.make: Callable[[tuple[str, ...]], str] = lambda hide: ""

    def _handle_msg(self, msg: Any) -> None:
        hide = msg.get("hide") if isinstance(msg, dict) else None
        if not isinstance(hide, list):
            return
        try:
            found = {"text": self.make(tuple(name for name in HIDEABLE if name in hide))}
        except ValueError as error:
            found = {"fault": str(error)}
        self.link = found
        self.param.trigger("link")
