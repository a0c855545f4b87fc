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

const ROOM = 1400 // px from which the first names stand in the header, at letters of usual size: below it a menu leaves room for the choices
const remember = (key) => { try { document.cookie = `llc-lab-page=${key}; max-age=31536000; samesite=lax` } catch { /* then Start opens */ } }

export function render({model, view}) {
  const bar = document.createElement('nav')
  bar.setAttribute('aria-label', 'Pages')
  const open = document.createElement('button'), list = document.createElement('div')
  open.type = 'button'
  open.className = 'open'
  open.innerHTML = '<span></span><svg viewBox="0 0 12 12" aria-hidden="true"><path d="M2 4l4 4 4-4"/></svg>'
  bar.append(open, list)
  // In the header the pages after the first few lie under one button, in the menu of a narrow header below a line.
  const more = document.createElement('button'), rest = document.createElement('div')
  more.type = 'button'
  more.className = 'more'
  more.innerHTML = '<span></span><svg viewBox="0 0 12 12" aria-hidden="true"><path d="M2 4l4 4 4-4"/></svg>'
  rest.className = 'rest'
  const unfold = (shown) => {
    bar.classList.toggle('unfolded', shown)
    more.setAttribute('aria-expanded', String(shown))
  }
  const toggle = (shown) => {
    bar.classList.toggle('opened', shown)
    open.setAttribute('aria-expanded', String(shown))
  }
  const opened = () => bar.classList.contains('opened')
  const buttons = model.titles.map((title, i) => {
    const b = document.createElement('button')
    b.type = 'button'
    b.dataset.key = model.keys[i] ?? ''
    b.textContent = title
    b.addEventListener('click', () => {
      if (opened()) { toggle(false); open.focus() }
      else if (bar.classList.contains('unfolded')) { unfold(false); more.focus() }
      if (title !== wanted) { visit(title); ask(title) }
    })
    const parent = model.main && i >= model.main ? rest : list
    parent.append(b)
    return b
  })
  if (rest.children.length) list.append(more, rest)
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
    if (keyed) remember(model.keys[model.titles.indexOf(model.current)])
    const among = model.main > 0 && model.titles.indexOf(model.current) >= model.main
    more.firstChild.textContent = among ? model.current : 'More pages'
    more.setAttribute('aria-label', among ? `${model.current}: more pages` : 'More pages')
    more.classList.toggle('current', among)
    open.firstChild.textContent = model.current
    open.setAttribute('aria-label', `${model.current}: choose a page`)
    if (model.turned >= sent) wanted = model.current
    light(wanted)
  }
  // The projector's letters are larger, so the room is counted in letters.
  const fit = () => {
    const letters = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16
    bar.classList.toggle('compact', window.innerWidth < ROOM * letters)
    toggle(false)
    unfold(false)
  }
  const larger = new MutationObserver(fit)
  larger.observe(document.documentElement, {attributeFilter: ['style']})
  window.addEventListener('resize', fit)
  fit()
  mark()
  model.on('current', mark)
  model.on('turned', settle)
  open.addEventListener('click', () => {
    toggle(!opened())
    if (opened()) (buttons.find((b) => b.hasAttribute('aria-current')) ?? buttons[0]).focus()
  })
  more.addEventListener('click', () => {
    unfold(!bar.classList.contains('unfolded'))
    if (bar.classList.contains('unfolded')) rest.firstChild.focus()
  })
  bar.addEventListener('keydown', (event) => {
    const unfolded = bar.classList.contains('unfolded')
    if (!opened() && !unfolded) return
    const all = unfolded ? [...rest.children] : buttons
    const at = all.indexOf(bar.getRootNode().activeElement), step = {ArrowDown: 1, ArrowUp: -1}[event.key]
    if (event.key === 'Escape') { toggle(false); unfold(false); (unfolded ? more : open).focus() }
    else if (step && at >= 0) { event.preventDefault(); all[(at + step + all.length) % all.length].focus() }
  })
  const outside = (event) => { if (!event.composedPath().includes(bar)) { toggle(false); unfold(false) } }
  document.addEventListener('pointerdown', outside)
  if (keyed) window.addEventListener('popstate', back)
  model.on('remove', () => {
    clearTimeout(forgetting)
    larger.disconnect()
    window.removeEventListener('resize', fit)
    document.removeEventListener('pointerdown', outside)
    window.removeEventListener('popstate', back)
  })
  return bar
}
