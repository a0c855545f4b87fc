"""Scripts that read a page in the browser."""

from __future__ import annotations

# What the page shows is read from the data sources and the accessible elements, never from pixels.
SOURCE = """(name) => {
  const models = window.Bokeh?.documents?.[0]?._all_models
  // The last: models of a page that was left may still be there, and come before.
  const source = models && [...models.values()].filter((m) => m.name === name && m.data && m.type === 'ColumnDataSource').at(-1)
  if (!source) return null
  const columns = source.data instanceof Map ? Object.fromEntries(source.data) : source.data
  return Object.fromEntries(Object.entries(columns).map(([key, value]) => [key, Array.from(value)]))
}"""

# The colours of the page's cards and of a figure's axis.
SCHEME = """() => [
  getComputedStyle(document.documentElement).getPropertyValue('--panel-surface-color').trim().toLowerCase(),
  JSON.stringify([...Bokeh.documents[0]._all_models.values()].find((m) => m.type === 'LinearAxis')?.major_label_text_color),
]"""

# Presses Pause, where it is there: on many cores the run may be over.
PAUSE = """() => {
  const all = (root) => [...root.querySelectorAll('*')].flatMap((e) => [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])])
  all(document).find((e) => e.localName === 'button' && e.getAttribute('aria-label') === 'Pause')?.click()
}"""

# A button's label changes again while the first change is being drawn; self.told has what its model then held, one after the other.
CHANGED_TWICE = """() => {
  const all = (root) => [...root.querySelectorAll('*')].flatMap((e) => [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])])
  const buttons = all(document).filter((e) => e.localName === 'button')
  const drawing = (m) => m.class_name === 'Button' && buttons.find((e) => e.textContent && e.textContent === m.data.label)
  const model = [...Bokeh.documents[0]._all_models.values()].find(drawing), button = drawing(model), data = model.data
  const walk = document.createTreeWalker(button, NodeFilter.SHOW_TEXT), text = walk.nextNode()
  self.drawn = []
  Object.defineProperty(text, 'nodeValue', {set(value) {
    text.data = value
    self.drawn.push(value)
    if (value === 'once') data.setv({label: 'twice'})
  }})
  self.told = []
  data.properties.label.change.connect(() => self.told.push(data.label))
  data.setv({label: 'once'})
}"""
SETTLED = "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"
