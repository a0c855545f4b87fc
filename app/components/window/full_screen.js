// `cardOf` and `figuresIn` of cards.js stand before this in the same script.

const ROUND = 64 // px of a card above and below its figure
const TYPING = 'input, textarea, select, [contenteditable], [role=slider], [role=combobox], [role=option], [role=listbox]'

// One button for all cards with a figure: it goes to the one below the pointer, or that the keyboard has reached.
export function render({model}) {
  const button = document.createElement('button')
  button.type = 'button'
  button.hidden = true
  button.innerHTML = '<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4"/></svg>'
  button.title = 'Full screen (F)'
  button.setAttribute('aria-label', 'Full screen')
  let card = null, changed = []
  // Not pointerover: between two elements of one component it does not reach the page.
  const follow = (event) => {
    if (event.composedPath().includes(button)) return
    const found = cardOf(event.composedPath()[0])
    if (found === card) return
    card = found && found.requestFullscreen && figuresIn(found).length ? found : null
    button.hidden = !card
    if (card) settle()
  }
  const settle = () => {
    if (!card?.isConnected) { card = null; button.hidden = true; return }
    const box = card.getBoundingClientRect()
    button.style.left = `${box.right - 40}px`
    button.style.top = `${Math.min(box.bottom, window.innerHeight) - 36}px`
  }
  const turn = () => {
    if (document.fullscreenElement) { document.exitFullscreen(); return }
    card?.requestFullscreen().then(() => {
      card.style.setProperty('--whole', `calc(100vh - ${ROUND}px)`)
      const figures = figuresIn(card).map((view) => view.model), height = (window.innerHeight - ROUND) / figures.length
      changed = figures.map((figure) => [figure, figure.height, figure.css_classes])
      for (const figure of figures) {
        if (figure.aspect_ratio === null) figure.height = Math.round(height)
        figure.css_classes = [...figure.css_classes, 'lab-full']
      }
    }).catch(() => {}) // a frame that forbids it shows the page as it was
  }
  const over = () => {
    if (document.fullscreenElement) return
    card?.style.removeProperty('--whole')
    for (const [figure, height, classes] of changed) { figure.height = height; figure.css_classes = classes }
    changed = []
  }
  const keys = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.key.toLowerCase() !== 'f') return
    if (event.composedPath()[0].closest?.(TYPING) || !(card || document.fullscreenElement)) return
    event.preventDefault()
    turn()
  }
  const events = [['pointermove', follow], ['focusin', follow], ['scroll', settle], ['keydown', keys], ['fullscreenchange', over]]
  for (const [name, heard] of events) document.addEventListener(name, heard, {passive: name !== 'keydown', capture: name === 'scroll'})
  button.addEventListener('click', turn)
  model.on('remove', () => { for (const [name, heard] of events) document.removeEventListener(name, heard, {capture: name === 'scroll'}) })
  return button
}
