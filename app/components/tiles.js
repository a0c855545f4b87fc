export function render({model}) {
  const box = document.createElement('div')
  box.className = 'tiles'
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
      b.addEventListener('click', () => model.send_msg({select: item.name}))
      return b
    }))
    mark()
  }
  const mark = () => box.querySelectorAll('button').forEach(
    (b) => b.setAttribute('aria-pressed', String(b.dataset.name === model.selected)))
  // The address says which preset is shown; back and forward are for pages.
  const address = () => {
    if (!model.page) return
    const url = new URL(window.location)
    url.searchParams.delete('c')
    url.searchParams.delete('preset')
    url.searchParams.set('page', model.page)
    if (model.selected) url.searchParams.set('preset', model.selected)
    window.history.replaceState(null, '', url)
  }
  build()
  model.on('items', build)
  model.on('selected', () => { mark(); address() })
  return box
}
