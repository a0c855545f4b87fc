// `cardsOf` and `figuresIn` of cards.js stand before this in the same script.

const SCALE = 1.5
const BELOW = 110 // px of a card below its figure
const EDGE = 16, LEAST = 200, STEADY = 24 // px below the cards, of a figure at least, and that it is left as it is for
const LOOKS = 500 // ms between looks for figures that have come later
const SIZES = ['major_label_text_font_size', 'axis_label_text_font_size', 'text_font_size']
const KEYS = [
  ['Space', 'play, pause, or run more'], ['S', 'one step'], ['R', 'start again'],
  ['A', 'reveal the answer, where a class guesses'],
  ['T', 'guided tour of the page, and the way out of it'],
  ['P', 'for the projector: large, one figure at a time'], ['← →', 'the figure before, the next one (for the projector)'],
  ['F', 'the figure below the pointer on the whole screen, and back'],
  ['?', 'these keys'],
]
const TYPING = 'input, textarea, select, [contenteditable], [role=slider], [role=combobox], [role=option], [role=listbox], [role=radio]'

// What is changed in figures is put back as it was.
const heights = new Map() // figure → [height, classes] as they were
const sizes = new Map() // model → name → [size as it was, larger size]
let filled = null
const putBack = () => {
  filled?.style.removeProperty('--whole')
  filled = null
  for (const [figure, [height, css_classes]] of heights) figure.setv({height, css_classes})
  heights.clear()
  for (const [model, names] of sizes) for (const [name, [was, now]] of names) if (model[name] === now) model[name] = was
  sizes.clear()
}
// The theme sets sizes too, and may come after this: what is not as large as it was made is made so again.
const larger = (view) => {
  const models = [...view.model.above, ...view.model.below, ...view.model.left, ...view.model.right, ...view.model.center]
  for (const model of models) for (const name of SIZES) {
    const names = sizes.get(model) ?? new Map(), is = model[name]
    const size = typeof is === 'string' && is !== names.get(name)?.[1] && /^([0-9.]+)(px|em|pt|rem)$/.exec(is)
    if (!size) continue
    sizes.set(model, names.set(name, [is, `${SCALE * size[1]}${size[2]}`]))
    model[name] = names.get(name)[1]
  }
}

export function render({model}) {
  let at = 0, away = [], shown = [], count = 0, looking
  const show = (element) => element.style.removeProperty('display')
  const screens = () => {
    away.forEach(show)
    const [first, second, ...others] = cardsOf(document).filter((card) => card.offsetParent !== null)
    return [[first, second], ...others.map((card) => [card])]
  }
  const enlarge = () => cardsOf(document).forEach((card) => figuresIn(card).forEach(larger))
  const turn = (by) => {
    const all = screens()
    at = Math.max(0, Math.min(all.length - 1, at + by))
    shown = all[at].filter(Boolean)
    count = cardsOf(document).length
    away = all.flat().filter((card) => card && !shown.some((each) => each === card || lies(each, card)))
    away.forEach((card) => card.style.setProperty('display', 'none', 'important'))
    putBack()
    enlarge()
    requestAnimationFrame(fill)
  }
  // A figure that is alone takes the height that is left. On the first screen those of one row share what is left below its cards.
  const fill = () => {
    const card = shown.findLast((each) => figuresIn(each).length)
    if (!card) return
    const figures = figuresIn(card), {top, bottom} = figures[0].el.getBoundingClientRect(), now = bottom - top
    if (figures.some(({el}) => Math.abs(el.getBoundingClientRect().top - top) > 2)) return
    const end = Math.max(...shown.map((each) => each.getBoundingClientRect().bottom))
    const over = end > window.innerHeight && card.getBoundingClientRect().bottom < end - 2 // what is beside it is too long
    const height = at > 0 ? window.innerHeight - top - BELOW : Math.max(LEAST, now + window.innerHeight - end - EDGE)
    if (over || Math.abs(height - now) < STEADY || (at > 0 && (figures.length > 1 || height < now))) return
    filled = card
    card.style.setProperty('--whole', `${Math.round(height)}px`)
    for (const {model: figure} of figures) {
      if (!heights.has(figure)) {
        heights.set(figure, [figure.height, figure.css_classes])
        figure.css_classes = [...figure.css_classes, 'lab-full']
      }
      if (figure.aspect_ratio === null) figure.height = Math.round(height)
    }
  }
  const address = (on) => {
    const url = new URL(window.location)
    if (on) url.searchParams.set('present', '1')
    else url.searchParams.delete('present')
    window.history.replaceState(window.history.state, '', url)
  }
  const follow = () => {
    document.documentElement.style.fontSize = model.on_screen ? `${100 * SCALE}%` : ''
    at = 0
    clearInterval(looking)
    if (model.on_screen) {
      turn(0)
      looking = setInterval(look, LOOKS)
    } else { putBack(); away.forEach(show); away = [] }
    address(model.on_screen)
  }
  // Another page has been opened: it begins with its first figures.
  const look = () => {
    if (away.some((card) => !card.isConnected)) { away = []; at = 0 }
    if (count !== cardsOf(document).length) turn(0)
    enlarge()
    fill()
  }

  const sheet = document.createElement('dialog')
  sheet.setAttribute('aria-label', 'Keys')
  const table = document.createElement('table')
  for (const [key, what] of KEYS) {
    const row = table.insertRow()
    const name = document.createElement('th')
    name.scope = 'row'
    name.textContent = key
    row.append(name)
    row.insertCell().textContent = what
  }
  const close = document.createElement('button')
  close.type = 'button'
  close.textContent = 'Close'
  close.addEventListener('click', () => sheet.close())
  sheet.append(table, close)

  const keys = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const target = event.composedPath()[0]
    if (target.closest?.(TYPING) || target.closest?.('dialog')) return
    const key = event.key.toLowerCase()
    if (key === 'p') model.send_msg({present: !model.on_screen})
    else if (key === '?') sheet.showModal()
    else if (model.on_screen && ['arrowleft', 'arrowright'].includes(key)) turn(key === 'arrowright' ? 1 : -1)
    else return
    event.preventDefault()
  }
  document.addEventListener('keydown', keys)
  model.on('on_screen', follow)
  if (model.on_screen) follow()
  model.on('remove', () => {
    document.removeEventListener('keydown', keys)
    clearInterval(looking)
    document.documentElement.style.fontSize = ''
  })
  return sheet
}
