export function render({model}) {
  const bar = document.createElement('nav')
  bar.setAttribute('aria-label', 'Pages')
  const open = document.createElement('button'), list = document.createElement('div')
  open.type = 'button'
  open.className = 'open'
  open.innerHTML = '<span></span><svg viewBox="0 0 12 12" aria-hidden="true"><path d="M2 4l4 4 4-4"/></svg>'
  bar.append(open, list)
  const toggle = (shown) => {
    bar.classList.toggle('opened', shown)
    open.setAttribute('aria-expanded', String(shown))
  }
  const opened = () => bar.classList.contains('opened')
  const buttons = model.titles.map((title) => {
    const b = document.createElement('button')
    b.type = 'button'
    b.textContent = title
    b.addEventListener('click', () => {
      if (opened()) { toggle(false); open.focus() }
      if (title !== model.current) visit(title)
      model.send_msg({open: title})
    })
    list.appendChild(b)
    return b
  })
  // A page is an entry of the browser's history: back and forward turn pages.
  const keyed = model.keys.length > 0
  const visit = (title) => {
    if (!keyed) return
    const url = new URL(window.location), presenting = url.searchParams.get('present')
    url.search = ''
    url.searchParams.set('page', model.keys[model.titles.indexOf(title)])
    if (presenting) url.searchParams.set('present', presenting)
    window.history.pushState(null, '', url)
  }
  const back = () => {
    const search = new URLSearchParams(window.location.search)
    if (search.has('c')) { window.location.reload(); return }
    const title = model.titles[Math.max(0, model.keys.indexOf(search.get('page')))]
    if (title !== model.current) model.send_msg({open: title})
  }
  const mark = () => {
    if (keyed) document.title = `${model.current} · ${model.app}`
    open.firstChild.textContent = model.current
    open.setAttribute('aria-label', `${model.current}: choose a page`)
    buttons.forEach((b) => {
      if (b.textContent === model.current) b.setAttribute('aria-current', 'page')
      else b.removeAttribute('aria-current')
    })
  }
  toggle(false)
  mark()
  model.on('current', mark)
  open.addEventListener('click', () => {
    toggle(!opened())
    if (opened()) (buttons.find((b) => b.hasAttribute('aria-current')) ?? buttons[0]).focus()
  })
  bar.addEventListener('keydown', (event) => {
    if (!opened()) return
    const at = buttons.indexOf(bar.getRootNode().activeElement), step = {ArrowDown: 1, ArrowUp: -1}[event.key]
    if (event.key === 'Escape') { toggle(false); open.focus() }
    else if (step && at >= 0) { event.preventDefault(); buttons[(at + step + buttons.length) % buttons.length].focus() }
  })
  const outside = (event) => { if (!event.composedPath().includes(bar)) toggle(false) }
  document.addEventListener('pointerdown', outside)
  if (keyed) window.addEventListener('popstate', back)
  model.on('remove', () => {
    document.removeEventListener('pointerdown', outside)
    window.removeEventListener('popstate', back)
  })
  return bar
}
