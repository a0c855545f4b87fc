// `findDeep` of find_deep.js stands before this in the same script.
const TYPING = 'input, textarea, select, [contenteditable], [role=slider], [role=combobox], [role=option], [role=listbox], [role=radio]'

const element = (name, text, cls) => {
  const made = document.createElement(name)
  if (name === 'button') made.type = 'button'
  if (text) made.textContent = text
  if (cls) made.className = cls
  return made
}

export function render({model}) {
  const box = element('div', '', 'tour'), open = element('button', 'Tour')
  open.setAttribute('aria-keyshortcuts', 'T')
  open.title = 'A guided tour of this page (T)'
  box.append(open)
  let guide = null, shown = ''
  const send = (tour, option = 0) => model.send_msg({tour, option})
  const on = () => Object.keys(model.step).length > 0
  const toggle = () => send(on() ? 'leave' : 'start')
  // What lies behind the guide can be scrolled above it.
  const room = () => {
    const main = findDeep(document, '.main-content')
    if (main) main.style.paddingBottom = guide ? `${guide.offsetHeight + 16}px` : ''
  }
  const close = () => {
    if (!guide) return
    const inside = guide.contains(guide.getRootNode().activeElement)
    guide.remove()
    guide = null
    shown = ''
    room()
    if (inside) open.focus()
  }
  const build = () => {
    guide = element('section', '', 'guide')
    guide.setAttribute('aria-label', 'Tour')
    guide.tabIndex = -1
    guide.addEventListener('keydown', (event) => { if (event.key === 'Escape') { event.stopPropagation(); send('leave') } })
    box.append(guide)
  }
  const show = () => {
    open.hidden = !model.offered
    open.setAttribute('aria-expanded', String(on()))
    if (!on()) { close(); return }
    if (!guide) build()
    const {place, words, question, options, chosen, said, state, last} = model.step
    const head = element('div', '', 'head'), leave = element('button', 'Leave the tour')
    head.append(element('span', `Tour, step ${place}`), leave)
    leave.addEventListener('click', () => send('leave'))
    const buttons = element('div', '', 'options')
    buttons.setAttribute('role', 'group')
    buttons.setAttribute('aria-label', 'Your prediction')
    options.forEach((option, at) => {
      const button = element('button', option)
      button.disabled = state !== 'ask'
      button.setAttribute('aria-pressed', String(at === chosen))
      button.addEventListener('click', () => send('answer', at))
      buttons.append(button)
    })
    const reply = element('p', said, 'said'), further = element('div', '', 'further')
    reply.setAttribute('role', 'status')
    reply.hidden = !said
    const next = element('button', last ? 'End of the tour' : 'Next', 'main')
    next.addEventListener('click', () => send(last ? 'leave' : 'next'))
    if (state === 'answered') further.append(next)
    // Words that have been read make room on a small window.
    const asked = element('p'), ask = element('b', question)
    if (state !== 'answered') asked.append(words + ' ')
    asked.append(ask)
    guide.replaceChildren(head, asked, buttons, reply, further)
    room()
    // The keyboard goes on where it is needed: at a new step to its words, at its end to Next.
    const now = `${place} ${state === 'answered'}`
    if (now !== shown) (state === 'answered' ? next : guide).focus({preventScroll: true})
    shown = now
  }
  show()
  model.on(['offered', 'step'], show)
  open.addEventListener('click', toggle)
  const keys = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.key.toLowerCase() !== 't' || !model.offered) return
    const target = event.composedPath()[0]
    if (target.closest?.(TYPING) || target.closest?.('dialog')) return
    event.preventDefault()
    toggle()
  }
  document.addEventListener('keydown', keys)
  model.on('remove', () => { document.removeEventListener('keydown', keys); close() })
  return box
}
