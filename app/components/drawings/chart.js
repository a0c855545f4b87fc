// Small charts that a script draws itself: an SVG with two axes, and what is put into it in shares of its frame.

const BLUE = '#1583C9', TRUTH = '#D55E00', GREY = '#8a8f98'
const SVG = 'http://www.w3.org/2000/svg'
const drawn = (name, attributes, parent, text) => {
  const e = document.createElementNS(SVG, name)
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value)
  if (text !== undefined) e.textContent = text
  parent.append(e)
  return e
}
const fixed = (value, digits = 2) => value.toFixed(digits).replace('-', '−')
const frame = (svg) => {
  svg.replaceChildren()
  const box = svg.getBoundingClientRect(), w = Math.max(160, box.width), h = Math.max(150, box.height)
  svg.setAttribute('viewBox', `0 0 ${w} ${h}`)
  drawn('path', {d: `M46 8V${h - 34}H${w - 8}`, fill: 'none', stroke: 'currentColor', 'stroke-opacity': .4}, svg)
  const place = (x, y) => [46 + (w - 54) * x, h - 34 - (h - 42) * y] // shares of the frame
  const path = (points) => 'M' + points.map(([x, y]) => place(x, y).map((v) => v.toFixed(1)).join(' ')).join('L')
  const tick = (x, y, words) => {
    const [px, py] = place(x, y)
    drawn('text', x ? {x: px, y: h - 18, 'text-anchor': x > .95 ? 'end' : 'middle'} : {x: 40, y: py + 4, 'text-anchor': 'end'}, svg, words)
  }
  const line = (points, colour, dash = '') => drawn('path', {d: path(points), fill: 'none', stroke: colour, 'stroke-width': 2.5, 'stroke-dasharray': dash}, svg)
  const area = (points, colour) => drawn('path', {d: path([[points[0][0], 0], ...points, [points.at(-1)[0], 0]]) + 'Z', fill: colour, 'fill-opacity': .35}, svg)
  const dot = (x, y, fill = BLUE) => { const [cx, cy] = place(x, y); drawn('circle', {cx, cy, r: 6, fill, stroke: '#fff', 'stroke-width': 2}, svg) }
  const word = (x, y, words, colour) => { const [px, py] = place(x, y); drawn('text', {x: px, y: py, fill: colour, 'text-anchor': 'middle', 'font-weight': 700}, svg, words) }
  const under = (words) => drawn('text', {x: 46 + (w - 54) / 2, y: h - 4, 'text-anchor': 'middle'}, svg, words)
  return {tick, line, area, dot, word, under}
}
