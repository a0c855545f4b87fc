const TOGETHER = [21, 131, 201], AGAINST = [230, 159, 0] // the colours of layers.js
const STEPS = 127, SHOWN = 8, CELL = 6 // as in kernel.py; rows that are listed; least px of a cell
const WIDE = 150 // px of the widest bar to either side

const bytes = (value) => value instanceof ArrayBuffer ? value : value?.buffer?.slice(value.byteOffset, value.byteOffset + value.byteLength)
const floats = (value, count) => { const held = bytes(value); return held?.byteLength === 4 * count ? new Float32Array(held) : null }
const short = (value) => {
  const size = Math.abs(value), sign = value < 0 ? '−' : value > 0 ? '+' : ''
  return size === 0 ? '0' : sign + (size < 1e-3 ? size.toExponential(1).replace('-', '−') : size.toPrecision(2))
}

export function render({model}) {
  const root = document.createElement('div')
  root.className = 'kernel'
  root.innerHTML = `<div><canvas class="matrix" tabindex="0" role="application"></canvas><p class="at" aria-hidden="true"></p>
    <p class="note">Blue: the losses of two rows rise and fall together. Orange: one falls where the other rises.</p></div>
    <div class="list"><p class="title" role="status"></p><ol></ol><p class="note">The line on each bar is two standard errors long on
    either side. Pale: the error leaves the sign open.</p></div>`
  const find = (selector) => root.querySelector(selector)
  const canvas = find('.matrix'), at = find('.at')
  let count = 0, matrix = null, effects = null, errors = null, shades = null

  const picture = (k) => {
    const made = document.createElement('canvas'), side = model.side
    if (!side || !shades) return null
    made.width = made.height = side
    made.className = 'picture'
    made.setAttribute('role', 'img')
    made.setAttribute('aria-label', model.names[k])
    const context = made.getContext('2d'), drawn = context.createImageData(side, side)
    for (let p = 0; p < side * side; p += 1) drawn.data.set([0, 0, 0, shades[k * side * side + p]].map((v, c) => c < 3 ? 20 : v), 4 * p)
    context.putImageData(drawn, 0, 0)
    return made
  }
  const draw = () => {
    if (!matrix) return
    canvas.width = canvas.height = count * CELL
    const context = canvas.getContext('2d')
    for (let i = 0; i < count; i += 1) for (let j = 0; j < count; j += 1) {
      const size = matrix[i * count + j] / STEPS, [r, g, b] = size < 0 ? AGAINST : TOGETHER
      context.fillStyle = `rgba(${r}, ${g}, ${b}, ${Math.abs(size)})`
      context.fillRect(j * CELL, i * CELL, CELL, CELL)
    }
    const k = model.chosen
    context.strokeStyle = getComputedStyle(root).color
    context.lineWidth = 2
    context.strokeRect(0, k * CELL, count * CELL, CELL)
    canvas.setAttribute('aria-label', `${count} rows. Chosen: ${model.names[k]}. Arrow keys choose another.`)
  }
  const list = () => {
    if (!matrix || !effects || !errors) return
    const k = model.chosen, own = Array.from({length: count}, (_, j) => j).filter((j) => j !== k)
    const best = own.sort((a, b) => Math.abs(effects[k * count + b]) - Math.abs(effects[k * count + a])).slice(0, SHOWN)
    const most = best.reduce((found, j) => Math.max(found, Math.abs(effects[k * count + j]) + 2 * errors[k * count + j]), 1e-30)
    const title = find('.title'), drawn = picture(k)
    title.replaceChildren(...(drawn ? [drawn] : []), `The loss of ${model.names[k]} changes most where one of these rows is left out:`)
    find('ol').replaceChildren(...best.map((j) => {
      const item = document.createElement('li'), button = document.createElement('button'), bar = document.createElement('span')
      const effect = effects[k * count + j], error = errors[k * count + j], shown = picture(j), name = document.createElement('span')
      const x = (value) => 50 + 50 * value / most
      button.type = 'button'
      name.className = 'name'
      name.textContent = model.names[j]
      bar.className = Math.abs(effect) > 2 * error ? 'bar' : 'bar open'
      bar.innerHTML = `<i style="left: ${Math.min(50, x(effect))}%; width: ${Math.abs(x(effect) - 50)}%;
        background: rgb(${effect < 0 ? AGAINST : TOGETHER})"></i><b style="left: ${x(effect - 2 * error)}%; width: ${100 * 2 * error / most}%"></b>`
      bar.style.width = `${2 * WIDE}px`
      const value = document.createElement('span')
      value.className = 'value'
      value.textContent = `${short(effect)} ± ${short(error).replace('+', '')}`
      button.append(...(shown ? [shown] : []), name, bar, value)
      button.addEventListener('click', () => { model.chosen = j })
      item.append(button)
      return item
    }))
  }
  const show = () => { draw(); list() }
  const build = () => {
    count = model.names.length
    const held = bytes(model.matrix)
    matrix = held?.byteLength === count * count && count ? new Int8Array(held) : null
    effects = floats(model.effects, count * count)
    errors = floats(model.errors, count * count)
    const seen = bytes(model.shades)
    shades = seen?.byteLength === count * model.side ** 2 ? new Uint8Array(seen) : null
    show()
  }
  const place = (event) => {
    const box = canvas.getBoundingClientRect()
    const cell = (value) => Math.max(0, Math.min(count - 1, Math.floor(value * count)))
    return [cell((event.clientY - box.top) / box.height), cell((event.clientX - box.left) / box.width)]
  }
  canvas.addEventListener('pointermove', (event) => {
    if (!matrix) return
    const [i, j] = place(event)
    at.textContent = `${model.names[i]} and ${model.names[j]}: correlation ${(matrix[i * count + j] / STEPS).toFixed(2).replace('-', '−')}`
  })
  canvas.addEventListener('pointerleave', () => { at.textContent = '' })
  canvas.addEventListener('click', (event) => { if (matrix) model.chosen = place(event)[0] })
  canvas.addEventListener('keydown', (event) => {
    const by = {ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1, PageUp: -10, PageDown: 10}[event.key]
    if (!by || !count) return
    event.preventDefault()
    model.chosen = Math.max(0, Math.min(count - 1, model.chosen + by))
  })
  build()
  model.on(['names', 'side', 'shades', 'matrix', 'effects', 'errors'], build)
  model.on('chosen', show)
  return root
}
