// Every layer, every rank and every gap is a button over the drawing; arrows move between them, up and down change one, and so does
// dragging up and down.
const SLACK = 6, PER_STEP = 10 // px until a press is a drag; px for one step of it
export function render({model}) {
  const box = document.createElement('div')
  box.className = 'net'
  box.setAttribute('role', 'group')
  box.setAttribute('aria-label', 'Network: arrows left and right choose a layer, up and down change it, and so does dragging')
  const drawing = document.createElement('div'), over = document.createElement('div')
  over.className = 'over'
  box.append(drawing, over)
  let at = 0, drag = null, dragged = false

  const send = (deed, place, by) => model.send_msg({deed, place, by})
  const choose = (index, focus) => {
    const all = [...over.children]
    at = Math.min(Math.max(index, 0), all.length - 1)
    all.forEach((b, i) => { b.tabIndex = i === at ? 0 : -1 })
    if (focus) all[at]?.focus()
  }
  const drags = (b, deed, place) => {
    const move = (event) => {
      const up = drag.y - event.clientY
      if (!drag.on && Math.abs(up) < SLACK) return
      drag.on = true
      const to = Math.max(deed === 'layer' ? 1 : 0, drag.from + drag.step * Math.round(up / PER_STEP))
      if (to !== drag.to) model.send_msg({deed, place, to, done: false})
      drag.to = to
    }
    const end = (kept) => {
      if (!drag) return
      const {on, to, from} = drag
      drag = null
      dragged = on
      if (!on) return
      model.send_msg({deed, place, to: kept ? to : from, done: true})
      draw()
    }
    b.addEventListener('pointerdown', (event) => {
      dragged = false
      if (event.button || event.shiftKey || drag) return
      const from = (deed === 'layer' ? model.widths : model.ranks)[place]
      drag = {y: event.clientY, from, to: from, on: false, step: deed === 'layer' ? Math.max(1, Math.floor(from / 10)) : 1}
      b.setPointerCapture(event.pointerId)
    })
    b.addEventListener('pointermove', (event) => { if (drag) move(event) })
    b.addEventListener('pointerup', () => end(true))
    b.addEventListener('lostpointercapture', () => end(false))
    b.addEventListener('keydown', (event) => { if (event.key === 'Escape') end(false) })
  }
  const button = (deed, place, left, name, title) => {
    const b = document.createElement('button')
    b.type = 'button'
    b.className = deed
    b.dataset.deed = deed
    b.dataset.place = place
    b.style.left = `${100 * left}%`
    b.setAttribute('aria-label', name)
    b.title = title
    const change = (by) => send(deed, place, by)
    b.addEventListener('click', (event) => { if (!dragged || !event.detail) change(event.shiftKey && deed !== 'add' ? -1 : 1) })
    if (deed !== 'add') drags(b, deed, place)
    b.addEventListener('contextmenu', (event) => { event.preventDefault(); if (deed !== 'add') change(-1) })
    b.addEventListener('keydown', (event) => {
      const by = {ArrowUp: 1, '+': 1, ArrowDown: -1, '-': -1}[event.key]
      const step = {ArrowLeft: -1, ArrowRight: 1}[event.key]
      if (by && deed !== 'add') change(by)
      else if (event.key === 'Delete' && deed === 'layer') send('remove', place, -1)
      else if (step) choose(at + step, true)
      else return
      event.preventDefault()
    })
    b.addEventListener('focus', () => choose([...over.children].indexOf(b), false))
    return b
  }
  const draw = () => {
    drawing.innerHTML = model.picture
    if (drag) return // the button that is held must stay
    const count = model.widths.length, few = count <= model.most
    const before = over.children[at]?.dataset, held = over.matches(':focus-within')
    const span = (1 - 2 * model.edge) / Math.max(1, count - 1)
    const made = []
    for (let i = 0; few && i < count; i++) {
      const place = model.edge + i * span
      made.push(button('layer', i, place, `Layer ${i + 1} of ${count}: ${model.widths[i]} units`, 'Click or drag up: wider. Shift or right click, or drag down: narrower.'))
      if (i === count - 1) break
      made.push(button('rank', i, place + span / 2, `Rank ${i + 1}: ${model.ranks[i]}`, 'Click or drag up: higher rank. Shift or right click, or drag down: lower.'))
      if (count < model.most) made.push(button('add', i, place + span / 2, `Add a layer between ${i + 1} and ${i + 2}`, 'Click: add a layer here.'))
    }
    over.style.setProperty('--span', `${100 * span}%`)
    over.replaceChildren(...made)
    const same = made.findIndex((b) => b.dataset.deed === before?.deed && b.dataset.place === before?.place)
    if (made.length) choose(same < 0 ? Math.min(at, made.length - 1) : same, held)
  }
  draw()
  model.on(['picture', 'widths', 'ranks', 'edge'], draw)
  return box
}
