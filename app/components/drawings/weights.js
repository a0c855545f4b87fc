const POSITIVE = '#1583C9', NEGATIVE = '#E69F00'
const EDGE = 26, RADIUS = 8, THICKEST = 7, FAINTEST = .04 // px, px, px; share of the largest weight that is still drawn
const SPEED = .18, NEAR = 1e-3, SLIGHT = .0005 // of the way, in a frame; of the largest weight; of the function

const SVG = 'http://www.w3.org/2000/svg'
const drawn = (name, attributes, parent) => {
  const e = document.createElementNS(SVG, name)
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value)
  parent.append(e)
  return e
}

// Weights are one list, layer after layer; weight [i, j] of layer l leads from unit j of layer l to unit i of layer l + 1.
const layersOf = (widths, flat) => {
  let at = 0
  return widths.slice(1).map((out, l) => Array.from({length: out}, () => { const row = flat.slice(at, at + widths[l]); at += widths[l]; return row }))
}
const product = (layers) => layers.reduce((before, w) => w.map((row) => before[0].map((_, k) => row.reduce((sum, each, j) => sum + each * before[j][k], 0))))
const apart = (a, b) => {
  const square = (m) => m.flat().reduce((sum, each) => sum + each * each, 0)
  return Math.sqrt(square(a.map((row, i) => row.map((each, j) => each - b[i][j]))) / (square(b) || 1)) // a function that is 0 stays 0
}

export function render({model}) {
  const root = document.createElement('div')
  root.className = 'board'
  root.innerHTML = `<div class="weights"><div class="modes" role="group" aria-label="Whose weights"></div><svg role="group"></svg>
    <div class="moving"><label for="factor">Strengthen one hidden unit: <b></b></label>
      <input id="factor" type="range" min="-1.4" max="1.4" step="0.02" value="0">
      <label><input type="checkbox" checked>weaken what leaves it as much</label></div>
    <p class="said" role="status"></p></div>`
  const find = (selector) => root.querySelector(selector)
  const svg = find('svg'), slider = find('#factor'), both = find('input[type=checkbox]'), said = find('.said')
  const modes = [['w0', 'The solution w0'], ['now', 'Where chain 1 is now']].map(([key, words]) => {
    const b = document.createElement('button')
    b.type = 'button'
    b.textContent = words
    b.addEventListener('click', () => { mode = key; follow() })
    find('.modes').append(b)
    return [key, b]
  })
  let mode = 'now', unit = [1, 0], shown = [], goal = [], lines = [], next = 0, largest = 1

  const moved = () => {
    const layers = layersOf(model.widths, model.w0), [l, i] = unit, factor = Math.exp(Number(slider.value))
    layers[l - 1][i] = layers[l - 1][i].map((each) => each * factor)
    if (both.checked) layers[l].forEach((row) => { row[i] /= factor })
    return layers
  }
  const follow = () => {
    modes.forEach(([key, b]) => b.setAttribute('aria-pressed', String(key === mode)))
    const hidden = model.widths.length > 2
    find('.moving').hidden = !hidden || mode !== 'w0'
    goal = mode === 'now' && model.now.length === model.w0.length ? model.now : hidden ? moved().flat(2) : model.w0
    find('label b').textContent = `× ${Math.exp(Number(slider.value)).toFixed(2)}`
    words()
    cancelAnimationFrame(next)
    next = requestAnimationFrame(glide)
  }
  const words = () => {
    said.className = 'said'
    if (mode === 'now') {
      said.textContent = 'Weights of the first chain. Along flat directions they wander far, and the loss hardly changes.'
      return
    }
    const start = layersOf(model.widths, model.w0), change = model.widths.length > 2 ? apart(product(moved()), product(start)) : 0
    const touched = Number(slider.value) !== 0
    if (!touched) { said.textContent = 'Blue: positive weights. Orange: negative. Thick: large. Choose a hidden unit and move the slider.'; return }
    const same = change < SLIGHT
    said.classList.add(same ? 'same' : 'other')
    said.innerHTML = same ? 'What the network computes changes by <b>0.0%</b>: a flat direction. The loss stays the same.'
      : `What the network computes changes by <b>${(100 * change).toFixed(1)}%</b>: the loss rises. This direction has walls.`
  }
  const glide = () => {
    let far = 0
    shown = shown.map((each, k) => { const way = goal[k] - each; far = Math.max(far, Math.abs(way)); return each + SPEED * way })
    if (far < NEAR * largest) shown = [...goal]
    paint()
    if (far >= NEAR * largest) next = requestAnimationFrame(glide)
  }
  const paint = () => lines.forEach((line, k) => {
    const size = Math.min(Math.abs(shown[k]) / largest, 1.4)
    line.setAttribute('stroke', shown[k] < 0 ? NEGATIVE : POSITIVE)
    line.setAttribute('stroke-width', (THICKEST * size).toFixed(2))
    line.setAttribute('stroke-opacity', size < FAINTEST ? 0 : .75)
  })
  const build = () => {
    const {widths} = model, wide = Math.max(280, svg.getBoundingClientRect().width || 0), high = 230
    svg.replaceChildren()
    svg.setAttribute('viewBox', `0 0 ${wide} ${high}`)
    svg.setAttribute('aria-label', `Network of layers ${widths.join(', ')}; each line is a weight.`)
    if (unit[0] >= widths.length - 1 || unit[1] >= widths[unit[0]]) unit = [1, 0]
    const place = (l, i) => [EDGE + (wide - 2 * EDGE) * l / (widths.length - 1), high / 2 + (i - (widths[l] - 1) / 2) * Math.min(44, (high - 2 * RADIUS - 4) / Math.max(1, Math.max(...widths) - 1))]
    largest = Math.max(...model.w0.map(Math.abs), 1e-9)
    lines = []
    for (let l = 1; l < widths.length; l += 1) for (let i = 0; i < widths[l]; i += 1) for (let j = 0; j < widths[l - 1]; j += 1) {
      const [x1, y1] = place(l - 1, j), [x2, y2] = place(l, i)
      lines.push(drawn('line', {x1, y1, x2, y2, 'stroke-linecap': 'round'}, svg))
    }
    widths.forEach((width, l) => {
      for (let i = 0; i < width; i += 1) {
        const [cx, cy] = place(l, i), hidden = l > 0 && l < widths.length - 1
        const dot = drawn('circle', {cx, cy, r: RADIUS, class: 'unit' + (hidden ? ' hidden' : '')}, svg)
        if (!hidden) continue
        const choose = () => {
          unit = [l, i]
          mode = 'w0'
          svg.querySelectorAll('.chosen').forEach((each) => each.classList.remove('chosen'))
          dot.classList.add('chosen')
          follow()
        }
        for (const [name, value] of [['tabindex', 0], ['role', 'button'], ['aria-label', `Hidden unit ${i + 1} of layer ${l + 1}`]]) dot.setAttribute(name, value)
        if (unit[0] === l && unit[1] === i) dot.classList.add('chosen')
        dot.addEventListener('click', choose)
        dot.addEventListener('keydown', (event) => { if (['Enter', ' '].includes(event.key)) { event.preventDefault(); event.stopPropagation(); choose() } })
      }
    })
    slider.value = 0
    shown = [...model.w0]
    follow()
  }
  slider.addEventListener('input', follow)
  both.addEventListener('change', follow)
  const sized = new ResizeObserver(() => { if (svg.viewBox.baseVal.width !== Math.max(280, svg.getBoundingClientRect().width)) build() })
  sized.observe(svg)
  build()
  model.on(['widths', 'w0'], build)
  model.on('now', () => { if (mode === 'now') follow() })
  model.on('remove', () => { cancelAnimationFrame(next); sized.disconnect() })
  return root
}
