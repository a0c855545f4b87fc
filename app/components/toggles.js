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
