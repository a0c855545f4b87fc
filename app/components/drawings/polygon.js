// chart.js stands before this in the same script.

const COLOURS = ['#1583C9', '#E69F00', '#009E73', '#CC79A7', '#7A5195', '#4C8C2B', '#8C6D31', '#56B4E9', '#B5179E', '#5E6472', '#A0522D', '#2A7F8E']
const REACH = 1.55, MIDDLE = 200, TRAIL = 80, SPEED = .25 // of an arrow, half of the drawing, points, share of the way in a frame

export function render({model}) {
  const root = document.createElement('div')
  root.innerHTML = `<svg viewBox="0 0 ${2 * MIDDLE} ${2 * MIDDLE}" role="img"></svg>`
  const svg = root.querySelector('svg')
  let shown = [], goal = [], marks = [], trails = [], shape, next = 0

  const place = (flat, k) => [MIDDLE * (1 + flat[k] / REACH), MIDDLE * (1 - flat[model.features + k] / REACH)]
  const outline = (flat) => 'M' + Array.from({length: model.sides}, (_, k) => place(flat, k).map((v) => v.toFixed(1)).join(' ')).join('L') + 'Z'
  const paint = () => {
    shape.setAttribute('d', outline(shown))
    marks.forEach(({arrow, dot, word}, k) => {
      const [x, y] = place(shown, k)
      arrow?.setAttribute('x2', x)
      arrow?.setAttribute('y2', y)
      dot.setAttribute('cx', x)
      dot.setAttribute('cy', y)
      word.setAttribute('x', MIDDLE + (x - MIDDLE) * 1.13)
      word.setAttribute('y', MIDDLE + (y - MIDDLE) * 1.13 - (arrow ? 0 : 18))
    })
  }
  const glide = () => {
    let far = 0
    shown = shown.map((each, k) => { const way = goal[k] - each; far = Math.max(far, Math.abs(way)); return each + SPEED * way })
    paint()
    if (far > 1e-3) next = requestAnimationFrame(glide)
  }
  const build = () => {
    cancelAnimationFrame(next)
    svg.replaceChildren()
    if (model.w0.length !== 3 * model.features) return
    svg.setAttribute('aria-label', `Features as arrows: ${model.sides} of ${model.features} stand in a circle.`)
    for (const size of [.5, 1, 1.5]) drawn('circle', {cx: MIDDLE, cy: MIDDLE, r: MIDDLE * size / REACH, class: 'ring'}, svg)
    const under = drawn('g', {}, svg)
    shape = drawn('path', {class: 'shape'}, svg)
    drawn('path', {class: 'w0', d: outline(model.w0)}, svg)
    trails = []
    marks = Array.from({length: model.features}, (_, k) => {
      const stroke = COLOURS[k % COLOURS.length], placed = k < model.sides, hollow = !placed && model.silent
      trails.push({points: [], path: drawn('path', {class: 'trail', stroke}, under)})
      const arrow = placed ? drawn('line', {class: 'arrow', x1: MIDDLE, y1: MIDDLE, stroke}, svg) : null
      const dot = drawn('circle', {r: 6, stroke, 'stroke-width': 2.5, ...(hollow ? {class: 'hollow'} : {fill: stroke})}, svg)
      return {arrow, dot, word: drawn('text', {}, svg, String(k + 1))}
    })
    shown = goal = [...model.w0]
    paint()
    move()
  }
  const move = () => {
    // Where a chain has diverged the arrows stay at its last place: they could not come back from what is no number.
    if (model.now.length !== model.w0.length || !model.now.every(Number.isFinite)) return
    goal = [...model.now]
    trails.forEach(({points, path}, k) => {
      points.push(place(goal, k).map((v) => v.toFixed(1)).join(' '))
      if (points.length > TRAIL) points.shift()
      path.setAttribute('d', 'M' + points.join('L'))
    })
    cancelAnimationFrame(next)
    next = requestAnimationFrame(glide)
  }
  build()
  model.on('w0', build)
  model.on('now', move)
  model.on('remove', () => cancelAnimationFrame(next))
  return root
}
