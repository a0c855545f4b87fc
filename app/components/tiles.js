export function render({model}) {
  const whole = document.createElement('div'), fold = document.createElement('button'), box = document.createElement('div')
  whole.className = 'whole'
  fold.type = 'button'
  fold.className = 'fold'
  whole.append(fold, box)
  // In a low window the pictures below need their room: they lie behind one button.
  const open = (wanted) => {
    whole.classList.toggle('opened', wanted)
    fold.setAttribute('aria-expanded', String(wanted))
  }
  fold.addEventListener('click', () => open(!whole.classList.contains('opened')))
  whole.addEventListener('focusout', (event) => { if (event.relatedTarget && !whole.contains(event.relatedTarget)) open(false) })
  whole.addEventListener('keydown', (event) => { if (event.key === 'Escape' && whole.matches('.opened')) { open(false); fold.focus() } })
  const outside = (event) => { if (!event.composedPath().includes(whole)) open(false) }
  document.addEventListener('pointerdown', outside)
  model.on('remove', () => document.removeEventListener('pointerdown', outside))
  open(false)
  box.className = 'strip' // the library calls what it stands in “tiles”
  box.setAttribute('role', 'group')
  box.setAttribute('aria-label', 'Presets')
  const build = () => {
    box.replaceChildren(...model.items.map((item) => {
      const b = document.createElement('button')
      b.type = 'button'
      b.dataset.name = item.name
      b.title = item.tip
      b.innerHTML = `<span class="picture" aria-hidden="true">${item.picture}</span>`
      const title = document.createElement('span')
      title.className = 'title'
      title.textContent = item.title
      b.appendChild(title)
      b.addEventListener('click', () => { open(false); model.send_msg({select: item.name}) })
      return b
    }))
    mark()
  }
  const mark = () => {
    box.querySelectorAll('button').forEach((b) => b.setAttribute('aria-pressed', String(b.dataset.name === model.selected)))
    fold.textContent = 'Examples: ' + (model.items.find((item) => item.name === model.selected)?.title ?? 'your own') + ' ▾'
  }
  // The address says which preset is shown, or all of the visitor's own settings: a reload brings them back. Back and forward
  // are for pages.
  const address = () => {
    if (!model.page) return
    const url = new URL(window.location)
    url.searchParams.delete('c')
    url.searchParams.delete('preset')
    url.searchParams.delete('page')
    if (!model.selected && model.link) url.searchParams.set('c', model.link)
    else url.searchParams.set('page', model.page)
    if (model.selected) url.searchParams.set('preset', model.selected)
    window.history.replaceState(null, '', url)
  }
  build()
  model.on('items', build)
  model.on('selected', () => { mark(); address() })
  model.on('link', address)
  return whole
}
