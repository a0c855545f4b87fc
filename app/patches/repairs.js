const scrolls = (element) => element.scrollWidth > element.clientWidth || element.scrollHeight > element.clientHeight

const mend = (root) => {
  for (const element of root.querySelectorAll('*')) {
    if (element.shadowRoot) mend(element.shadowRoot)
    const role = element.getAttribute('role'), label = element.getAttribute('aria-label')
    if (role === 'progressbar' && !label) element.setAttribute('aria-label', 'Loading')
    else if (element.localName === 'span' && label && !role) element.setAttribute('role', 'img')
    else if (role === 'menuitem' && element.closest('[role=listbox]')) element.setAttribute('role', 'option')
    else if (element.localName === 'div' && label === 'Resize sidebar' && !role) element.setAttribute('role', 'separator')
    if (/bk-panel-models-(katex|markup)/.test(element.className) && scrolls(element) && getComputedStyle(element).overflowX === 'auto')
      element.tabIndex = 0
  }
}

// All that a selector finds, inside the shadow roots of other elements too.
const allDeep = (root, selector) => [...root.querySelectorAll('*')].flatMap((element) => [
  ...(element.matches(selector) ? [element] : []), ...(element.shadowRoot ? allDeep(element.shadowRoot, selector) : [])])

// Whoever goes on by Tab meets the page before its settings, where the browser knows these properties; elsewhere the link that
// skips to the content is there. Moving the side bar itself would take the styles from all that is in it.
const mainFirst = () => {
  const [main] = allDeep(document, 'main'), side = main?.parentElement.querySelector(':scope > nav')
  if (!side) return
  main.parentElement.style.setProperty('reading-flow', 'source-order')
  side.style.setProperty('reading-order', '1')
}

const OPENING = [' ', 'Enter', 'ArrowDown', 'ArrowUp']
const SETTLES = 400 // ms, and frames, that the focus must have stayed: the library, having opened a list, moves it to the first option
const FRAMES = 20 // where the browser is busy, these say better than a clock that the library has had its turn
const LONGEST = 30_000 // ms in which a list must have opened
let opened = null
const visitorMoves = () => { opened = null } // from now on the focus is the visitor's

// The option that stands in the box, of the list that is open. A list that is closing, of this box or another one, is hidden already.
const chosenOption = (root, text) => {
  for (const list of allDeep(root, '[role=listbox]')) {
    const option = !list.closest('[aria-hidden=true]') && [...list.children].find((each) => each.textContent.trim() === text)
    if (option) return option
  }
  return null
}
const openChoice = (event) => {
  visitorMoves()
  const box = event.composedPath().find((element) => element.matches?.('.MuiSelect-select[role=combobox]'))
  if (!box || !OPENING.includes(event.key) || box.getAttribute('aria-expanded') === 'true') return
  event.preventDefault()
  event.stopPropagation()
  box.click()
  const mine = opened = {}, clicked = performance.now()
  let chosen = null, since = 0, frames = 0, wasOpen = false
  const hold = () => {
    const now = performance.now(), isOpen = box.getAttribute('aria-expanded') === 'true'
    if (opened !== mine || (wasOpen && !isOpen) || (!wasOpen && now - clicked > LONGEST)) return
    wasOpen ||= isOpen
    if (isOpen) {
      if (!chosen?.isConnected) {
        chosen = chosenOption(document, box.textContent.trim())
        since = now
        frames = 0
      }
      if (chosen && chosen.getRootNode().activeElement !== chosen) {
        chosen.focus()
        since = now
        frames = 0
      }
      if (chosen && ++frames > FRAMES && now - since > SETTLES) return
    }
    requestAnimationFrame(hold)
  }
  requestAnimationFrame(hold)
}

export function render({model}) {
  const timers = [500, 2000, 5000].map((delay) => setTimeout(() => { mend(document); mainFirst() }, delay))
  const repeat = setInterval(() => mend(document), 3000)
  const soon = () => timers.push(...[150, 1200].map((delay) => setTimeout(() => mend(document), delay)))
  document.addEventListener('click', soon)
  document.addEventListener('keydown', openChoice, true)
  document.addEventListener('pointerdown', visitorMoves, true)
  model.on('remove', () => {
    timers.forEach(clearTimeout)
    clearInterval(repeat)
    document.removeEventListener('click', soon)
    document.removeEventListener('keydown', openChoice, true)
    document.removeEventListener('pointerdown', visitorMoves, true)
  })
  return document.createElement('span')
}
