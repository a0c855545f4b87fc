// `findDeep` of find_deep.js stands before this in the same script.

// Grey boxes in place of the page that is left, until the other one is there.
const SHEET = '.lab-turning > :not(.lab-skeleton) { opacity: 0 !important } .lab-skeleton { position: absolute; inset: 72px 18px auto; display: grid;' +
  ' gap: 12px; grid-template-columns: 1fr 1fr } .lab-skeleton i { height: 84px; border-radius: 10px; background: #8a8f9833 }' +
  ' .lab-skeleton i:first-child { grid-column: 1 / -1 } .lab-skeleton i:not(:first-child) { height: 55vh }'
const placeholder = () => {
  const main = findDeep(document, '.main-content')
  if (!main || main.classList.contains('lab-turning')) return
  const boxes = document.createElement('div'), sheet = document.createElement('style')
  boxes.className = 'lab-skeleton'
  boxes.innerHTML = '<i></i><i></i><i></i>'
  sheet.textContent = SHEET
  boxes.append(sheet)
  main.append(boxes)
  main.classList.add('lab-turning')
  main.setAttribute('aria-busy', 'true')
}
const uncover = () => {
  const main = findDeep(document, '.lab-turning')
  if (!main) return
  main.querySelector(':scope > .lab-skeleton')?.remove()
  main.classList.remove('lab-turning')
  main.removeAttribute('aria-busy')
}

// The library forgets the models of a page that was left after half a minute without a change, which never comes while runs
// move: this asks for it when the new page is there.
const SETTLED = 2000 // ms
const forget = (view) => view.model.document?.freeze_all_models?.(() => {}) // looks for them when it is over

export function render({model, view}) {
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
      if (title !== wanted) { visit(title); ask(title) }
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
    if (title !== wanted) ask(title)
  }
  // Whoever goes back and at once forward asks before the server has turned the first page: what was asked for last counts.
  let wanted = model.current, sent = model.turned, forgetting = 0
  const ask = (title) => {
    wanted = title
    sent += 1
    light(title)
    placeholder()
    model.send_msg({open: title})
  }
  const settle = () => {
    if (model.turned < sent) return
    wanted = model.current
    light(wanted)
    uncover()
    clearTimeout(forgetting)
    forgetting = setTimeout(() => forget(view), SETTLED)
  }
  // At once: the server's answer takes a second.
  const light = (title) => buttons.forEach((b) => {
    if (b.textContent === title) b.setAttribute('aria-current', 'page')
    else b.removeAttribute('aria-current')
  })
  const mark = () => {
    if (keyed) document.title = `${model.current} · ${model.app}`
    open.firstChild.textContent = model.current
    open.setAttribute('aria-label', `${model.current}: choose a page`)
    if (model.turned >= sent) wanted = model.current
    light(wanted)
  }
  toggle(false)
  mark()
  model.on('current', mark)
  model.on('turned', settle)
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
    clearTimeout(forgetting)
    document.removeEventListener('pointerdown', outside)
    window.removeEventListener('popstate', back)
  })
  return bar
}
