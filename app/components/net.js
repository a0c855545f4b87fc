// Every layer, every rank and every gap is a button over the drawing; arrows move between them, up and down change one.
export function render({model}) {
  const box = document.createElement('div')
  box.className = 'net'
  box.setAttribute('role', 'group')
  box.setAttribute('aria-label', 'Network: arrows left and right choose a layer, up and down change it')
  const drawing = document.createElement('div'), over = document.createElement('div')
  over.className = 'over'
  box.append(drawing, over)
  let at = 0

  const send = (deed, place, by) => model.send_msg({deed, place, by})
  const choose = (index, focus) => {
    const all = [...over.children]
    at = Math.min(Math.max(index, 0), all.length - 1)
    all.forEach((b, i) => { b.tabIndex = i === at ? 0 : -1 })
    if (focus) all[at]?.focus()
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
    b.addEventListener('click', (event) => change(event.shiftKey && deed !== 'add' ? -1 : 1))
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
    const count = model.widths.length, few = count <= model.most
    const before = over.children[at]?.dataset, held = over.matches(':focus-within')
    const span = (1 - 2 * model.edge) / Math.max(1, count - 1)
    const made = []
    for (let i = 0; few && i < count; i++) {
      const place = model.edge + i * span
      made.push(button('layer', i, place, `Layer ${i + 1} of ${count}: ${model.widths[i]} units`, 'Click: wider. Shift or right click: narrower.'))
      if (i === count - 1) break
      made.push(button('rank', i, place + span / 2, `Rank ${i + 1}: ${model.ranks[i]}`, 'Click: higher rank. Shift or right click: lower.'))
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
