export function render({model}) {
  const box = document.createElement('div')
  box.className = 'toggles'
  box.innerHTML = '<ul></ul><div class="switches"><button type="button" class="open"></button><div class="menu" role="group"></div></div>'
  const find = (selector) => box.querySelector(selector)
  const list = find('ul'), open = find('.open'), menu = find('.menu')
  list.dataset.legend = model.figures
  open.textContent = model.label + ' ▾'
  menu.setAttribute('aria-label', model.label)
  const toggle = (wanted) => {
    menu.hidden = !wanted
    open.setAttribute('aria-expanded', String(wanted))
    menu.style.left = '0'
    const over = menu.getBoundingClientRect().right - (document.documentElement.clientWidth - 12)
    if (wanted && over > 0) menu.style.left = -over + 'px'
    if (wanted) menu.scrollIntoView({block: 'nearest'})
  }
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
    menu.replaceChildren(...buttons)
    mark()
  }
  const mark = () => {
    buttons.forEach((b) => b.setAttribute('aria-pressed', String(model.shown.includes(b.dataset.name))))
    list.replaceChildren(...model.items.filter((item) => item.swatch && model.shown.includes(item.key)).map((item) => {
      const entry = document.createElement('li')
      if (item.tip) entry.title = item.tip
      entry.innerHTML = item.swatch
      entry.appendChild(document.createTextNode(item.label))
      return entry
    }))
  }
  open.addEventListener('click', () => toggle(menu.hidden))
  box.addEventListener('keydown', (event) => { if (event.key === 'Escape' && !menu.hidden) { toggle(false); open.focus() } })
  const outside = (event) => { if (!event.composedPath().includes(find('.switches'))) toggle(false) }
  document.addEventListener('pointerdown', outside)
  box.addEventListener('focusout', (event) => { if (event.relatedTarget && !box.contains(event.relatedTarget)) toggle(false) })
  model.on('remove', () => document.removeEventListener('pointerdown', outside))
  toggle(false)
  build()
  model.on('items', build)
  model.on('shown', mark)
  return box
}
