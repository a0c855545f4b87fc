const POSITIVE = [21, 131, 201], NEGATIVE = [230, 159, 0], HELD = [138, 143, 152] // colours of weights.js, and grey
const UNIT = '#7d838c' // legible on white and on near-black
const STEPS = 127, LINES = 150, THICKEST = 4 // as in layers.py; of a layer that are drawn; px
const SIDE = 192, CELL = 12, GAP = 3, HIGH = 220, EDGE = 12 // px
const MODES = [['w0', 'The solution w0'], ['now', 'Where chain 1 is now'], ['change', 'What has changed']]

const css = ([r, g, b]) => `rgb(${r}, ${g}, ${b})`
const read = (bytes, tensors, total) => {
  const buffer = bytes instanceof ArrayBuffer ? bytes : bytes?.buffer
  if (!buffer || buffer.byteLength !== 4 * tensors.length + total) return null
  const largest = new Float32Array(buffer.slice(0, 4 * tensors.length)), shares = new Int8Array(buffer, 4 * tensors.length)
  const values = new Float32Array(total)
  tensors.forEach(({start, size}, t) => { for (let k = start; k < start + size; k += 1) values[k] = largest[t] * shares[k] / STEPS })
  return values
}
const short = (value) => value === 0 ? '0' : Math.abs(value) < 1e-3 ? value.toExponential(1) : value.toPrecision(2)

export function render({model}) {
  const root = document.createElement('div')
  root.className = 'layers'
  root.innerHTML = `<div class="modes" role="group" aria-label="Whose weights"></div><canvas class="lines" role="img"></canvas>
    <div class="tensors"></div><p class="at" aria-hidden="true"></p><p class="note"></p>`
  const find = (selector) => root.querySelector(selector)
  const lines = find('.lines'), at = find('.at')
  let mode = 'now', tensors = [], w0 = null, change = null, moves = null, largest = [], furthest = 0, drawing = 0
  const buttons = MODES.map(([key, words]) => {
    const b = document.createElement('button')
    b.type = 'button'
    b.textContent = words
    b.addEventListener('click', () => { mode = key; draw() })
    find('.modes').append(b)
    return [key, b]
  })

  // A tensor's cells with room between heads. Returns where entry (i, j) is drawn, in cells' pixels.
  const layout = (t) => {
    const cell = Math.max(2, Math.min(CELL, Math.floor(SIDE / Math.max(t.rows, t.columns))))
    const room = (k, count, along) => t.along === along && t.heads > 1 ? GAP * Math.floor(k * t.heads / count) : 0
    const x = (j) => j * cell + room(j, t.columns, 'columns'), y = (i) => i * cell + room(i, t.rows, 'rows')
    return {cell, x, y, width: x(t.columns - 1) + cell, height: y(t.rows - 1) + cell}
  }
  const value = (k) => mode === 'change' ? (change ? change[k] : 0) : w0[k] + (mode === 'now' && change ? change[k] : 0)
  const colour = (k) => !moves[k] ? HELD : value(k) < 0 ? NEGATIVE : POSITIVE
  // Changes of all tensors share one scale; weights are measured by the largest of their own tensor.
  const scale = (t) => mode === 'change' ? furthest : largest[t]

  const paint = (t, number) => {
    const {canvas, place} = t, context = canvas.getContext('2d')
    context.clearRect(0, 0, canvas.width, canvas.height)
    const most = scale(number) || 1
    for (let i = 0; i < t.rows; i += 1) for (let j = 0; j < t.columns; j += 1) {
      const k = t.start + i * t.columns + j, size = Math.min(Math.abs(value(k)) / most, 1)
      if (size < .02) continue
      context.globalAlpha = size * (moves[k] ? 1 : .55)
      context.fillStyle = css(colour(k))
      context.fillRect(place.x(j), place.y(i), place.cell, place.cell)
    }
    const far = t.moves && change ? Math.sqrt(change.subarray(t.start, t.start + t.size).reduce((sum, d) => sum + d * d, 0) / t.moves) : null
    t.far.textContent = !t.moves ? 'frozen' : far === null ? '' : `moved by ${short(far)} r.m.s.`
  }
  const connect = () => {
    lines.hidden = !model.widths.length
    if (lines.hidden) return
    const wide = lines.clientWidth, ratio = window.devicePixelRatio || 1
    if (!wide) return
    lines.width = wide * ratio
    lines.height = HIGH * ratio
    const context = lines.getContext('2d')
    context.scale(ratio, ratio)
    context.lineCap = 'round'
    const {widths} = model, gap = (l) => Math.min(18, (HIGH - 2 * EDGE) / Math.max(1, widths[l] - 1))
    const place = (l, i) => [EDGE + (wide - 2 * EDGE) * l / (widths.length - 1), HIGH / 2 + (i - (widths[l] - 1) / 2) * gap(l)]
    tensors.filter((t) => t.strongest).forEach((t, l) => {
      const most = scale(tensors.indexOf(t)) || 1
      for (const k of t.strongest) {
        const size = Math.min(Math.abs(value(k)) / most, 1.4), e = k - t.start
        if (size < .02) continue
        context.globalAlpha = moves[k] ? .65 : .4
        context.strokeStyle = css(colour(k))
        context.lineWidth = Math.max(THICKEST * size, .3)
        context.beginPath()
        context.moveTo(...place(l, e % t.columns))
        context.lineTo(...place(l + 1, Math.floor(e / t.columns)))
        context.stroke()
      }
    })
    context.globalAlpha = 1
    context.fillStyle = UNIT
    widths.forEach((width, l) => { for (let i = 0; i < width; i += 1) {
      context.beginPath()
      context.arc(...place(l, i), Math.min(5, .38 * gap(l)), 0, 7)
      context.fill()
    } })
  }
  const draw = () => {
    cancelAnimationFrame(drawing)
    drawing = requestAnimationFrame(() => {
      buttons.forEach(([key, b]) => b.setAttribute('aria-pressed', String(key === mode)))
      if (!w0 || !moves) return
      furthest = change ? change.reduce((most, d) => Math.max(most, Math.abs(d)), 0) : 0
      tensors.forEach(paint)
      connect()
    })
  }
  const follow = () => { change = read(model.displaced, tensors, moves?.length ?? 0); draw() }
  const build = () => {
    let start = 0
    tensors = model.tensors.map((t) => { const made = {...t, start, size: t.rows * t.columns}; start += made.size; return made })
    w0 = read(model.w0, tensors, start)
    const held = model.moves instanceof ArrayBuffer ? new Uint8Array(model.moves) : model.moves
    moves = held?.length === start ? held : null
    if (!w0 || !moves) return // the rest of what has been set comes in a moment
    largest = tensors.map((t) => w0.subarray(t.start, t.start + t.size).reduce((most, w) => Math.max(most, Math.abs(w)), 0))
    find('.tensors').replaceChildren()
    let box = null, part = null
    tensors.forEach((t) => {
      if (t.part !== part) {
        part = t.part
        const around = document.createElement('section')
        box = document.createElement('div')
        box.className = 'inside'
        const title = document.createElement('p')
        title.textContent = part
        around.className = tensors.some((each) => each.part === part && each.moves) ? 'part moving' : 'part'
        around.append(title, box)
        find('.tensors').append(around)
      }
      const figure = document.createElement('figure'), caption = document.createElement('figcaption'), name = document.createElement('b')
      t.canvas = document.createElement('canvas')
      t.place = layout(t)
      t.canvas.width = t.place.width
      t.canvas.height = t.place.height
      t.canvas.setAttribute('role', 'img')
      const share = t.moves === t.size ? 'all move' : t.moves ? `${t.moves.toLocaleString('en')} move, the rest is frozen` : 'frozen'
      t.canvas.setAttribute('aria-label', `${t.name}, ${t.shape}: ${t.size.toLocaleString('en')} weights, ${share}`)
      name.textContent = t.name
      t.far = document.createElement('span')
      t.far.className = 'far'
      caption.append(name, t.shape, ...(t.moves && t.moves < t.size ? [document.createElement('br'), share] : []), t.far)
      t.canvas.addEventListener('pointermove', (event) => point(t, event))
      t.canvas.addEventListener('pointerleave', () => { at.textContent = '' })
      figure.append(t.canvas, caption)
      box.append(figure)
    })
    const matrices = model.widths.length ? tensors.filter((t) => t.columns > 1) : []
    matrices.forEach((t) => {
      t.strongest = Array.from({length: t.size}, (_, k) => t.start + k).sort((a, b) => Math.abs(w0[b]) - Math.abs(w0[a])).slice(0, LINES)
      t.strongest.reverse() // the largest lie on top
    })
    const counts = matrices.map((t) => `${t.strongest.length} of ${t.size.toLocaleString('en')}`)
    lines.setAttribute('aria-label', `Network of layers ${model.widths.join(', ')}; each line is one of the largest weights.`)
    const some = tensors.some((t) => t.moves < t.size) ? ' Grey: frozen. A frame marks what moves.' : ''
    find('.note').textContent = `Blue: positive. Orange: negative. Strong: large.${some} The pictures show every weight.`
      + (counts.length ? ` The lines show the largest at w0: ${counts.join(', ')}.` : '')
    follow()
  }
  const point = (t, event) => {
    const box = t.canvas.getBoundingClientRect(), x = (event.clientX - box.left) * t.canvas.width / box.width
    const y = (event.clientY - box.top) * t.canvas.height / box.height
    const last = (place, count, where) => { let k = 0; while (k + 1 < count && place(k + 1) <= where) k += 1; return k }
    const i = last(t.place.y, t.rows, y), j = last(t.place.x, t.columns, x), k = t.start + i * t.columns + j
    const here = t.columns > 1 ? `row ${i + 1}, column ${j + 1}` : `entry ${i + 1}`
    at.textContent = `${t.name}, ${here}: ${short(w0[k])} at w0` + (!moves[k] ? ', frozen.' : change ? `, moved by ${short(change[k])}.` : '.')
  }
  const sized = new ResizeObserver(draw)
  sized.observe(lines)
  build()
  draw()
  model.on(['tensors', 'widths', 'w0', 'moves'], build)
  model.on('displaced', follow)
  model.on('remove', () => { cancelAnimationFrame(drawing); sized.disconnect() })
  return root
}
