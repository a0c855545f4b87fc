"""Play, pause, step, reset, and how far the run is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import param
from panel.custom import JSComponent

from app.components.base import _BASE


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
