"""A side bar that is closed on phones until it is asked for."""

from __future__ import annotations

from panel.custom import JSComponent


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
