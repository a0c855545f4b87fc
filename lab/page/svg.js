// What the sections of the page share.
const BLUE = '#1583C9', TRUTH = '#D55E00', GREEN = '#009E73'
const still = () => matchMedia('(prefers-reduced-motion: reduce)').matches
const fixed = (value, digits) => value.toFixed(digits).replace('-', '−')
const drawn = (name, attributes, parent, text) => {
  const e = document.createElementNS('http://www.w3.org/2000/svg', name)
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value)
  if (text !== undefined) e.textContent = text
  parent.append(e)
  return e
}

// Calls `step` at every frame while the element is in the window and the button says so.
const moving = (element, button, step) => {
  let going = !still(), seen = false, asked = 0
  const frame = (now) => { asked = 0; step(now); ask() }
  const ask = () => { if (going && seen && !asked) asked = requestAnimationFrame(frame) }
  const mark = () => { button.textContent = going ? 'Pause' : 'Play' }
  button.addEventListener('click', () => { set(!going) })
  const set = (on) => { going = on; mark(); ask(); if (!on) { cancelAnimationFrame(asked); asked = 0 } }
  new IntersectionObserver(([entry]) => {
    seen = entry.isIntersecting
    if (!seen) { cancelAnimationFrame(asked); asked = 0 }
    ask()
  }).observe(element)
  mark()
  return set
}
