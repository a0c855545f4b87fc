"""A message at the foot of the window. Panel's own notification area keeps every closed page in memory (see app/main.py)."""

from __future__ import annotations

import param
from panel.custom import JSComponent


class Notice(JSComponent):
    """Shows `text` until it is dismissed or has been there for a while."""

    text = param.String("")

    _stylesheets = [
        """
:host { font-family: var(--bokeh-base-font); }
.message { position: fixed; z-index: 2000; left: 50%; bottom: 20px; transform: translateX(-50%); display: flex; align-items: center;
  gap: 14px; width: max-content; max-width: min(640px, 92vw); box-sizing: border-box; padding: 12px 12px 12px 18px; border-radius: 8px;
  background: #20262d; color: #fff; border-left: 5px solid #D55E00; box-shadow: 0 6px 24px #0007; font-size: .9375rem; line-height: 1.4; }
.message[hidden] { display: none; }
.message button { flex: none; border: 0; background: none; padding: 6px 8px; border-radius: 6px; font: inherit; font-weight: 700;
  color: inherit; cursor: pointer; }
.message button:hover { background: #fff2; }
.message button:focus-visible { outline: 2px solid #fff; outline-offset: 1px; }
""",
    ]

    _esm = """
export function render({model}) {
  const box = document.createElement('div')
  box.className = "message"
  box.setAttribute('role', 'alert')
  const words = document.createElement('span')
  const close = document.createElement('button')
  close.type = 'button'
  close.textContent = 'Dismiss'
  box.append(words, close)
  let timer
  const hide = () => { model.text = '' }
  const show = () => {
    words.textContent = model.text
    box.hidden = !model.text
    clearTimeout(timer)
    if (model.text) timer = setTimeout(hide, 15000)
  }
  close.addEventListener('click', hide)
  model.on('text', show)
  model.on('remove', () => clearTimeout(timer))
  show()
  return box
}
"""
